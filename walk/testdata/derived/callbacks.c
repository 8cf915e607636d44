// Code that the C library calls, and code of the library itself.
#define _GNU_SOURCE
#include "crash.h"
#include <assert.h>
#include <pthread.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

volatile int place, sink;
static jmp_buf back;
static pthread_once_t once = PTHREAD_ONCE_INIT;

NOINLINE static int compare(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;
	if (x == 7 && y != 7)
		CRASH(0);
	return x < y ? -1 : x > y;
}

NOINLINE static int find(const void *key, const void *element)
{
	CRASH(1);
	return *(const int *)key - *(const int *)element;
}

static void visit(const void *node, VISIT order, int depth)
{
	if (depth > 1)
		CRASH(2);
}

NOINLINE static void sorted(int *list, size_t n)
{
	void *root = 0;
	qsort(list, n, sizeof *list, compare);
	int key = list[n / 3];
	bsearch(&key, list, n, sizeof *list, find);
	for (size_t i = 0; i < n; i++)
		tsearch(&list[i], &root, compare);
	twalk(root, visit);
}

NOINLINE static void checked(const int *list, int n)
{
	assert(place != 3 || list[0] > n);
}

static void handler(int number, siginfo_t *info, void *context)
{
	char text[100];
	memset(text, number, sizeof text);
	__asm__ volatile("" ::"r"(text) : "memory");
	CRASH(4);
}

NOINLINE static void interrupted(void)
{
	static char other[1 << 16];
	stack_t stack = {.ss_sp = other, .ss_size = sizeof other};
	sigaltstack(&stack, 0);
	struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaction(SIGUSR1, &action, 0);
	raise(SIGUSR1);
	sink++;
}

NOINLINE static void jumps(int n)
{
	if (n > 0)
		jumps(n - 1);
	longjmp(back, 1);
}

NOINLINE static void jumped(void)
{
	if (setjmp(back) == 0)
		jumps(5);
	CRASH(5);
}

static void begin(void) { CRASH(6); }

static void *run(void *data)
{
	pthread_once(&once, begin);
	CRASH(7);
	return data;
}

NOINLINE static void threads(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, run, 0);
	pthread_join(thread, 0);
}

NOINLINE static void printed(char *to)
{
	if (place == 8)
		sprintf(to, "%d %s", 5, (char *)24);
	sink = (int)strlen(to);
}

static void last(void) { CRASH(9); }

int main(int argc, char **argv)
{
	int list[40];
	char text[64] = "";
	place = argc > 1 ? atoi(argv[1]) : -1;
	for (int i = 0; i < 40; i++)
		list[i] = i * 29 % 41;
	atexit(last);
	sorted(list, 40);
	checked(list, 40);
	interrupted();
	jumped();
	threads();
	printed(text);
	return 0;
}
