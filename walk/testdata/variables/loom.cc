// A program with virtual inheritance, pointers to members, exceptions in flight, containers of containers, lambdas in
// lambdas, structured bindings, and durations.
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace loom {

struct Thing {
	virtual ~Thing() = default;
	virtual int weight() const { return base; }
	int base = 1;
};
struct Left : virtual Thing {
	int left = 2;
	int weight() const override { return left; }
};
struct Right : virtual Thing {
	short right = 3;
};
struct Both final : Left, Right {
	std::string label = "both";
	int weight() const override { return left + right; }
};

enum class Mood : signed char { Calm = -1, Wild = 100 };

template <typename T, int N> struct Ring {
	T slots[N]{};
	int head : 5 = 3;
	unsigned full : 1 = 1;
	static constexpr int size = N;
};

using Value = std::variant<int, std::string, std::vector<double>, std::monostate>;

struct Job {
	std::string_view title;
	std::chrono::milliseconds took{};
	std::shared_ptr<Thing> thing;
	std::optional<Mood> mood;
	int (Both::*method)() const = &Both::weight;
	int Left::*field = &Left::left;
	std::tuple<int, char, double> parts{1, 'x', 2.5};
};

int *volatile nowhere;

[[gnu::noinline]] int burst(const std::map<std::string, Value> &values, Job &job, std::unordered_map<int, std::list<int>> byKey, Mood mood) noexcept
{
	int sum = 0;
	for (auto &[key, value] : values) {
		auto visit = [&](auto &&held) -> int {
			using T = std::decay_t<decltype(held)>;
			if constexpr (std::is_same_v<T, std::vector<double>>) {
				auto inner = [&sum, first = held.front()](int by) mutable {
					first += by;
					return *nowhere + sum + static_cast<int>(first);
				};
				return inner(3);
			} else if constexpr (std::is_same_v<T, std::string>) {
				return static_cast<int>(held.size());
			}
			return 1;
		};
		sum += std::visit(visit, value);
	}
	return sum + static_cast<int>(byKey.size()) + job.thing->weight() + static_cast<int>(mood);
}

struct Guard {
	const char *name;
	int depth;
	~Guard()
	{
		if (depth > 1)
			std::printf("%s %d\n", name, depth);
	}
};

[[gnu::noinline]] int weave(std::deque<int> queue, const std::function<int(int)> &twist, Ring<Mood, 4> ring)
{
	Guard guard{"weave", static_cast<int>(queue.size())};
	Both both;
	Thing &thing = both;
	const Right *right = &both;
	std::map<std::string, Value> values{{"a", 1}, {"b", std::string("a long text that is not inside of the string")}, {"c", std::vector<double>{1.5, 2.5}}};
	std::unordered_map<int, std::list<int>> byKey{{1, {1, 2}}, {9, {}}};
	Job job{"title", std::chrono::milliseconds(1500), std::make_shared<Both>(), Mood::Wild};
	try {
		if (twist(queue.back()) > 3)
			throw std::runtime_error("in flight");
	} catch (const std::exception &e) {
		auto [low, high] = std::pair{queue.front(), queue.back()};
		int code = burst(values, job, byKey, ring.slots[1]);
		return code + low + high + (e.what() != nullptr) + thing.weight() + right->right;
	}
	return job.parts == std::tuple{1, 'y', 2.5};
}

}

int main(int argc, char **)
{
	std::deque<int> queue;
	for (int i = 0; i < 200; i++)
		queue.push_back(i * argc);
	int offset = 7;
	loom::Ring<loom::Mood, 4> ring;
	ring.slots[1] = loom::Mood::Calm;
	auto up = std::make_unique<int>(3);
	std::printf("%d\n", loom::weave(queue, [&offset, up = up.get()](int n) { return n + offset + *up; }, ring));
}
