// The first object of a program without a dSYM, with variables of all kinds.
#include "macho_vars.h"
struct Opaque {
	double x, y;
	Opaque *self;
};
static int hits = 9;
namespace {
struct Own {
	int a;
	Box<char> b;
} own;
int fn(Own *o) { return o->a + hits; }
} // namespace
__attribute__((noinline)) static int local(const char *s, int n) {
	int *p = &shared_global;
	return *p + n + s[0];
}
extern "C" int main(int argc, char **argv) {
	Base b;
	b.kind = argc;
	Opaque o{1, 2, &o};
	own.a = counted(argc);
	Box<long> x{1, nullptr, Box<long>::Full};
	int (*f)(const char *, int) = local;
	return b.go(argc) + use(&o, x) + fn(&own) + f(argv[0], hits) + tls_global;
}
