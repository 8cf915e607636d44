/* The program of the worked examples. */
#include <stdio.h>

#include "core.h"

#ifndef VARIANT
#define VARIANT 0
#endif

int main(int argc, char **argv)
{
	(void)argv;
	printf("%d\n", core_work(argc + VARIANT));
	return 0;
}
