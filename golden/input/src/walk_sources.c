/* A crash without a C library: recursion, callbacks, inlines, arguments on the
 * stack, a frame that is realigned and one of variable size. Every function keeps
 * a frame pointer, and has .eh_frame and .sframe. */
typedef long (*callback)(long, void *);

volatile long sink;
long *volatile nowhere;

static inline __attribute__((always_inline)) long inner(long *p, long x) { return p[x]; }

static inline __attribute__((always_inline)) long middle(long *p, long x)
{
	return inner(p, x * 2) + 1;
}

__attribute__((noinline)) static long crash(long depth)
{
	long local[4] = {depth, 1, 2, 3};
	sink += local[depth & 3];
	return middle(nowhere, depth) + local[1];
}

__attribute__((noinline)) static long variable(long n, void *data)
{
	volatile char *room = __builtin_alloca(n * 16 + 32);
	room[n] = 1;
	return crash(n) + room[n] + (data != 0);
}

__attribute__((noinline)) static long aligned(callback f, long n)
{
	volatile long __attribute__((aligned(64))) block[8] = {n};
	return f(block[0], (void *)block) + block[1];
}

__attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f, long g, long h)
{
	return aligned(variable, a + b + c + d + e + f + g + h - 33) + h;
}

__attribute__((noinline)) static long recurse(long n)
{
	volatile char pad[40];
	pad[n % 40] = n;
	long r = n ? recurse(n - 1) : many(1, 2, 3, 4, 5, 6, 7, 8);
	return r + pad[0];
}

__attribute__((noinline)) static long each(callback f, long n, void *data)
{
	long sum = 0;
	for (long i = n; i <= n; i++)
		sum += f(i, data);
	return sum;
}

static long called(long n, void *data) { return recurse(n) + (data == 0); }

int main(void) { return (int)each(called, 5, 0); }

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	".cfi_startproc\n"
	".cfi_undefined rip\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	call main\n"
	"	mov %eax, %edi\n"
	"	mov $231, %eax\n"
	"	syscall\n"
	".cfi_endproc\n"
	".size _start, .-_start\n");
