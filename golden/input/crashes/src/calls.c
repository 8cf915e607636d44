/* A crash without a C library, for every CPU: inlines, recursion, a callback, a
 * signal handler that crashes in its turn, and a stack below it. */
typedef long (*callback)(long, void *);

long *volatile nowhere;
volatile long sink;

#if defined __i386__
#define SIGACTION 174
#elif defined __x86_64__
#define SIGACTION 13
#elif defined __arm__
#define SIGACTION 174
#elif defined __aarch64__ || defined __riscv
#define SIGACTION 134
#elif defined __mips64
#define SIGACTION 5013
#elif defined __mips__
#define SIGACTION 4194
#elif defined __powerpc__
#define SIGACTION 173
#elif defined __s390x__
#define SIGACTION 174
#endif

/* The kernel's struct sigaction; the fields that a CPU's has not are behind those it has. */
struct action {
#if defined __mips__
	unsigned flags;
	void (*handler)(int);
#else
	void (*handler)(int);
	unsigned long flags;
#if !defined __riscv
	void (*restorer)(void);
#endif
#endif
	unsigned char mask[16];
};

#if defined __x86_64__
/* The kernel knows no other way back; walkers know these instructions. */
void restorer(void);
__asm__(".globl restorer\n.type restorer, @function\nrestorer:\n\tmov $15, %rax\n\tsyscall\n.size restorer, .-restorer\n");
#endif

__attribute__((noinline)) static long sigaction(long signal, struct action *a)
{
#if defined __i386__
	long r;
	__asm__ volatile("int $0x80" : "=a"(r) : "a"(SIGACTION), "b"(signal), "c"(a), "d"(0), "S"(8) : "memory");
	return r;
#elif defined __x86_64__
	long r;
	register long size __asm__("r10") = 8;
	__asm__ volatile("syscall" : "=a"(r) : "a"(SIGACTION), "D"(signal), "S"(a), "d"(0), "r"(size) : "rcx", "r11", "memory");
	return r;
#elif defined __arm__
	register long number __asm__("r7") = SIGACTION, r __asm__("r0") = signal, size __asm__("r3") = 8, old __asm__("r2") = 0;
	register struct action *p __asm__("r1") = a;
	__asm__ volatile("svc 0" : "+r"(r) : "r"(number), "r"(p), "r"(old), "r"(size) : "memory");
	return r;
#elif defined __aarch64__
	register long number __asm__("x8") = SIGACTION, r __asm__("x0") = signal, size __asm__("x3") = 8, old __asm__("x2") = 0;
	register struct action *p __asm__("x1") = a;
	__asm__ volatile("svc 0" : "+r"(r) : "r"(number), "r"(p), "r"(old), "r"(size) : "memory");
	return r;
#elif defined __riscv
	register long number __asm__("a7") = SIGACTION, r __asm__("a0") = signal, size __asm__("a3") = 8, old __asm__("a2") = 0;
	register struct action *p __asm__("a1") = a;
	__asm__ volatile("ecall" : "+r"(r) : "r"(number), "r"(p), "r"(old), "r"(size) : "memory");
	return r;
#elif defined __mips__
	register long number __asm__("$2") = SIGACTION, r __asm__("$4") = signal, size __asm__("$7") = 16, old __asm__("$6") = 0;
	register struct action *p __asm__("$5") = a;
	__asm__ volatile("syscall" : "+r"(number), "+r"(size) : "r"(r), "r"(p), "r"(old) : "$1", "$3", "$8", "$9", "$10", "$11", "$12", "$13", "$14", "$15", "$24", "$25", "hi", "lo", "memory");
	return number;
#elif defined __powerpc__
	register long number __asm__("r0") = SIGACTION, r __asm__("r3") = signal, size __asm__("r6") = 8, old __asm__("r5") = 0;
	register struct action *p __asm__("r4") = a;
	__asm__ volatile("sc" : "+r"(number), "+r"(r), "+r"(p), "+r"(old), "+r"(size) : : "r7", "r8", "r9", "r10", "r11", "r12", "cr0", "ctr", "memory");
	return r;
#elif defined __s390x__
	register long number __asm__("1") = SIGACTION, r __asm__("2") = signal, size __asm__("5") = 8, old __asm__("4") = 0;
	register struct action *p __asm__("3") = a;
	__asm__ volatile("svc 0" : "+d"(r) : "d"(number), "d"(p), "d"(old), "d"(size) : "memory");
	return r;
#endif
}

static inline __attribute__((always_inline)) long inner(long *p, long x) { return p[x]; }

static inline __attribute__((always_inline)) long middle(long *p, long x)
{
	return inner(p, x * 2) + 1;
}

__attribute__((noinline)) static long crash(long depth)
{
	volatile long local[4] = {depth, 1, 2, 3};
	sink += local[depth & 3];
	return middle(nowhere, depth) + local[1];
}

__attribute__((noinline)) static long recurse(long n)
{
	volatile char pad[40];
	pad[n % 40] = n;
	long r = n ? recurse(n - 1) : crash(1);
	return r + pad[0];
}

/* SIGSEGV is blocked here: the second one ends the process. */
static void handler(int signal)
{
	sink = recurse(3) + signal;
}

__attribute__((noinline)) static long raiser(long n)
{
	volatile long local[2] = {n, n};
	sink += *(volatile long *)nowhere;
	return local[1] + sink;
}

__attribute__((noinline)) static long each(callback f, long n, void *data)
{
	long sum = 0;
	for (long i = n; i <= n; i++)
		sum += f(i, data);
	return sum;
}

static long called(long n, void *data) { return raiser(n) + (data == 0); }

__attribute__((noinline)) long begin(void)
{
	struct action a = {.handler = handler};
#if defined __x86_64__
	a.restorer = restorer;
	a.flags = 0x04000000;
#endif
	if (sigaction(11, &a))
		return 1;
	return each(called, 5, 0);
}

void _start(void);
void __start(void) __attribute__((alias("_start")));
#if defined __i386__ || defined __x86_64__
__attribute__((force_align_arg_pointer))
#endif
void _start(void)
{
	sink = begin();
	for (;;)
		;
}
