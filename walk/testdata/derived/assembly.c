#include "crash.h"

volatile int place, sink;

void pushes(void);

void crash(int n) { CRASH(n); }

int main(int argc, char **argv)
{
	place = argc > 1 ? atoi(argv[1]) : -1;
	pushes();
	return 0;
}
