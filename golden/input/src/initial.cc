// Objects that are made before main: start-up code of the compiler's own, with names such as _GLOBAL__sub_I_.
extern volatile int sink;

namespace {
struct Table {
	int of[8];
	Table(int by)
	{
		for (int i = 0; i < 8; i++)
			of[i] = i * by + sink;
	}
	~Table() { sink = of[1]; }
};
Table first(3);
} // namespace

Table second(4);
template <int N> struct Holder { static Table table; };
template <int N> Table Holder<N>::table(N);
template struct Holder<5>;
inline Table late(6);
static int computed = first.of[2] + second.of[3] + Holder<7>::table.of[1];
int initial(int i) { return late.of[i & 7] + computed; }
