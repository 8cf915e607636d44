// The C library calls the program: qsort, bsearch, pthread_once, atexit, an initializer of a library's kind.
#include <search.h>
#include <stdlib.h>
#include <pthread.h>
#include <unistd.h>

static int depth;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void last(void) {
	pause();
}

static int compare(const void *a, const void *b);

static void first(void) {
	int v[] = {4, 3, 2, 1};
	qsort(v, 4, sizeof *v, compare);
}

static int compare(const void *a, const void *b) {
	int v[] = {1, 2, 3}, key = 2;
	if (depth++ == 0)
		pthread_once(&once, first);
	else if (depth < 4)
		bsearch(&key, v, 3, sizeof *v, compare);
	else
		exit(0);
	return *(const int *)a - *(const int *)b;
}

int main(void) {
	int v[] = {3, 2, 1};
	atexit(last);
	qsort(v, 3, sizeof *v, compare);
	return 0;
}
