/* The start of a program without a C runtime, and what compilers call. */
volatile int weather = 5;
int _fltused;
int work(int);
int halved(int);

__attribute__((noinline)) void keep(const void *p) { weather = *(const volatile char *)p; }
int start(void) { return work(halved(weather)); }
