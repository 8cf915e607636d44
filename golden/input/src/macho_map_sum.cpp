// The first member of a static library: it shares an inline function with the second, of which linkers keep one.
#include "macho_map.h"
static __attribute__((noinline)) int local(int n) { return n * 9 + 1; }
extern "C" int library_sum(int n) { return local(n) + half(n) + shared(n) + library_more(n); }
