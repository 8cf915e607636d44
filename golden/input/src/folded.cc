/* Functions with equal code that have no linkage names, two of them with an inlined one. */
namespace {

volatile int sink;

inline __attribute__((always_inline)) void store(int a)
{
	sink = a;
	sink += 2;
}

struct Plain {
	__attribute__((noipa)) static int by_hand(int a);
};

struct Inlining {
	__attribute__((noipa)) static int by_call(int a);
};

int Plain::by_hand(int a)
{
	sink = a;
	sink += 2;
	return a * 17 + 4;
}

int Inlining::by_call(int a)
{
	store(a);
	return a * 17 + 4;
}

} // namespace

extern "C" {

__attribute__((noipa)) int same_one(int a)
{
	store(a);
	return a * 5 + sink;
}

__attribute__((noipa)) int same_two(int a)
{
	store(a);
	return a * 5 + sink;
}

__attribute__((noreturn)) void _start(void)
{
	sink = Plain::by_hand(1) + Inlining::by_call(2) + same_one(3) + same_two(4);
	for (;;)
		;
}

}
