/* Assembly within C: functions at the top level, statements of several lines, a naked function, names of the assembler's, weak and alias functions. */
extern volatile int sink;

__asm__(".text\n"
	".globl by_hand\n"
	".type by_hand, @function\n"
	"by_hand:\n"
	"\t.cfi_startproc\n"
	"\tmovl %edi, %eax\n"
	"\taddl $1, %eax\n"
	"\tret\n"
	"\t.cfi_endproc\n"
	".size by_hand, .-by_hand\n");

int by_hand(int);
int renamed(int) __asm__("renamed_by_asm");

static inline __attribute__((always_inline)) unsigned long turned(unsigned long x)
{
	__asm__ volatile("rolq $3, %0\n\t"
			 "xorq $5, %0\n\t"
			 "bswapq %0"
			 : "+r"(x));
	return x;
}

__attribute__((noinline)) int renamed(int a)
{
	return by_hand(a) + (int)turned(a);
}

__attribute__((naked)) int naked_one(void)
{
	__asm__("movl $7, %eax\n\tret");
}

int with_goto(int a)
{
	__asm__ goto("testl %0, %0\n\tjz %l[zero]" : : "r"(a) : "cc" : zero);
	return renamed(a) + naked_one();
zero:
	sink = 1;
	return 0;
}

__attribute__((weak)) int weak_one(int a)
{
	return with_goto(a) * 3;
}
int also_called(int) __attribute__((alias("renamed_by_asm")));
