/* Inlined three deep, from a header, with lexical blocks between the levels. */
extern volatile int sink;
extern int outside(int);

static inline __attribute__((always_inline)) int level3(int x)
{
	sink = x;
	return x ^ sink;
}

static inline __attribute__((always_inline)) int level2(int x)
{
	int r = 0;
	for (int i = 0; i < x; i++) {
		int t = outside(i);
		if (t > 3) {
			int u = t + r;
			r += level3(u);
		} else {
			r -= level3(t);
		}
	}
	return r;
}

static inline __attribute__((always_inline)) int level1(int x)
{
	{
		int y = x + 1;
		{
			int z = level2(y);
			return z + level3(y);
		}
	}
}
