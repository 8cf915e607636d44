// A program that crashes with the containers of the standard library.
#include <any>
#include <array>
#include <bitset>
#include <chrono>
#include <complex>
#include <deque>
#include <forward_list>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <queue>
#include <set>
#include <span>
#include <stack>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#define KEEP(x) asm volatile("" : : "r"(&(x)) : "memory")

struct Point { int x, y; auto operator<=>(const Point &) const = default; };
struct Big { char name[40]; std::string label; };
struct Less { bool operator()(const std::string &a, const std::string &b) const { return a.size() < b.size() || a.size() == b.size() && a < b; } };
struct Hash { size_t operator()(const Point &p) const { return p.x * 31 + p.y; } };
static int triple(int x) { return 3 * x; }

__attribute__((noinline)) void crash(std::any &a, std::span<const int> view, std::string_view sv, std::optional<Point> maybe, std::pair<const int, std::string> &pair) {
  std::any small = 42, text = std::string("in an any"), none, big = Big{"big", "boxed"};
  std::bitset<5> five(0b10110);
  std::bitset<130> many;
  many.set(0).set(64).set(129);
  std::span<int, 2> fixed(const_cast<int *>(view.data()), 2);
  volatile int *volatile null = nullptr;
  KEEP(a); KEEP(view); KEEP(sv); KEEP(maybe); KEEP(small); KEEP(text); KEEP(none); KEEP(big); KEEP(five); KEEP(many); KEEP(fixed); KEEP(pair);
  *null = int(view.size() + sv.size());
  KEEP(a); KEEP(text); KEEP(big);
}

__attribute__((noinline)) void nested(const std::string &title) {
  std::map<std::string, std::vector<int>, Less> map{{"one", {1}}, {"two", {1, 2}}, {"zero", {}}};
  std::multimap<int, Point> multi{{1, {1, 2}}, {1, {3, 4}}};
  std::unordered_map<Point, std::string, Hash> places{{{1, 2}, "here"}, {{5, 6}, "there"}};
  std::unordered_set<std::string> words{"alpha", "beta"};
  std::unordered_multimap<int, int> several{{1, 2}, {1, 3}};
  std::set<Point> points{{1, 1}, {0, 5}};
  std::list<std::pair<int, double>> list{{1, 1.5}, {2, 2.5}};
  std::forward_list<char> letters{'a', 'b'};
  std::deque<std::string> lines{"first", "second"};
  std::variant<int, std::string, Point> either = Point{7, 8}, other = "text";
  std::tuple<int, std::string, std::tuple<char, bool>> tuple{1, "two", {'3', true}};
  std::array<std::array<short, 2>, 3> grid{{{1, 2}, {3, 4}, {5, 6}}};
  std::optional<std::vector<std::string>> lists{{"x", "yy"}}, nothing;
  std::shared_ptr<Big> shared = std::make_shared<Big>(), alias(shared);
  std::weak_ptr<Big> weak = shared;
  std::unique_ptr<int[]> numbers(new int[3]{1, 2, 3});
  std::unique_ptr<Point, void (*)(Point *)> deleter(new Point{9, 9}, [](Point *p) { delete p; });
  std::function<int(int)> plain = triple, bound = [&](int n) { return n + int(map.size()); }, empty;
  std::stack<int> stack({1, 2, 3});
  std::queue<short> queue({4, 5});
  std::priority_queue<int> heap({}, {3, 9, 4});
  std::vector<bool> bools{true, false, true, true};
  std::u16string utf16 = u"\u00e9t\u00e9";
  std::u32string utf32 = U"\U0001f600";
  std::u8string utf8 = u8"\u20ac";
  std::complex<double> complex(1, -2);
  std::chrono::milliseconds timeout{1500};
  std::reference_wrapper<const std::string> wrapped(title);
  std::vector<std::optional<int>> gaps{1, std::nullopt, 3};
  std::vector<std::unique_ptr<Point>> owners;
  owners.push_back(std::make_unique<Point>(Point{1, 0}));
  owners.push_back(nullptr);
  std::any any = Point{5, 5};
  std::pair<const int, std::string> pair(4, "four");
  std::vector<int> data{10, 20, 30};
  auto it = map.find("two");
  auto end = data.end();
  KEEP(multi); KEEP(places); KEEP(words); KEEP(several); KEEP(points); KEEP(list); KEEP(letters); KEEP(lines); KEEP(either); KEEP(other); KEEP(tuple); KEEP(grid);
  KEEP(lists); KEEP(nothing); KEEP(weak); KEEP(numbers); KEEP(deleter); KEEP(plain); KEEP(bound); KEEP(empty); KEEP(stack); KEEP(queue); KEEP(heap); KEEP(bools);
  KEEP(utf16); KEEP(utf32); KEEP(utf8); KEEP(complex); KEEP(timeout); KEEP(wrapped); KEEP(gaps); KEEP(owners); KEEP(it); KEEP(end); KEEP(alias);
  crash(any, data, title, Point{-1, -2}, pair);
  KEEP(grid); KEEP(complex); KEEP(timeout);
}

int main(int argc, char **) { nested(std::string(20, char('a' + argc))); }
