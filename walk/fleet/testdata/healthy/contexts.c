// A coroutine of makecontext waits, and so does one that another one has called.
#include <stdlib.h>
#include <ucontext.h>
#include <unistd.h>

static ucontext_t home, outer, inner;

static void deep(int n) {
	if (n)
		deep(n - 1);
	else
		pause();
	pause();
}

static void in_inner(void) {
	deep(3);
}

static void in_outer(int a, int b) {
	swapcontext(&outer, a + b ? &inner : &home);
}

int main(void) {
	getcontext(&outer);
	inner = outer;
	outer.uc_stack.ss_sp = malloc(65536);
	outer.uc_stack.ss_size = 65536;
	outer.uc_link = &home;
	inner.uc_stack.ss_sp = malloc(65536);
	inner.uc_stack.ss_size = 65536;
	inner.uc_link = &outer;
	makecontext(&outer, (void (*)(void))in_outer, 2, 1, 2);
	makecontext(&inner, in_inner, 0);
	swapcontext(&home, &outer);
	return 0;
}
