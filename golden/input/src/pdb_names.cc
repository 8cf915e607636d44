/* What a PDB says of C++: classes with several bases, templates, operators, closures, names without linkage, inlined calls. */
#define APART __attribute__((noinline))
#define INTO inline __attribute__((always_inline))

extern "C" volatile int weather;
extern "C" void keep(const void *);

namespace units {

template <class N> INTO N between(N low, N value, N high)
{
	if (value < low)
		return low;
	return high < value ? high : value;
}

enum class Scale : unsigned char { Plain, Kilo };

struct Length {
	long long mm;
	Length operator-(const Length &o) const { return {mm - o.mm}; }
	Length &operator+=(const Length &o);
	operator long long() const { return mm; }
	APART bool operator()(const char *&end, Length (*make)(int)) const { return end[mm & 1] > make(1).mm; }
	static APART Length of(Scale scale, unsigned short many) { return {scale == Scale::Kilo ? many * 1000000LL : many}; }
};
APART Length *operator->*(Length &l, int by) { return &l + by; }

APART Length &Length::operator+=(const Length &o)
{
	mm += o.mm + weather;
	return *this;
}

template <class T, unsigned Room> struct Queue {
	T items[Room];
	unsigned used = 0;

	APART bool put(const T &item)
	{
		if (used == Room)
			return false;
		items[used++] = item;
		return true;
	}
	APART const T &operator[](unsigned at) const { return items[at % Room]; }
	template <class Each> APART long long every(Each each) const
	{
		long long all = 0;
		for (unsigned i = 0; i < used; i++)
			all += each(items[i]);
		return all;
	}
};

} // namespace units

/* Two bases with virtual functions: the second's are called through thunks. */
struct Sensor {
	virtual ~Sensor() { weather = 1; }
	virtual double read(int channel) const = 0;
};

struct Noted {
	const char *note = "none";
	virtual ~Noted() {}
	virtual const char *text() const { return note; }
};

class Probe final : public Sensor, public Noted {
	units::Length depth;
	static int made;

public:
	explicit Probe(units::Length d) : depth(d) { made++; }
	~Probe() override { keep(this); }
	double read(int channel) const override { return units::between(-10, channel, 10) * 0.5 + (double)depth.mm; }
	const char *text() const override { return made > 1 ? "probes" : "probe"; }
};
int Probe::made;

namespace {

APART int unseen(int v) { return units::between(weather, v, 99) * 7; }

struct Secret {
	static APART int pair(int v) { return unseen(v) - unseen(-v); }
};

} // namespace

static APART int own(short a, unsigned char b) { return a * b + weather; }

/* Calls three deep, in two places each. */
INTO int third(int v) { return v * weather; }
INTO int second(int v)
{
	int r = third(v + 1);
	if (r > 3)
		r -= third(r);
	return r;
}
INTO int first(int v) { return second(v) | second(v << 2); }

APART int layers(int times)
{
	int all = 0;
	while (times-- > 0)
		all += first(times);
	return all;
}

template <class T> APART T largest(const T *list, unsigned n)
{
	T best = list[0];
	for (unsigned i = 1; i < n; i++)
		if (best < list[i])
			best = list[i];
	return best;
}
template unsigned long long largest(const unsigned long long *, unsigned);
template float largest(const float *, unsigned);

APART int through(int (*f)(int, char), int Sensor::*, decltype(nullptr)) { return f(1, 'x'); }

APART long long mixed(bool a, wchar_t b, signed char c, unsigned long d, const volatile int *e, float &f, double &&g, units::Scale h, ...)
{
	return a + b + c + (long long)d + *e + (long long)f + (long long)g + (long long)h;
}

APART int fill(int n)
{
	char page[6000];
	keep(page);
	return page[n];
}

APART int choose(int what)
{
	switch (what) {
	case 1: return own(2, 3);
	case 2: return Secret::pair(4);
	case 3: return layers(5);
	case 4: return fill(6);
	case 7: return unseen(8);
	}
	return 0;
}

APART long long closures(int n)
{
	units::Queue<units::Length, 8> queue;
	for (int i = 0; i < n && queue.put({i * 10}); i++)
		;
	long long scale = weather + queue[3].mm;
	return queue.every([scale](units::Length l) { return l * scale; }) +
	       queue.every([&](const units::Length &l) { return l.mm ^ n; });
}

APART const char *ask(const Sensor &s, Noted *n) { return s.read(3) > 2.5 ? n->text() : "none"; }

struct Early {
	int got;
	Early() : got(layers(2)) {}
	~Early() { weather = got; }
};
static Early early;

extern "C" int work(int n)
{
	Probe probe(units::Length{n} - units::Length{2});
	units::Length sum{1};
	sum += {n};
	float fs[2] = {1, (float)n}, f = fs[0];
	unsigned long long us[2] = {2, (unsigned long long)n};
	long long all = (long long)sum + closures(n) + choose(n) + (long long)largest(fs, 2) + (long long)largest(us, 2);
	all += mixed(n > 1, L'w', -1, 7, &weather, f, 2.5, units::Scale::Kilo, n);
	const char *end = "ab";
	all += sum(end, [](int v) { return units::Length::of(units::Scale::Plain, (unsigned short)v); }) + (sum->*0)->mm;
	all += through([](int a, char b) { return a + b; }, nullptr, nullptr);
	return (int)all + ask(probe, &probe)[0];
}
