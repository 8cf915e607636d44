/* The shared library of the worked examples. */
#include "core.h"

static inline int twice(int n)
{
	return n + n;
}

int core_work(int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += twice(i) ^ n;
	return sum;
}
