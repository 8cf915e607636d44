// A C++ program with much debug information for .ci/bench: the same functions for hundreds of types.
// Compiled once for each UNIT from 0 on; unit 0 has main.
#include <algorithm>
#include <any>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

namespace bench {

constexpr int types = 40; // of a unit

template <int I> struct Key {
	int number;
	std::string text;
	bool operator<(const Key &o) const { return std::tie(number, text) < std::tie(o.number, o.text); }
	bool operator==(const Key &o) const { return number == o.number && text == o.text; }
};

template <int I> struct Hash {
	size_t operator()(const Key<I> &k) const { return k.number * I + std::hash<std::string>()(k.text); }
};

template <int I> size_t one(const std::string &text)
{
	std::map<Key<I>, std::vector<std::variant<int, std::string, Key<I>>>> lists;
	std::unordered_map<Key<I>, std::shared_ptr<std::set<Key<I>>>, Hash<I>> sets;
	std::function<size_t(const Key<I> &)> count = [&](const Key<I> &k) { return lists[k].size() + sets.count(k); };
	std::vector<std::pair<Key<I>, std::optional<std::any>>> all;
	for (int i = 0; i < 10; i++) {
		Key<I> k{i, text};
		lists[k].emplace_back(k);
		lists[k].emplace_back(i);
		sets.emplace(k, std::make_shared<std::set<Key<I>>>()).first->second->insert(k);
		all.emplace_back(k, std::any(k));
	}
	std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) { return b.first < a.first; });
	size_t sum = all.size();
	for (auto &[k, list] : lists)
		for (auto &x : list)
			sum += std::visit([](const auto &y) { return sizeof y; }, x) + count(k);
	return sum;
}

template <int... I> size_t each(const std::string &text, std::integer_sequence<int, I...>)
{
	return (one<UNIT * types + I>(text) + ...);
}

template <int Unit> size_t run(const std::string &text)
{
	std::regex word("([a-z]+)[0-9]*");
	return each(text, std::make_integer_sequence<int, types>()) + std::regex_match(text, word);
}

template size_t run<UNIT>(const std::string &);

} // namespace bench

#if UNIT == 0
int main(int, char **argv) { std::printf("%zu\n", bench::run<0>(argv[0])); }
#endif
