#include "nest.h"

static __attribute__((noinline)) int helper(int a)
{
	return a - sink;
}

int second(int a)
{
	return helper(a) + level3(a);
}
