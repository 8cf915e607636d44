// Templates of templates, virtual bases and casts between them, lambdas in lambdas, structured bindings, ranges.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <map>
#include <memory>
#include <numeric>
#include <ranges>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

template <typename T> struct Cell { T value; int weight; };
template <template <typename> class Box, typename... Ts> struct Row { std::tuple<Box<Ts>...> boxes; static constexpr int width = sizeof...(Ts); };
template <typename T, auto N> struct Ring {
	std::array<T, N> slots{};
	unsigned head = 0;
	template <typename F> [[gnu::noinline]] int visit(F &&f, int start) const
	{
		int sum = start;
		for (const auto &slot : slots)
			sum += f(slot, sum);
		return sum;
	}
};

struct Root { virtual ~Root() = default; virtual int code() const { return id; } int id = 7; };
struct Left : virtual Root { double left = 1.5; };
struct Right : virtual Root { short right[3] = {1, -2, 3}; int code() const override { return right[1]; } };
struct Bottom final : Left, Right { std::string name = "bottom"; Bottom *self = this; int code() const override; };
int Bottom::code() const { return static_cast<int>(name.size()) + right[2]; }

volatile int zero;

[[gnu::noinline]] static int cast(Root &root, const Left *left)
{
	auto *right = dynamic_cast<Right *>(&root);
	auto *bottom = static_cast<const Bottom *>(left);
	int Right::*unused = nullptr;
	short(Right::*member)[3] = &Right::right;
	int (Root::*method)() const = &Root::code;
	int got = (right->*member)[0] + (bottom->*method)() + (unused == nullptr);
	if (got > zero)
		std::raise(SIGSEGV);
	return got + bottom->id;
}

template <typename R> [[gnu::noinline]] static int ranged(R &&all, const std::map<std::string, std::pair<int, char>> &index)
{
	int total = 0;
	for (auto &&[name, entry] : index) {
		auto [count, letter] = entry;
		for (int x : all | std::views::filter([&](int x) { return x % 2 == count % 2; }) | std::views::transform([count = count](int x) { return x * count; })) {
			total += x;
			if (total > 20) {
				Bottom bottom;
				std::string_view part = std::string_view(name).substr(1);
				total += cast(bottom, &bottom) + static_cast<int>(part.size()) + letter;
			}
		}
	}
	return total;
}

int main(int argc, char **)
{
	Row<Cell, int, char, std::unique_ptr<double>> row{{Cell<int>{argc, 1}, Cell<char>{'x', 2}, Cell<std::unique_ptr<double>>{std::make_unique<double>(2.5), 3}}};
	Ring<Cell<short>, 4u> ring;
	ring.slots[2] = {static_cast<short>(argc + 4), 6};
	std::vector<int> numbers(6);
	std::iota(numbers.begin(), numbers.end(), argc);
	std::map<std::string, std::pair<int, char>> index{{"one", {1, 'o'}}, {"three", {3, 't'}}};
	int outer = 10;
	auto run = [&, scale = argc + 1](int depth) mutable {
		scale += depth;
		auto inner = [&outer, scale, tag = std::string("inner")](const Cell<short> &cell, int sum) {
			int mine = cell.value * scale + outer + static_cast<int>(tag.size());
			return mine > 1000 ? sum : mine;
		};
		int sum = ring.visit(inner, depth);
		return sum + ranged(numbers, index);
	};
	auto &[first, second, third] = row.boxes;
	int result = run(first.value + second.weight);
	std::printf("%d %f\n", result, *third.value);
}
