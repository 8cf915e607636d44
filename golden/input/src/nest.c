#include "nest.h"

volatile int sink;

/* The same name as in second.c. */
static __attribute__((noinline)) int helper(int a)
{
	return a + sink;
}

__attribute__((noinline)) int outside(int a)
{
	if (a & 1)
		return helper(a);
	return a + 7;
}

int nested_inlines(int a, int b)
{
	int r = level1(a);
	if (b)
		r += level1(b);
	return r;
}

int plain(int a)
{
	switch (a) {
	case 0:
		return 5;
	case 1:
		return sink;
	case 2:
		return helper(2);
	}
	return -1;
}
