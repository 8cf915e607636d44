// The second member of a static library.
#include "macho_map.h"
int library_unused(int n) { return shared(n) * 3; }
__attribute__((noinline)) int twin_one(int n) { return n * 11 + 2; }
__attribute__((noinline)) int twin_two(int n) { return n * 11 + 2; }
int library_more(int n) { return half(n) * shared(n + 1) + twin_one(n) + twin_two(n); }
