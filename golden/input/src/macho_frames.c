/* Frames of macOS: every number of saved registers, with and without a frame pointer, large, aligned and
   dynamic frames, returns before the prologue, tail calls, a switch, and calls of stubs. */
#define NOINLINE __attribute__((noinline))
#define CLOBBER(...) __asm__ volatile("" ::: __VA_ARGS__)

#if __x86_64__
#define ONE "rbx"
#define TWO "rbx", "r14"
#define FIVE "rbx", "r12", "r13", "r14", "r15"
#else
#define ONE "x19"
#define TWO "x19", "x20", "d8"
#define FIVE "x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "d8", "d9", "d10", "d11"
#endif

void outside(void *);
volatile int input;

static inline __attribute__((always_inline)) int twice(int v) { return v + v + input; }

NOINLINE int plain(int v) { return twice(v); }
NOINLINE int leaf_one(int v) { CLOBBER(ONE); return v + input; }
NOINLINE int leaf_five(int v) { CLOBBER(FIVE); return v + input; }
NOINLINE int calls_one(int v) { CLOBBER(ONE); outside(&v); return v + twice(v); }
NOINLINE int calls_two(int v) { CLOBBER(TWO); outside(&v); return v + input; }
NOINLINE int calls_five(int v) { CLOBBER(FIVE); outside(&v); return v + input; }
NOINLINE int large(int v) { char room[5000]; CLOBBER(TWO); outside(room); return room[v]; }
NOINLINE int huge(int v) { char room[100000]; outside(room); return room[v]; }
NOINLINE int aligned(int v) { __attribute__((aligned(64))) char room[128]; outside(room); return room[v]; }
NOINLINE int dynamic(int v) { char *room = __builtin_alloca(v); outside(room); return room[v - 1]; }
NOINLINE int early(int v) {
	if (__builtin_expect(v < 0, 1))
		return v;
	char room[100];
	outside(room);
	CLOBBER(TWO);
	return room[v];
}
NOINLINE void tail(int *v) { *v = input; outside(v); }
NOINLINE int chosen(int v) {
	int w = input;
	switch (v) {
	case 1: outside(&v); w += v; break;
	case 2: outside(&w); outside(&v); w = v; break;
	case 3: w = twice(v); break;
	case 4: outside(&v); outside(&v); break;
	case 5: outside(0); w = 7; break;
	case 6: return 3;
	}
	return w + v;
}
__attribute__((noreturn)) NOINLINE void never(int v) { outside(&v); __builtin_trap(); }

int main(int n, char **args) {
	if (n == 77)
		never(n);
	tail(&n);
	return plain(n) + leaf_one(n) + leaf_five(n) + calls_one(n) + calls_two(n) + calls_five(n) + large(n) + huge(n) + aligned(n) +
	       dynamic(n) + early(n) + chosen(n);
}
