/* Functions that gcc -O2 splits into a hot and a cold part. */
extern volatile int sink;
extern void report(int) __attribute__((cold, noreturn));

static inline __attribute__((always_inline)) void fail(int code)
{
	sink = code;
	sink += 2;
	report(code + sink);
}

static inline __attribute__((always_inline)) int check(int v)
{
	if (__builtin_expect(v < 0, 0)) {
		sink = v;
		fail(v * 3);
	}
	return v + sink;
}

__attribute__((noinline)) int split(int a, int b)
{
	int r = check(a);
	r ^= check(b);
	if (__builtin_expect(r == 77, 0)) {
		for (int i = 0; i < 3; i++)
			sink = i;
		fail(r);
	}
	return r;
}

__attribute__((cold, noinline)) int rarely(int a)
{
	sink = a;
	return a + sink;
}

int not_split(int a)
{
	return check(a) + 1;
}
