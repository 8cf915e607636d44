/* Calls functions with frames of all kinds, and prints from the innermost one
   what an unwinder gets - registers and the stack - and what it must find. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone))
#define RECORD() record(__builtin_return_address(0), __builtin_dwarf_cfa())

static struct { void *ra; unsigned long *cfa; } frames[200];
static int count;
static volatile int sink;

static NOINLINE void record(void *ra, void *cfa) { frames[count].ra = ra; frames[count++].cfa = cfa; }

static NOINLINE void dump(void)
{
	unsigned long pc, sp, fp;
	RECORD();
	__asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=r"(pc), "=r"(sp), "=r"(fp));
	printf("regs %lx %lx %lx\n", pc, sp, fp);
	for (int i = count - 1; i >= 0; i--)
		printf("frame %lx %lx\n", (unsigned long)frames[i].ra, (unsigned long)frames[i].cfa);
	for (unsigned long *p = (unsigned long *)sp; p < frames[0].cfa; p++)
		printf("word %lx %lx\n", (unsigned long)p, *p);
}

static NOINLINE void recurse(int n);

static NOINLINE void small(int n) { RECORD(); recurse(n - 1); sink++; }

static NOINLINE void saves(int n)
{
	int a = sink, b = sink, c = sink, d = sink, e = sink;
	RECORD();
	recurse(n - 1);
	sink = a + b + c + d + e;
}

static NOINLINE void big(int n)
{
	char buf[70000];
	RECORD();
	memset(buf, n, sizeof buf);
	recurse(n - 1);
	sink += buf[sink & 1023];
}

static NOINLINE void dynamic(int n)
{
	char *buf = alloca(n * 16 + 32);
	RECORD();
	memset(buf, n, n * 16 + 32);
	recurse(n - 1);
	sink += buf[n];
}

#ifdef REALIGN
/* The frame address is in memory: only version 3 can say so. GCC's built-in
   function for it gives that of the realigned stack; the caller, which has no
   frame pointer, is found by the right one only. */
static NOINLINE void realigned(int n)
{
	char aligned[64] __attribute__((aligned(64)));
	char *buf = alloca(n * 16 + 32);
	record(__builtin_return_address(0), 0);
	memset(aligned, n, sizeof aligned);
	memset(buf, n, n * 16 + 32);
	recurse(n - 1);
	sink += buf[n] + aligned[n];
}
#define dynamic(n) (n & 1 ? realigned(n) : dynamic(n))
#endif

static NOINLINE void many(int n, int a, int b, int c, int d, int e, int f, int g)
{
	RECORD();
	recurse(n - 1);
	sink += a + b + c + d + e + f + g;
}

static NOINLINE void recurse(int n)
{
	RECORD();
	if (n <= 0)
		dump();
	else if (n % 5 == 0)
		small(n);
	else if (n % 5 == 1)
		saves(n);
	else if (n % 5 == 2)
		big(n);
	else if (n % 5 == 3)
		dynamic(n);
	else
		many(n, 1, 2, 3, 4, 5, 6, 7);
	sink++;
}

int main(void)
{
	RECORD();
	recurse(25);
	return 0;
}
