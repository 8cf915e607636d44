/* What C has beside structs of numbers: setjmp, arrays of variable length as parameters, unions of bit fields, nested
   structs without names, atomic and vector types, structs of the other byte order. */
#include <complex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef float four __attribute__((vector_size(16)));
typedef int eight __attribute__((vector_size(32)));
typedef uint8_t bytes __attribute__((vector_size(8)));

#ifdef __SIZEOF_INT128__
typedef __int128 widest;
#else
typedef long long widest;
#endif

union flags {
	struct { unsigned ready : 1, mode : 3; signed level : 6; unsigned : 2; uint64_t rest : 40; };
	uint64_t word;
};

struct nest {
	int id;
	struct { short x, y; union { struct { char lo, hi; }; uint16_t both; }; };
	enum { LOW = -1, MID, HIGH = 40 } state;
	struct { unsigned a : 5; _Bool on : 1; enum { RED, GREEN } colour : 2; } bits[3];
	char tail[4];
};

#ifdef __clang__
#define BIG
#else
#define BIG __attribute__((scalar_storage_order("big-endian")))
#endif
struct BIG wire { uint16_t kind; uint32_t length; int64_t stamp; float ratio; struct BIG { uint16_t port; } to[2]; unsigned top : 4, low : 12; };

static _Atomic int counter = 5;
static _Thread_local int depth = 3;
static jmp_buf back;
static volatile int zero;

__attribute__((noinline)) static void jump(volatile int n) { longjmp(back, n); }

__attribute__((noinline)) static double grid(int rows, int cols, double cells[rows][cols], const int order[static 3], int (*pairs)[2])
{
	double sum = 0, line[cols];
	for (int c = 0; c < cols; c++) {
		line[c] = 0;
		for (int r = 0; r < rows; r++)
			line[c] += cells[r][c];
		sum += line[c] * order[c % 3] + pairs[c % 2][1];
	}
	if (sum > 10)
		raise(SIGSEGV);
	return sum + line[0];
}

__attribute__((noinline)) static int vectors(four f, eight e, bytes b, _Complex float z, widest wide)
{
	four scaled = f * 2 + crealf(z);
	eight sums = e + (int)wide;
	_Atomic long total = sums[3] + (long)scaled[1];
	atomic_fetch_add(&total, b[2]);
	double cells[2][3] = {{1, 2, 3}, {4, 5, scaled[2]}};
	int order[] = {3, 1, 2}, pairs[][2] = {{1, 2}, {3, 4}};
	double sum = grid(2, 3, cells, order, pairs);
	return (int)(sum + scaled[0] + sums[7] + total);
}

int main(int argc, char **argv)
{
	union flags flags = {.word = 0};
	volatile int jumps = 0;
	struct wire wire = {.kind = 0x102, .length = 77, .stamp = -5, .ratio = 1.5f, .to = {{80}, {443}}, .top = 9, .low = 0x123};
	struct { struct nest head; char more[8]; } buf = {.head = {.id = argc + 6, .x = 3, .y = -3, .both = 0x4142, .state = HIGH}};
	int *const restrict same = &buf.head.id;
	void (*fn)(int) = jump;
	ptrdiff_t gap = (char *)&buf.more - (char *)&buf;
	flags.ready = 1, flags.mode = 5, flags.level = -7, flags.rest = 0x123456789a;
	buf.head.bits[1].a = 17, buf.head.bits[1].on = 1, buf.head.bits[2].colour = GREEN;
	strcpy(buf.more, "tail");
	if (setjmp(back) < 3)
		fn(++jumps + counter - 4);
	const char *what = argv[0] ? "odd" : "none";
	int got = vectors((four){1, 2, 3, 4 + zero}, (eight){1, 2, 3, 4, 5, 6, 7, 8 + zero}, (bytes){9, 8, 7}, 1 + 2 * I, (widest)argc << 40 | 3);
	printf("%s %d %d %d %ld %u %d %s\n", what, got, *same, (int)flags.level + jumps, (long)gap, wire.length, depth, buf.more);
	return 0;
}
