/* Values at entry: callbacks that are inlined or called by a library, tail calls, pieces of functions that are
   rarely run, calls of other units' functions. Crashes in a callback of qsort. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

struct item { int key; const char *name; };
typedef int (*compare)(const void *, const void *);

static volatile int limit = 4, sink;

/* by_key's arguments are still in registers where it crashes. */
__attribute__((noinline)) static int fail(int code, const struct item *item, double weight)
{
	int twice = 2 * code;
	if (__builtin_expect(code > limit, 0)) { /* in another piece of the function */
		sink += twice;
		fprintf(stderr, "%d %s %f\n", code, item->name, weight);
		raise(SIGSEGV);
		sink = code + item->key;
	}
	return twice;
}

__attribute__((noinline)) static int report(int depth, const struct item *item)
{
	sink++;
	return fail(depth + 3, item, 0.5);
}

/* Ends with a call, which leaves no frame. */
__attribute__((noinline)) static int forward(int a, int b, const struct item *item)
{
	sink += b;
	return report(a * b, item);
}

static int by_key(const void *a, const void *b)
{
	const struct item *left = a, *right = b;
	int diff = left->key - right->key;
	if (diff == 5)
		diff += forward(diff, limit, left);
	return diff;
}

__attribute__((noinline)) static void sorted(struct item *items, size_t count, compare by)
{
	size_t half = count / 2;
	sink += half;
	qsort(items, count, sizeof *items, by);
	sink += items[half].key;
}

static inline __attribute__((always_inline)) long each(const struct item *items, int count, long (*fn)(const struct item *, long), long start)
{
	long sum = start;
	for (int i = 0; i < count; i++)
		sum = fn(&items[i], sum);
	return sum;
}

static long add(const struct item *item, long sum)
{
	long square = (long)item->key * item->key;
	if (square == 81) {
		struct item copies[] = {{item->key, item->name}, {7, "seven"}, {2, "two"}};
		sorted(copies, sizeof copies / sizeof *copies, by_key);
	}
	return sum + square;
}

int main(int argc, char **argv)
{
	struct item items[] = {{argc, "one"}, {9, "nine"}, {5, "five"}};
	long sum = each(items, 3, add, argc + 40);
	printf("%ld %s\n", sum, argv[0]);
	return 0;
}
