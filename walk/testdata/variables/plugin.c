/* A program and a library that it calls: what a function was called with is known by way of the word in which the
   loader stored its address, and by symbols, which have more names of a function than debug information has. */
#include <stdio.h>

struct request {
	int id;
	const char *path;
};

int serve(const struct request *request, long budget, double weight);

#ifdef LIBRARY
static int *volatile nowhere;

__attribute__((noinline)) int handle(int code, long budget)
{
	int half = code / 2;
	puts("handle"); /* changes registers */
	*nowhere = half; /* the crash */
	return half;
}

/* Called by another name, which only symbols have. */
extern int process(int code, long budget) __attribute__((visibility("hidden")));
__asm__(".globl process\n.hidden process\n.set process, handle");

int serve(const struct request *request, long budget, double weight)
{
	puts("serve");
	return process(request->id * 3, 40 + request->id) + 1;
}
#else
__attribute__((noinline)) static int run(int argc, char **argv)
{
	struct request request = {argc + 6, argv[0]};
	int got = serve(&request, argc * 1000L, 0.5);
	printf("%d\n", got);
	return got;
}

int main(int argc, char **argv) { return run(argc, argv) + argc; }
#endif
