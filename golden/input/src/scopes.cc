// Names: namespaces, classes, operators, templates, lambdas, local classes.
#include "scopes.h"

volatile int sink;

namespace {
int hidden(int a) { return a * sink; }
struct Hidden {
	int run(int) __attribute__((noinline));
};
int Hidden::run(int a) { return hidden(a) + sink; }
} // namespace

namespace outer {
Base::Base() : member(sink) {}
Base::~Base() { sink = member; }
int Base::value() const { return member; }
int Base::operator()(int a) const { return a + member; }
Base &Base::operator+=(const Base &o)
{
	member += o.member;
	return *this;
}
Base::operator bool() const { return member != 0; }
int Base::count() { return sink; }

template struct v1::Box<long, 3>;
template int v1::Box<long, 3>::as<int>(int) const;

namespace inner {
struct Derived : Base {
	int value() const override;
	int twice() const __attribute__((noinline)) { return value() * 2; }
};
int Derived::value() const { return member + (*this)[2]; }
int use(const Derived &d) { return d.twice(); }
} // namespace inner
} // namespace outer

static __attribute__((noinline)) int apply(int (*f)(int)) { return f(sink); }

template <typename F> __attribute__((noinline)) int call(F f) { return f(2); }

int lambdas(int k)
{
	auto by_value = [k](int a) __attribute__((noinline)) { return a + k + sink; };
	auto generic = [&](auto a) __attribute__((noinline)) { return int(a) + by_value(k); };
	return call(by_value) + generic(2L) + generic('c') + apply([](int a) { return a * 3; });
}

int local_class(int k)
{
	struct Local {
		int a;
		__attribute__((noinline)) int get() const { return a + sink; }
		__attribute__((noinline)) static int make(int v)
		{
			struct Deeper {
				__attribute__((noinline)) static int at(int w) { return outside(w); }
			};
			return Deeper::at(v) + 1;
		}
	};
	return Local{k}.get() + Local::make(k);
}

int use_hidden(int a) { return Hidden().run(a); }

extern "C" int c_name(int a) { return a + 1; }
