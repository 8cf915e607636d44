// Stacks that a program has switched away from: by swapcontext or, with -DBOOST, by Boost.Context. It prints, for each of
// COUNT fibers, where its registers are saved, how many calls of level it is in (-1: it has
// not begun), and where Boost.Context first saved its
// registers. It crashes in the last one.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef COUNT
#define COUNT 12
#endif

#ifdef BOOST
#define SECRET 0x5555aaaa5555aaaaul // no pointer to an old context may stay in memory
typedef void *fcontext_t; // boost/context/detail/fcontext.hpp
typedef struct { fcontext_t fctx; void *data; } transfer_t;
transfer_t jump_fcontext(fcontext_t to, void *data);
fcontext_t make_fcontext(void *top, size_t size, void (*run)(transfer_t));
typedef struct { int id; int depth; fcontext_t at; } fiber;
static fcontext_t scheduler;
static void switch_from(fiber *f) {
	transfer_t t = jump_fcontext(scheduler, f);
	scheduler = t.fctx;
}
#else
#include <ucontext.h>
typedef struct { int id; int depth; ucontext_t at; } fiber;
static ucontext_t scheduler;
static void switch_from(fiber *f) { swapcontext(&f->at, &scheduler); }
#endif

static fiber *current;

__attribute__((noinline)) static int level(fiber *f, int left) {
	volatile char room[40];
	room[0] = left;
	if (left > 0) return level(f, left - 1) + room[0];
	if (f->id == COUNT) __builtin_trap();
	switch_from(f);
	return room[0];
}

// twice suspends in two depths, so that there is an older context on each stack.
__attribute__((noinline)) static int twice(fiber *f) {
	int depth = f->depth;
	f->depth = depth + 5;
	int n = level(f, f->depth);
	f->depth = depth;
	return n + level(f, depth);
}

#ifdef BOOST
static void run(transfer_t t) {
	scheduler = t.fctx;
	exit(twice(current));
}
static void resume(fiber *f) {
	current = f;
	f->at = jump_fcontext(f->at, f).fctx;
}
static void make(fiber *f, char *stack, size_t size) {
	f->at = make_fcontext(stack + size, size, run);
	resume(f);
}
#else
static void run(void) { exit(twice(current)); }
static void resume(fiber *f) {
	current = f;
	swapcontext(&scheduler, &f->at);
}
static void make(fiber *f, char *stack, size_t size) {
	getcontext(&f->at);
	f->at.uc_stack.ss_sp = stack;
	f->at.uc_stack.ss_size = size;
	makecontext(&f->at, run, 0);
	if (f->id >= 0) resume(f);
}
#endif

int main(void) {
	static fiber fibers[COUNT + 1];
	for (int i = 0; i < COUNT; i++) {
		fibers[i].id = i;
		fibers[i].depth = i % 7;
		make(&fibers[i], malloc(16 << 10), 16 << 10);
#ifdef BOOST
		uintptr_t old = (uintptr_t)fibers[i].at ^ SECRET;
		if (i % 3) resume(&fibers[i]);
		printf("%p fcontext %d %#lx\n", fibers[i].at, fibers[i].depth, (long)(old ^ SECRET));
#else
		if (i % 3) resume(&fibers[i]);
		printf("%p ucontext %d 0\n", (void *)&fibers[i].at, fibers[i].depth);
#endif
	}
#ifndef BOOST
	static fiber unbegun = {-1, -1};
	make(&unbegun, malloc(16 << 10), 16 << 10);
	printf("%p ucontext -1 0\n", (void *)&unbegun.at);
#endif
	fflush(stdout);
	fiber *last = &fibers[COUNT];
	last->id = COUNT;
	make(last, malloc(16 << 10), 16 << 10);
}
