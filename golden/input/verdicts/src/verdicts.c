/* Ways to end on x86-64 without a C library, each with a stack that this text
 * tells. The number of arguments says which. */
typedef long (*callback)(long);

long *volatile nowhere;
volatile long sink;

long bare(long, callback);
long clone3(void *, unsigned long, callback, void *);
long into(callback);
void injected(void);
void restorer(void);

static long call(long n, long a, long b, long c, long d)
{
	long r;
	register long r10 __asm__("r10") = d;
	__asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
	return r;
}

__attribute__((noinline)) static long crash(long n)
{
	*nowhere = n;
	return n + sink;
}

__attribute__((noinline)) static long recurse(long n, callback f) { return (n ? recurse(n - 1, f) : f(n)) + n; }

/* A handler on a stack of its own, and a stack that overflows. */
__attribute__((noinline)) static long overflow(long n)
{
	volatile long pad[60];
	for (int i = 0; i < 60; i++)
		pad[i] = n;
	return overflow(n + 1) + pad[n % 60];
}

static void handler(int signal) { crash(signal); }

static void goroutine(int signal, void *info, unsigned long *context)
{
	/* As Go's runtime: the fault becomes a call. */
	unsigned long *sp = (unsigned long *)(context[20] -= 8);
	*sp = context[21];
	context[21] = (unsigned long)injected;
	(void)signal, (void)info;
}

static char other[1 << 14] __attribute__((aligned(16)));

static long on(long signal, void *f, unsigned long flags)
{
	struct {
		void *f;
		unsigned long flags;
		void *restorer;
		unsigned long mask;
	} action = {f, flags | 0x4000000, restorer, 0};
	struct {
		char *sp;
		int flags;
		unsigned long size;
	} stack = {other, 0, sizeof other};
	call(131, (long)&stack, 0, 0, 0);
	return call(13, signal, (long)&action, 0, 8);
}

/* The parent waits in clone3 for its child, which crashes. */
static char child[1 << 14] __attribute__((aligned(16)));

__attribute__((noinline)) static long threads(long n)
{
	unsigned long args[11] = {0x00000100 | 0x200 | 0x400 | 0x800 | 0x4000 | 0x10000, 0, 0, 0, 0, (unsigned long)child, sizeof child};
	return clone3(args, sizeof args, crash, (void *)n) + sink;
}

__attribute__((noinline)) static long jump(long n) { return ((callback)sink)(n) + 1; }

__attribute__((noinline)) static long smash(long value)
{
	volatile long pad[2], *volatile p = pad;
	for (int i = 0; i < 200; i++)
		p[i] = value;
	return pad[1];
}

long main(long n)
{
	switch (n) {
	case 1: /* complete: crash, recurse x 3, main, _start */
		return recurse(2, crash) + 1;
	case 2: /* a function without rules: crash, bare, ... */
		return bare(n, crash) + 1;
	case 3: /* crash, handler, the system's frame, overflow x n, main, _start */
		on(11, handler, 0x8000000 | 0x80000000);
		return overflow(1) + 1;
	case 4: /* two threads: crash, clone3; clone3, threads, main, _start */
		return threads(n) + 1;
	case 5: /* a call of 0: 0, jump, main, _start */
		return jump(n) + 1;
	case 6: /* smash, and nothing else that is left */
		return smash(0x4141414141414141) + 1;
	case 7: /* likewise, and the return goes to 0 */
		return smash(0) + 1;
	case 8: /* crash, runtime.mcall, ...: its rules lead nowhere */
		return into(crash) + 1;
	case 9: /* injected, runtime.sigpanic, crash, main, _start */
		on(11, goroutine, 4 | 0x80000000);
		return crash(n) + 1;
	}
	return 0;
}
