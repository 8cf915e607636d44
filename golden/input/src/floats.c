/* Loops that are unrolled, vectorized and split; recursion, tail calls, variadic functions, structures by value. */
#include <stdarg.h>

extern volatile int sink;

struct big { double v[6]; };
union any { double d; long l; char c[16]; };

void scale(float *restrict to, const float *restrict from, int n, float by)
{
	for (int i = 0; i < n; i++) {
		if (from[i] > 0)
			to[i] = from[i] * by;
		else
			to[i] = -from[i];
	}
}

struct big shifted(struct big b, int k)
{
	for (int i = 0; i < 6; i++)
		b.v[i] = b.v[(i + k) % 6] + i;
	return b;
}

static __attribute__((noinline)) long total(int n, ...)
{
	va_list ap;
	long sum = 0;
	va_start(ap, n);
	while (n-- > 0)
		sum += va_arg(ap, long);
	va_end(ap);
	return sum;
}

static int odd(unsigned n);
static int even(unsigned n) { return n == 0 ? 1 : odd(n - 1); }
static __attribute__((noinline)) int odd(unsigned n) { return n == 0 ? 0 : even(n - 1); }

long mixed(union any u, int k)
{
	struct big b = {{u.d, 1, 2, 3, 4, 5}};
	b = shifted(b, k);
	if (odd(k))
		return total(3, u.l, (long)b.v[0], (long)sink);
	return total(1, (long)b.v[k % 6]);
}

unsigned ackermann(unsigned m, unsigned n)
{
	return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
