// Templates with packs, values and concepts; lambdas in each other, in members and in default arguments; local types.
extern volatile int sink;

namespace shapes {
template <typename T> concept Sized = requires(T t) { t.size(); };

template <int... N> struct Sum { static constexpr int value = (N + ... + 0); };

template <typename... T> __attribute__((noinline)) int fold(T... t) { return (int(t) + ... + sink); }

struct Wide {
	int n;
	int size() const { return n; }
	auto adder() const
	{
		return [*this](auto by) __attribute__((noinline)) { return n + int(by) + sink; };
	}
};

template <Sized S, auto Scale = 3> __attribute__((noinline)) int area(const S &s)
{
	struct Local {
		const S &of;
		__attribute__((noinline)) int twice() const { return of.size() * 2 * Scale; }
	};
	return Local{s}.twice() + Sum<1, 2, Scale>::value;
}

template <typename T> inline T clamped(T v, T lo, T hi) { return v < lo ? lo : v > hi ? hi : v; }
template <typename T> inline T folded_in(T a) { return clamped<T>(a, -4, sink) + clamped<T>(a + 1, 0, 9); }
} // namespace shapes

inline int defaulted(int a, int (*f)(int) = [](int x) { return x * sink; }) { return f(a); }

int all_shapes(int a)
{
	shapes::Wide w{a};
	auto outer = [&](int b) __attribute__((noinline)) {
		auto inner = [=, &w](long c) __attribute__((noinline)) { return int(c) + a + b + w.size(); };
		return inner(b) + w.adder()(2.5);
	};
	return outer(a) + shapes::area(w) + shapes::area<shapes::Wide, 'x'>(w) + shapes::fold(a, 'c', 2.0, 3L) +
	       shapes::folded_in(a) + int(shapes::folded_in<long>(a)) + defaulted(a);
}
