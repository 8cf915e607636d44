// Methods, templates and callbacks of C++.
#include "crash.h"
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

volatile int place, sink;

namespace {
struct Base {
	virtual ~Base() = default;
	virtual int value(int n) const = 0;
};

struct First : Base {
	std::string name = "first";
	NOINLINE ~First() override { CRASH(0); }
	NOINLINE int value(int n) const override
	{
		CRASH(1);
		return n + static_cast<int>(name.size());
	}
};

struct Left {
	long l = 1;
	virtual int left() { return 1; }
};

struct Both : Left, First { // value is reached through a thunk
	NOINLINE int value(int n) const override
	{
		CRASH(2);
		return First::value(n) * 2;
	}
};

struct Global {
	std::map<int, std::string> names;
	NOINLINE void fill(int n)
	{
		for (int i = 0; i < n; i++)
			names[i * 7 % 13] = std::string(static_cast<size_t>(i), 'x');
		CRASH(3);
	}
} global;

NOINLINE int sorted(std::vector<std::string> list)
{
	std::sort(list.begin(), list.end(), [](const std::string &a, const std::string &b) {
		if (a.size() == 9)
			CRASH(4);
		return a.size() < b.size();
	});
	return static_cast<int>(list.front().size());
}

NOINLINE int applied(const std::function<int(int)> &f, int n) { return f(n) + 1; }

template<typename... T> NOINLINE int folded(T... n)
{
	CRASH(5);
	return (n + ...);
}

NOINLINE int thrown(int n) noexcept
{
	if (place == 6)
		throw std::string("nobody catches this");
	return n;
}

NOINLINE int total(const std::vector<std::unique_ptr<Base>> &list)
{
	int all = 0;
	for (const auto &p : list)
		all += p->value(all);
	return all;
}

NOINLINE double numbers(double a, double b, long double c)
{
	alignas(32) double block[4] = {a, b, a * b, a - b};
	sink = static_cast<int>(block[static_cast<int>(a) & 3]);
	CRASH(7);
	return block[0] + static_cast<double>(c);
}
}

int main(int argc, char **argv)
{
	place = argc > 1 ? atoi(argv[1]) : -1;
	global.fill(9);
	std::vector<std::string> texts;
	for (size_t i = 0; i < 40; i++)
		texts.emplace_back(i * 29 % 41, 'y');
	int n = sorted(texts) + folded(1, 2, 3);
	n += thrown(n) + static_cast<int>(numbers(1.5, 2.5, 3.5L));
	std::vector<std::unique_ptr<Base>> list;
	list.push_back(std::make_unique<Both>());
	list.push_back(std::make_unique<First>());
	n += total(list);
	n += applied([&](int k) {
		CRASH(8);
		return k + n;
	}, 3);
	std::thread thread([&] {
		std::vector<int> own(100, n);
		std::for_each(own.begin(), own.end(), [](int &k) {
			k++;
			CRASH(9);
		});
	});
	thread.join();
	list.clear();
	return n == 0;
}
