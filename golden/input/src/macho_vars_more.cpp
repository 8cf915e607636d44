// The second object: static variables, one of which the linker drops with its function, and one that another object has, too.
#include "macho_vars.h"
struct Opaque {
	int a;
	char name[12];
	Box<short> *inner;
};
static int hits;
static const char *const names[] = {"one", "two"};
int shared_global = 4;
thread_local int tls_global = 5;
__attribute__((visibility("hidden"))) long hidden_global = 6;
Base::~Base() {}
int Base::go(int n) {
	static Box<int> table[4];
	table[n & 3].value += hits++;
	return table[n & 3].value + kind;
}
__attribute__((noinline)) static int local(const char *s, int n) {
	int sum = 0;
	for (int i = 0; i < n; i++) {
		sum += s[i];
		hits += sum;
	}
	return sum + counted(n);
}
int dropped(int n) {
	static int never = 1;
	return never += n;
}
int use(Opaque *o, Box<long> b) {
	static Opaque last;
	last.a += o->a;
	auto add = [&](int k) { return last.a + k + b.value; };
	return add(hits) + local(names[hits & 1], (int)hidden_global) + tls_global;
}
