// Frames of every kind that a compiler makes: large, aligned, of variable size, with many arguments, of recursive
// functions, of cold code, in switches, behind tail calls.
#include "crash.h"
#include <alloca.h>
#include <stdarg.h>
#include <string.h>

volatile int place, sink;

NOINLINE static void use(void *p) { __asm__ volatile("" ::"r"(p) : "memory"); }

NOINLINE static int leaf(int a, int b)
{
	CRASH(0);
	return a * b + sink;
}

NOINLINE static int many(int a, int b, int c, int d, int e, int f, long g, long h, int i, double j)
{
	int n = leaf(a + b, c + d);
	CRASH(1);
	return n + leaf(e, f) + (int)(g * h) + i + (int)j;
}

NOINLINE static int large(int n)
{
	char buffer[20000];
	memset(buffer, n, sizeof buffer);
	use(buffer);
	n += many(n, 2, 3, 4, 5, 6, 7, 8, 9, 10.5);
	CRASH(2);
	return buffer[n & 1023] + n;
}

NOINLINE static int aligned(int n)
{
	_Alignas(64) char block[192];
	use(block);
	block[n & 63] = (char)large(n);
	CRASH(3);
	return block[5] + n;
}

NOINLINE static int variable(int n)
{
	int list[n & 31];
	char *more = alloca((n & 7) * 24 + 8);
	use(list);
	use(more);
	more[0] = (char)aligned(n);
	CRASH(4);
	return more[0] + list[0];
}

NOINLINE static int aligned_variable(int n)
{
	_Alignas(32) long block[8];
	int list[(n & 15) + 1];
	use(block);
	use(list);
	list[0] = variable(n);
	CRASH(5);
	return (int)block[1] + list[0];
}

NOINLINE static int cases(int n, int m)
{
	switch (n) {
	case 0: return leaf(m, 3);
	case 1: return aligned(m) + 1;
	case 2: return large(m) - 1;
	case 3: CRASH(6); return aligned_variable(m) * 2;
	case 4: use(&m); return m;
	case 5: return many(m, m, m, m, m, m, m, m, m, m);
	case 6: sink = m; return 0;
	case 7: return leaf(1, leaf(2, m));
	}
	return -1;
}

NOINLINE static int tail(int n, int m) { return n < 0 ? leaf(n, m) : cases(n & 7, m + 1); }

NOINLINE static int recursive(int depth, int n)
{
	if (depth == 0)
		return tail(n, 17);
	int sum = 0;
	for (int i = 0; i < 2; i++)
		sum += i == 0 ? recursive(depth - 1, n) : depth;
	CRASH(7);
	return sum;
}

__attribute__((noinline, cold, noreturn)) static void fail(int n)
{
	char text[64];
	memset(text, n, sizeof text);
	use(text);
	CRASH(8);
	abort();
}

NOINLINE static int checked(int n)
{
	if (sink > 5)
		fail(n);
	int r = recursive(4, n);
	if (place == 8)
		fail(r);
	return r;
}

NOINLINE static int sum(int n, ...)
{
	va_list list;
	va_start(list, n);
	long all = 0;
	for (int i = 0; i < n; i++)
		all += va_arg(list, int);
	va_end(list);
	int r = checked((int)all);
	CRASH(9);
	return r;
}

int main(int argc, char **argv)
{
	place = argc > 1 ? atoi(argv[1]) : -1;
	return sum(3, 1, 1, 1) > 1 << 30;
}
