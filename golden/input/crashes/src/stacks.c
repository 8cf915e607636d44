/* Three threads without a C library, in a program and a library: one crashes in
 * the library, below a callback; one waits; one runs in circles. */
typedef long (*callback)(long, void *);
long net_each(callback f, long n, void *data);
long net_wait(volatile int *word);

static volatile int ready, never;
long *volatile nowhere;

static long call(long number, long a, long b, long c, long d, long e)
{
	long r;
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = 0;
	__asm__ volatile("syscall" : "=a"(r) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
	return r;
}

/* stack returns the top of a stack with a page below that nothing can use, so that each is a mapping of its own. */
static void *stack(void)
{
	enum { page = 4096, size = 4 * page };
	long at = call(9, 0, page + size, 0, 0x22, -1); /* mmap, PRIVATE, ANONYMOUS */
	call(10, at + page, size, 3, 0, 0);             /* mprotect, READ, WRITE */
	return (void *)(at + page + size);
}

__attribute__((noinline)) static long wait_here(void)
{
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	return net_wait(&never) + 1;
}

__attribute__((noinline)) static long spin(long n)
{
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	while (!never)
		n++;
	return n;
}

__attribute__((noinline, used)) static void waiter(void)
{
	wait_here();
	for (;;)
		;
}

__attribute__((noinline, used)) static void spinner(void)
{
	spin(1);
	for (;;)
		;
}

/* A thread begins at its function, without a caller. */
long start(void *top, void (*f)(void));
__asm__(".globl start\n"
	".type start, @function\n"
	"start:\n"
	".cfi_startproc\n"
	"	mov $56, %eax\n"
	"	mov %rsi, %r9\n"
	"	mov %rdi, %rsi\n"
	"	mov $0x10f00, %edi\n" /* CLONE_VM, FS, FILES, SIGHAND, THREAD */
	"	xor %edx, %edx\n"
	"	xor %r10d, %r10d\n"
	"	xor %r8d, %r8d\n"
	"	syscall\n"
	"	test %rax, %rax\n"
	"	jz 1f\n"
	"	ret\n"
	"1:	.cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	call *%r9\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size start, .-start\n");

static inline __attribute__((always_inline)) long inner(long *p, long x) { return p[x]; }

static inline __attribute__((always_inline)) long middle(long *p, long x)
{
	return inner(p, x * 2) + 1;
}

__attribute__((noinline)) static long crash(long n)
{
	volatile long local[4] = {n, 1, 2, 3};
	return middle(nowhere, n) + local[n & 3];
}

__attribute__((noinline)) static long recurse(long n)
{
	volatile char pad[40];
	pad[n % 40] = n;
	long r = n ? recurse(n - 1) : crash(1);
	return r + pad[0];
}

static long called(long n, void *data) { return recurse(n) + (data == 0); }

__attribute__((used)) static long begin(void)
{
	start(stack(), waiter);
	start(stack(), spinner);
	while (ready < 2)
		;
	struct { long seconds, nano; } pause = {0, 100000000};
	call(35, (long)&pause, 0, 0, 0, 0);
	return net_each(called, 3, 0);
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	call begin\n"
	"	hlt\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
