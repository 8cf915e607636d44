/* The library of stacks.c. */
typedef long (*callback)(long, void *);

static inline __attribute__((always_inline)) long one(callback f, long i, void *data) { return f(i, data) + 1; }

__attribute__((noinline)) static long loop(callback f, long n, void *data)
{
	volatile long sum = 0;
	for (long i = n; i <= n; i++)
		sum += one(f, i, data);
	return sum;
}

long net_each(callback f, long n, void *data)
{
	volatile long room[4] = {n};
	return loop(f, room[0], data) + room[1];
}

/* Waits in futex until *word is not 0. */
long net_wait(volatile int *word)
{
	long r;
	do {
		register long r10 __asm__("r10") = 0;
		__asm__ volatile("syscall" : "=a"(r) : "a"(202), "D"(word), "S"(0), "d"(0), "r"(r10) : "rcx", "r11", "memory");
	} while (*word == 0);
	return r;
}
