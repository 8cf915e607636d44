// A program with what is rare in C: computed goto, setjmp, parameters with variable lengths, flexible arrays, unions of
// bit fields, atomics, vectors, nested functions, complex numbers, _BitInt-like widths, static locals, anonymous members.
#define _GNU_SOURCE
#include <complex.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int v4si __attribute__((vector_size(16)));

union flags {
	uint32_t word;
	struct {
		unsigned carry : 1, zero : 1, : 3, mode : 5;
		int delta : 7;
	};
	uint8_t bytes[4];
};

struct tail {
	uint16_t count;
	enum { SMALL = 1, LARGE = 1000 } kind : 12;
	double items[];
};

struct machine {
	const unsigned char *code;
	long stack[8];
	int top;
	union flags flags;
	_Atomic(int) ticks;
	atomic_llong total;
	int (*hook)(struct machine *, int);
	struct tail *tail;
	const char *names[3];
	_Bool on;
	struct machine *volatile self;
};

static jmp_buf back;
volatile int sink;
int *volatile nowhere;

__attribute__((noinline)) static int hook(struct machine *m, int by)
{
	int saved = m->top, twice = 2 * by;
	m->flags.delta = -by;
	if (by > 2)
		sink = *nowhere + saved + twice;
	return saved + twice;
}

__attribute__((noinline)) static long run(struct machine *m, size_t n, const long table[n][2])
{
	static void *const labels[] = {&&push, &&add, &&call, &&halt};
	static int runs = 0;
	long matrix[n][n + 1];
	register long acc = 0;
	const unsigned char *pc = m->code;
	runs++;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k <= n; k++)
			matrix[i][k] = table[i][k % 2] * (long)(k + 1);
	goto *labels[*pc++];
push:
	m->stack[m->top++] = matrix[*pc % n][1];
	pc++;
	goto *labels[*pc++];
add:
	acc += m->stack[--m->top];
	m->ticks++;
	goto *labels[*pc++];
call: {
	int arg = *pc++;
	int got = m->hook(m, arg);
	acc += got + (int)matrix[0][0];
	goto *labels[*pc++];
}
halt:
	return acc + runs;
}

__attribute__((noinline)) static double mix(v4si v, double complex z, float f, struct tail t, union flags flags, __int128 wide, long double ld)
{
	v4si w = v * 2;
	double sum = creal(z) + f + t.count + flags.mode + (double)wide + (double)ld;
	long table[3][2] = {{w[0], 2}, {3, w[3]}, {5, 6}};
	static const unsigned char code[] = {0, 1, 1, 0, 2, 2, 5, 3};
	struct machine m = {.code = code, .hook = hook, .names = {"one", 0, "three"}, .on = 1, .flags = flags};
	m.tail = malloc(sizeof t + 2 * sizeof(double));
	m.tail->count = 2;
	m.tail->kind = LARGE;
	m.tail->items[0] = sum;
	m.self = &m;
	atomic_fetch_add(&m.total, 1LL << 40);
	int steps = 0;
#ifdef __clang__
#define step(by) (steps += (by), (int)run(&m, 3, table) + steps)
#else
	int step(int by) { steps += by; return (int)run(&m, 3, table) + steps; }
#endif
	if (!setjmp(back)) {
		struct { int tag; union { float f; uint32_t u; }; } local = {7, {1.5f}};
		sum += local.tag + local.u;
		sum += step(4);
	}
	return sum + m.top;
}

int main(int argc, char **argv)
{
	v4si v = {argc, 2, 3, 4};
	union flags flags = {.mode = 17};
	struct tail t = {5, SMALL};
	double got = mix(v, 1.5 - 2.0 * I, 0.25f, t, flags, ((__int128)argc << 100) + 9, 1e300L);
	printf("%f %s\n", got, argv[0]);
	return 0;
}
