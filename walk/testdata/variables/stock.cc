// Values of the standard library in optimized code: variant, map, function, shared_ptr, deque, list, and those in them.
#include <csignal>
#include <cstdio>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

struct Part { int number; std::string name; std::optional<double> price; };
using Value = std::variant<std::monostate, int, std::string, std::vector<int>, std::shared_ptr<Part>>;

struct Order {
	std::deque<Part> parts;
	std::list<Value> values;
	std::map<int, std::string> names;
	std::unordered_map<std::string, int> counts;
	std::function<int(int)> price;
	std::weak_ptr<Part> best;
	std::set<char> letters;
	std::vector<bool> flags;
	std::multimap<int, Value> more;
	std::forward_list<int> chain;
	std::priority_queue<int> queue;
};

volatile int zero;

[[gnu::noinline]] static int visit(const Value &value, Order &order, int depth)
{
	int weight = depth * 3;
	return std::visit([&](const auto &x) -> int {
		using T = std::decay_t<decltype(x)>;
		if constexpr (std::is_same_v<T, std::shared_ptr<Part>>) {
			std::unique_ptr<Part> copy = std::make_unique<Part>(*x);
			int paid = order.price(copy->number + weight);
			if (paid > zero)
				std::raise(SIGSEGV);
			return paid + copy->number;
		} else if constexpr (std::is_same_v<T, std::vector<int>>) {
			int sum = 0;
			for (int i : x)
				sum += i;
			return sum + weight;
		} else if constexpr (std::is_same_v<T, std::string>)
			return static_cast<int>(x.size());
		else
			return weight;
	}, value);
}

[[gnu::noinline]] static int total(Order &order, const std::string &title, std::pair<int, char> key)
{
	int sum = key.first;
	for (auto it = order.values.begin(); it != order.values.end(); ++it) {
		const Value &value = *it;
		sum += visit(value, order, sum);
	}
	for (const auto &[number, name] : order.names)
		sum += number + static_cast<int>(name.size() + title.size());
	return sum;
}

int main(int argc, char **)
{
	auto part = std::make_shared<Part>(Part{argc + 1, "a bolt of a length that is not short", 2.5});
	Order order;
	for (int i = 0; i < 20; i++)
		order.parts.push_back(Part{i, "p" + std::to_string(i), i % 2 ? std::optional<double>(i) : std::nullopt});
	order.parts.pop_front();
	order.values = {Value{}, Value{argc + 4}, Value{"text"}, Value{std::vector<int>{1, 2, 3}}, Value{part}};
	order.names = {{3, "three"}, {1, "one"}};
	order.counts = {{"x", 1}, {"y", 2}};
	order.price = [part, factor = argc + 2](int n) { return n * factor + part->number; };
	order.best = part;
	order.letters = {'b', 'a'};
	order.flags = {true, false, true};
	order.more.emplace(1, Value{5});
	order.chain = {4, 5};
	order.queue.push(8);
	std::printf("%d\n", total(order, "order", {argc, 'k'}));
}
