#include "lto.h"

static __attribute__((noinline)) int helper(int a) { return a - sink; }

int crossing(int a)
{
	sink = a;
	return a * sink;
}

int Shared::twice(int a)
{
	for (int i = 0; i < a; i++)
		sink = i;
	return a + crossing(a);
}

__attribute__((noinline)) int entry_b(int a) { return helper(a) + Shared().twice(a); }
