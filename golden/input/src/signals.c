/* A crash below two signal handlers, the first with siginfo_t, the second without and on a stack of its own: main, raiser, signal, info, signal, handler, sorted, qsort, compare, recurse 3 times, crash, middle (inlined). */

#include <signal.h>
#include <stdlib.h>

volatile int sink;
int *volatile nowhere;

static inline __attribute__((always_inline)) int inner(int *p, int x)
{
	sink = x;
	return p[x];
}

static inline __attribute__((always_inline)) int middle(int *p, int x)
{
	return inner(p, x * 2) + 1;
}

static __attribute__((noinline)) int crash(int depth)
{
	int local[8] = {depth};
	sink += local[depth & 7];
	return middle((int *)nowhere, depth) + local[1];
}

static __attribute__((noinline)) int recurse(int n)
{
	volatile char pad[40];
	pad[n % 40] = n;
	int r = n ? recurse(n - 1) : crash(3);
	return r + pad[0];
}

static int compare(const void *a, const void *b)
{
	if (!sink) {
		sink = 1;
		return recurse(2) + 1;
	}
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) void sorted(void)
{
	int v[4] = {4, 3, 2, 1};
	qsort(v, 4, sizeof v[0], compare);
	sink = v[0];
}

static void handler(int s)
{
	sorted();
	sink += s;
}

static void info(int s, siginfo_t *i, void *context)
{
	raise(SIGUSR2);
	sink += s + (i != 0) + (context != 0);
}

static __attribute__((noinline)) int raiser(int n)
{
	raise(SIGUSR1);
	return n + sink;
}

int main(int argc, char **argv)
{
	static char other[1 << 16] __attribute__((aligned(64)));
	static stack_t stack;
	static struct sigaction a;
	stack.ss_sp = other;
	stack.ss_size = sizeof other;
	sigaltstack(&stack, 0);
	a.sa_sigaction = info;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &a, 0);
	a.sa_handler = handler;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &a, 0);
	(void)argv;
	return raiser(argc) + 1;
}
