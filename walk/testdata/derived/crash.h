// Each program crashes at the place that its first argument names, from 0 to 9.
#include <stdlib.h>

#ifdef __cplusplus
extern "C"
#else
extern
#endif
volatile int place;
extern volatile int sink;

#define CRASH(n) \
	do { \
		if (place == (n)) \
			*(volatile int *)8 = (n); \
	} while (0)
#define NOINLINE __attribute__((noinline))
