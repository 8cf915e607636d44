// A C++ program for `make bench`, not a fixture: it exists for its debug
// information. Header-only parts of Boost and the standard library's ranges
// give deep inlining, long names, lambdas and local classes. PART is 1 to 4:
// each is one unit, as four files would be. Built and linked, they run.
#include <algorithm>
#include <iostream>
#include <map>
#include <numeric>
#include <ranges>
#include <string>
#include <vector>

bool expressions(const std::string &text);
void tables();
void areas();

#if PART == 1
#include <boost/multiprecision/cpp_bin_float.hpp>
#include <boost/multiprecision/cpp_int.hpp>
#include <boost/spirit/include/phoenix.hpp>
#include <boost/spirit/include/qi.hpp>
#include <boost/variant.hpp>

namespace qi = boost::spirit::qi;
namespace mp = boost::multiprecision;

// A grammar whose value is a tree of variants.
namespace expr {
struct nil {};
struct binary;
struct negated;
using node = boost::variant<nil, double, std::string, boost::recursive_wrapper<negated>, boost::recursive_wrapper<binary>>;
struct negated {
	node of;
};
struct binary {
	char op;
	node left, right;
};

template <typename Iterator>
struct grammar : qi::grammar<Iterator, node(), qi::space_type> {
	grammar() : grammar::base_type(sum) {
		namespace px = boost::phoenix;
		auto join = [](char op) {
			return [op](node &left, const node &right) { left = binary{op, left, right}; };
		};
		auto add = join('+'), sub = join('-'), mul = join('*'), div = join('/');
		sum = term[qi::_val = qi::_1] >> *(('+' >> term[px::bind(add, qi::_val, qi::_1)]) | ('-' >> term[px::bind(sub, qi::_val, qi::_1)]));
		term = factor[qi::_val = qi::_1] >> *(('*' >> factor[px::bind(mul, qi::_val, qi::_1)]) | ('/' >> factor[px::bind(div, qi::_val, qi::_1)]));
		factor = qi::double_[qi::_val = qi::_1] | name[qi::_val = qi::_1] | ('(' >> sum[qi::_val = qi::_1] >> ')') |
			('-' >> factor[px::bind([](node &n, const node &of) { n = negated{of}; }, qi::_val, qi::_1)]);
		name = qi::lexeme[qi::alpha >> *(qi::alnum | qi::char_('_'))];
	}
	qi::rule<Iterator, node(), qi::space_type> sum, term, factor;
	qi::rule<Iterator, std::string(), qi::space_type> name;
};

// evaluate computes the tree in any kind of number.
template <typename Number>
struct evaluate : boost::static_visitor<Number> {
	const std::map<std::string, Number> &names;
	explicit evaluate(const std::map<std::string, Number> &n) : names(n) {}
	Number operator()(nil) const { return Number(0); }
	Number operator()(double d) const { return Number(static_cast<long>(d)); }
	Number operator()(const std::string &s) const {
		auto found = names.find(s);
		return found == names.end() ? Number(1) : found->second;
	}
	Number operator()(const negated &n) const { return -boost::apply_visitor(*this, n.of); }
	Number operator()(const binary &b) const {
		Number l = boost::apply_visitor(*this, b.left), r = boost::apply_visitor(*this, b.right);
		switch (b.op) {
		case '+': return l + r;
		case '-': return l - r;
		case '*': return l * r;
		}
		return r == 0 ? Number(0) : Number(l / r);
	}
};

template <typename Number>
void show(const node &tree) {
	std::map<std::string, Number> names{{"x", Number(7)}, {"y", Number(11)}};
	std::cout << boost::apply_visitor(evaluate<Number>(names), tree) << '\n';
}
} // namespace expr

bool expressions(const std::string &text) {
	expr::node tree;
	auto from = text.begin();
	expr::grammar<std::string::const_iterator> grammar;
	if (!qi::phrase_parse(from, text.end(), grammar, qi::space, tree) || from != text.end()) return false;
	expr::show<double>(tree);
	expr::show<mp::cpp_int>(tree);
	expr::show<mp::cpp_bin_float_50>(tree);
	return true;
}

#endif

#if PART == 2
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/ordered_index.hpp>
#include <boost/multi_index_container.hpp>

namespace mi = boost::multi_index;

// A table with several indices.
struct module_entry {
	int id;
	std::string name;
	unsigned long base;
};
using table = mi::multi_index_container<module_entry, mi::indexed_by<
	mi::ordered_unique<mi::member<module_entry, int, &module_entry::id>>,
	mi::hashed_non_unique<mi::member<module_entry, std::string, &module_entry::name>>,
	mi::ordered_non_unique<mi::member<module_entry, unsigned long, &module_entry::base>, std::greater<>>>>;

void tables() {
	table modules;
	for (int i = 0; i < 100; i++) modules.insert({i, "module" + std::to_string(i % 13), 0x1000ul * ((i * 37) % 101)});
	unsigned long sum = 0;
	for (const auto &m : modules.get<2>()) sum = sum * 31 + m.id;
	std::cout << sum << ' ' << modules.get<1>().count("module5") << '\n';
}
#endif

#if PART == 3
#include <boost/geometry.hpp>
#include <boost/geometry/geometries/geometries.hpp>

namespace bg = boost::geometry;

// Polygons cut each other.
template <typename Coordinate>
double common_area() {
	using point = bg::model::d2::point_xy<Coordinate>;
	using polygon = bg::model::polygon<point>;
	polygon a, b;
	bg::read_wkt("POLYGON((0 0,0 10,10 10,10 0,0 0))", a);
	bg::read_wkt("POLYGON((5 5,5 15,15 15,15 5,5 5))", b);
	std::vector<polygon> both, either;
	bg::intersection(a, b, both);
	bg::union_(a, b, either);
	double area = 0;
	for (const auto &p : both) area += static_cast<double>(bg::area(p));
	for (const auto &p : either) area -= static_cast<double>(bg::area(p));
	return area;
}

void areas() { std::cout << common_area<double>() << '\n'; }
#endif

#if PART == 4
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/dijkstra_shortest_paths.hpp>

template <typename Weight>
Weight farthest(int n) {
	using namespace boost;
	using graph = adjacency_list<vecS, vecS, directedS, no_property, property<edge_weight_t, Weight>>;
	graph g(n);
	for (int i = 0; i + 1 < n; i++) {
		add_edge(i, i + 1, Weight(i % 7 + 1), g);
		add_edge(i, (i * i + 3) % n, Weight(i % 5 + 2), g);
	}
	std::vector<Weight> distance(n);
	dijkstra_shortest_paths(g, vertex(0, g), distance_map(make_iterator_property_map(distance.begin(), get(vertex_index, g))));
	return *std::max_element(distance.begin(), distance.end());
}

template <typename T>
T pipeline(T limit) {
	auto odd = [](T v) { return v % 2 != 0; };
	auto parts = std::views::iota(T(1), limit) | std::views::filter(odd) | std::views::transform([](T v) { return v * v; }) |
		std::views::drop_while([](T v) { return v < 9; }) | std::views::take(100) | std::views::reverse;
	std::vector<T> all;
	std::ranges::copy(parts, std::back_inserter(all));
	std::ranges::stable_sort(all, std::ranges::greater{}, [](T v) { return v % 17; });
	return std::accumulate(all.begin(), all.end(), T(0));
}

int main(int argc, char **argv) {
	if (!expressions(argc > 1 ? argv[1] : "(x + 2) * y - 30 / (4 - x)")) return 1;
	tables();
	areas();
	std::cout << farthest<int>(500) << ' ' << farthest<double>(500) << '\n';
	std::cout << pipeline(1000) << ' ' << pipeline(1000L) << ' ' << pipeline(1000u) << '\n';
	return 0;
}
#endif
