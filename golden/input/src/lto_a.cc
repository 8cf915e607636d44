// With lto_b.cc: origins and specifications in another unit.
#include "lto.h"

volatile int sink;

int from_b_inlined(int a) { return Shared().twice(a) + crossing(a); }

static __attribute__((noinline)) int helper(int a) { return a + sink; }
int entry_a(int a) { return helper(a) + entry_b(a); }
