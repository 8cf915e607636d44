// Calls many functions of a C library, each a few times.
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <iconv.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <regex.h>
#include <search.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>

static jmp_buf back;
static int compared;

static int compare(const void *a, const void *b) {
	compared++;
	return *(const int *)a - *(const int *)b;
}

static int compareNames(const void *a, const void *b) { return strcmp(a, b); }

static void visit(const void *node, VISIT order, int depth) { compared += depth; }

static void jumps(int depth) {
	char room[64];
	snprintf(room, sizeof room, "%d", depth);
	if (depth == 0) longjmp(back, 1);
	jumps(depth - 1);
}

static long dynamic(size_t n) {
	char *room = alloca(n);
	memset(room, 1, n);
	return memchr(room, 2, n) ? 1 : strnlen(room, n);
}

int main(void) {
	char text[512];
	int values[100];
	srand(3);
	for (int i = 0; i < 100; i++) values[i] = rand() % 1000;
	qsort(values, 100, sizeof *values, compare);
	int key = values[7];
	bsearch(&key, values, 100, sizeof *values, compare);
	snprintf(text, sizeof text, "%08.3f %-12s|%+lld %#x %c %p %e %a %zu %5.2Lf %n", M_PI, "text", -12345678901LL, 77, 'c', text, 1e300, 0.1, (size_t)9, 2.5L, &key);
	int number;
	double real;
	char word[32];
	sscanf("42 3.25e2 word 0x1f", "%d %lf %31s", &number, &real, word);
	regex_t re;
	regmatch_t match[4];
	if (regcomp(&re, "([a-z]+)-([0-9]{2,4})(x|y)*", REG_EXTENDED) == 0) {
		regexec(&re, "some words-1234xyx here", 4, match, 0);
		regfree(&re);
	}
	setlocale(LC_ALL, "C");
	wchar_t wide[64];
	mbstowcs(wide, "wide text", 64);
	swprintf(wide, 64, L"%ls %d", L"abc", 5);
	wcstol(L"123", 0, 10);
	void *root = 0;
	for (int i = 0; i < 20; i++) tsearch(strdup(i % 2 ? "odd" : "even"), &root, compareNames);
	twalk(root, visit);
	hcreate(20);
	ENTRY e = {"key", "data"};
	hsearch(e, ENTER);
	hdestroy();
	time_t now = 1700000000;
	struct tm tm;
	gmtime_r(&now, &tm);
	strftime(text, sizeof text, "%A %d %B %Y %H:%M:%S %Z %j %U", &tm);
	mktime(&tm);
	real = sin(1.5) + cos(2.5) + exp(1.25) + log(7) + pow(1.5, 2.5) + tgamma(3.5) + atan2(1, 2) + fmod(7, 3) + cbrt(9);
	real += strtod("1.7976931348623157e308", 0) + strtod("0x1.8p3", 0) + strtold("12.5", 0);
	strtoull("18446744073709551615", 0, 10);
	fnmatch("*.[ch]", "file.c", 0);
	glob_t g;
	if (glob("/*", 0, 0, &g) == 0) globfree(&g);
	char *all[40];
	for (int i = 0; i < 40; i++) all[i] = malloc(1 << (i % 18));
	for (int i = 0; i < 40; i += 2) free(all[i]);
	for (int i = 1; i < 40; i += 2) all[i] = realloc(all[i], 5000);
	iconv_t cd = iconv_open("UTF-16", "UTF-8");
	if (cd != (iconv_t)-1) {
		char *in = "text", *out = text;
		size_t left = 4, room = sizeof text;
		iconv(cd, &in, &left, &out, &room);
		iconv_close(cd);
	}
	if (setjmp(back) == 0) jumps(5);
	dynamic(100);
	memmem("haystack with a needle", 22, "needle", 6);
	strstr("another haystack", "hay");
	memmove(text + 3, text, 200);
	strerror(ENOENT);
	char *copy = strdup("a,b,,c"), *at = copy;
	while (strsep(&at, ",")) compared++;
	printf("%d %f %d\n", compared, real, number);
	fflush(stdout);
	return 0;
}
