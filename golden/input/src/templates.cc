// A program of templates for the comparison of every line and inline with other tools: g++ -std=c++20 -O2 -g. Not a
// fixture of its own, its debug information is megabytes.
#include <algorithm>
#include <any>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <deque>
#include <functional>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <queue>
#include <random>
#include <ranges>
#include <regex>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shapes {
struct Circle { double r; };
struct Rect { double w, h; };
struct Poly { std::vector<std::pair<double, double>> points; };
using Shape = std::variant<Circle, Rect, Poly>;

template <class... Fs> struct Overloaded : Fs... { using Fs::operator()...; };
template <class... Fs> Overloaded(Fs...) -> Overloaded<Fs...>;

double area(const Shape &s)
{
	return std::visit(Overloaded{
		[](const Circle &c) { return 3.14159 * c.r * c.r; },
		[](const Rect &r) { return r.w * r.h; },
		[](const Poly &p) {
			double a = 0;
			for (std::size_t i = 0, n = p.points.size(); i < n; i++) {
				auto [x1, y1] = p.points[i];
				auto [x2, y2] = p.points[(i + 1) % n];
				a += x1 * y2 - x2 * y1;
			}
			return std::abs(a) / 2;
		}}, s);
}
} // namespace shapes

namespace {
template <typename T> concept Number = std::integral<T> || std::floating_point<T>;

template <Number T, std::size_t N> struct Matrix {
	std::array<std::array<T, N>, N> v{};
	static Matrix identity()
	{
		Matrix m;
		for (std::size_t i = 0; i < N; i++)
			m.v[i][i] = 1;
		return m;
	}
	friend Matrix operator*(const Matrix &a, const Matrix &b)
	{
		Matrix out;
		for (std::size_t i = 0; i < N; i++)
			for (std::size_t j = 0; j < N; j++)
				for (std::size_t k = 0; k < N; k++)
					out.v[i][j] += a.v[i][k] * b.v[k][j];
		return out;
	}
	Matrix power(unsigned n) const
	{
		if (n == 0)
			return identity();
		auto half = power(n / 2);
		return n % 2 ? half * half * *this : half * half;
	}
};

class Tracked {
public:
	explicit Tracked(std::string name) : name_(std::move(name)) { ++alive(); }
	Tracked(const Tracked &o) : name_(o.name_) { ++alive(); }
	~Tracked() { --alive(); }
	const std::string &name() const & { return name_; }
	std::string name() && { return std::move(name_); }
	static int &alive()
	{
		static int n = 0;
		return n;
	}

private:
	std::string name_;
};

struct ParseError : std::runtime_error {
	std::size_t where;
	ParseError(const std::string &m, std::size_t w) : std::runtime_error(m), where(w) {}
};

// A small expression parser: recursion, exceptions, string_view.
class Parser {
	std::string_view in_;
	std::size_t at_ = 0;

	char peek() const { return at_ < in_.size() ? in_[at_] : '\0'; }
	bool eat(char c)
	{
		if (peek() != c)
			return false;
		at_++;
		return true;
	}
	long number()
	{
		long v = 0;
		auto [end, err] = std::from_chars(in_.data() + at_, in_.data() + in_.size(), v);
		if (err != std::errc{})
			throw ParseError("number expected", at_);
		at_ = end - in_.data();
		return v;
	}
	long atom()
	{
		if (eat('(')) {
			long v = sum();
			if (!eat(')'))
				throw ParseError("')' expected", at_);
			return v;
		}
		return eat('-') ? -atom() : number();
	}
	long product()
	{
		long v = atom();
		for (;;) {
			if (eat('*'))
				v *= atom();
			else if (eat('/')) {
				long d = atom();
				if (d == 0)
					throw ParseError("division by zero", at_);
				v /= d;
			} else
				return v;
		}
	}
	long sum()
	{
		long v = product();
		for (;;) {
			if (eat('+'))
				v += product();
			else if (eat('-'))
				v -= product();
			else
				return v;
		}
	}

public:
	explicit Parser(std::string_view s) : in_(s) {}
	long parse()
	{
		long v = sum();
		if (at_ != in_.size())
			throw ParseError("rest", at_);
		return v;
	}
};

template <typename Tuple, typename F, std::size_t... I>
void each_of(Tuple &&t, F &&f, std::index_sequence<I...>)
{
	(f(std::get<I>(std::forward<Tuple>(t))), ...);
}

template <typename... Ts> std::string joined(const std::tuple<Ts...> &t)
{
	std::ostringstream out;
	each_of(t, [&out](const auto &v) { out << v << ';'; }, std::index_sequence_for<Ts...>{});
	return out.str();
}

std::map<std::string, int> count_words(const std::string &text)
{
	std::map<std::string, int> n;
	static const std::regex word("([a-z]+)(-[a-z]+)*|[0-9]{2,}", std::regex::icase);
	for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i)
		++n[(*i)[0].str()];
	return n;
}

long ranges_sum(const std::vector<int> &v)
{
	auto squares = v | std::views::filter([](int x) { return x % 3 != 0; }) | std::views::transform([](int x) { return long(x) * x; })
		| std::views::take(50) | std::views::reverse;
	long s = 0;
	for (long x : squares)
		s = s * 31 + x;
	std::vector<int> copy(v);
	std::ranges::sort(copy, std::greater{}, [](int x) { return x ^ 5; });
	return s + *std::ranges::max_element(copy);
}

struct Node {
	int key;
	std::unique_ptr<Node> left, right;
	void insert(int k)
	{
		auto &side = k < key ? left : right;
		if (side)
			side->insert(k);
		else
			side = std::make_unique<Node>(Node{k, nullptr, nullptr});
	}
	template <typename F> void walk(F &&f) const
	{
		if (left)
			left->walk(f);
		f(key);
		if (right)
			right->walk(f);
	}
};

std::function<int(int)> compose(std::vector<std::function<int(int)>> fs)
{
	return [fs = std::move(fs)](int v) {
		return std::accumulate(fs.begin(), fs.end(), v, [](int a, const auto &f) { return f(a); });
	};
}

int guarded(const std::string &s)
{
	struct Local {
		Tracked t{"local"};
		int len() const { return int(t.name().size()); }
	} local;
	try {
		return int(Parser(s).parse()) + local.len();
	} catch (const ParseError &e) {
		std::cerr << e.what() << " at " << e.where << '\n';
		return -1;
	} catch (const std::exception &) {
		return -2;
	} catch (...) {
		throw;
	}
}

template <int N> constexpr long fib()
{
	if constexpr (N < 2)
		return N;
	else
		return fib<N - 1>() + fib<N - 2>();
}

long threads(int n)
{
	std::mutex m;
	long total = 0;
	std::vector<std::thread> ts;
	for (int i = 0; i < n; i++)
		ts.emplace_back([&m, &total, i] {
			std::lock_guard lock(m);
			total += i;
		});
	for (auto &t : ts)
		t.join();
	return total + std::async(std::launch::deferred, [](long v) { return v * 2; }, total).get();
}
} // namespace

int main(int argc, char **argv)
{
	std::vector<int> v(200 + argc);
	std::iota(v.begin(), v.end(), 1);
	std::shuffle(v.begin(), v.end(), std::mt19937(42));
	std::cout << ranges_sum(v) << '\n' << fib<20>() << '\n';

	std::vector<shapes::Shape> all{shapes::Circle{2}, shapes::Rect{3, 4}, shapes::Poly{{{0, 0}, {4, 0}, {4, 3}}}};
	for (const auto &s : all)
		std::cout << shapes::area(s) << '\n';

	for (auto &[w, n] : count_words("a tale of two well-known cities, 1984 and again a tale"))
		std::cout << w << '=' << n << ' ';
	std::cout << joined(std::tuple{1, "two", 3.0, std::string("four")}) << '\n';

	Node root{100, nullptr, nullptr};
	for (int x : v)
		root.insert(x);
	std::set<int> seen;
	root.walk([&seen](int k) { seen.insert(k); });

	std::unordered_map<std::string, std::deque<std::optional<int>>> table;
	for (int i = 0; i < 20; i++)
		table["k" + std::to_string(i % 5)].push_back(i % 2 ? std::optional<int>(i) : std::nullopt);
	std::priority_queue<std::pair<int, std::string>> queue;
	for (auto &[k, d] : table)
		queue.emplace(int(std::ranges::count_if(d, [](auto &o) { return o.has_value(); })), k);
	while (!queue.empty()) {
		std::cout << queue.top().second << ' ';
		queue.pop();
	}

	auto f = compose({[](int x) { return x + 1; }, [k = argc](int x) { return x * k; }, std::negate<int>{}});
	Matrix<long, 3> m{{{{1, 1, 0}, {1, 0, 1}, {0, 1, 1}}}};
	Matrix<double, 2> d{{{{0.5, 1}, {1, 0.25}}}};
	std::cout << f(3) << ' ' << m.power(10).v[0][0] << ' ' << d.power(5).v[1][1] << ' ' << threads(3) << '\n';

	std::any any = std::string("any");
	std::list<std::shared_ptr<Tracked>> kept;
	kept.push_back(std::make_shared<Tracked>(std::any_cast<std::string>(any)));
	for (int i = 1; i < argc; i++)
		std::cout << guarded(argv[i]) << '\n';
	return guarded("(1+2)*-3") + Tracked::alive();
}
