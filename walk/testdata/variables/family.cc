// A program that crashes with classes: bases, virtual bases, members of members, references and lambdas.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#define KEEP(x) asm volatile("" : : "r"(&(x)) : "memory")

namespace zoo {
struct Named { std::string name; virtual ~Named() = default; virtual int legs() const { return 0; } };
struct Aged { virtual ~Aged() = default; unsigned age : 7 = 12, old : 1 = 0; };
struct Root { int root = 1000; virtual ~Root() = default; };
struct Left : virtual Root { int left = 1; };
struct Right : virtual Root { int right = 2; };
struct Bottom : Left, Right { int bottom = 3; };
struct Empty {};
struct Cat : Named, Aged, private Empty {
  enum class Mood : signed char { Bad = -1, Fine, Good } mood = Mood::Good;
  static inline int count = 8;
  int Cat::*field = nullptr;
  int lives = 9;
  union { long as_long; char as_chars[8]; };
  [[no_unique_address]] Empty nothing;
  mutable int seen = 0;
  int legs() const override;
  int speak(int times) &;
};
template <typename T, int N, T... Rest> struct Fixed {
  T values[N]{Rest...};
  template <typename F> __attribute__((noinline)) T each(F &&f) const {
    T total{};
    for (const T &value : values) { T now = f(value); total += now; }
    return total;
  }
};
template <typename... A> __attribute__((noinline)) int gather(const char *what, A &&...all) {
  int n = sizeof...(all);
  auto sum = (0 + ... + int(all));
  KEEP(n);
  KEEP(what);
  return sum + n;
}
struct Record { int id; double score; std::string tag; };
__attribute__((noinline)) Record made(int id) {
  Record result{id, id * 0.5, "tag"};
  result.tag += std::to_string(id);
  KEEP(result);
  return result;
}
int Cat::legs() const {
  auto look = [this, &m = mood, extra = lives + 1](auto more) mutable {
    auto inner = [*this, more] {
      volatile int *volatile null = nullptr;
      *null = lives + more;
      return seen;
    };
    extra += more;
    KEEP(inner);
    return inner() + extra + int(m);
  };
  return look(5) + look('c');
}
int Cat::speak(int times) & {
  auto [id, score, tag] = made(times);
  auto &&[first, second] = std::pair<int, const char *>(4, "four");
  int (Named::*method)() const = &Named::legs;
  int Cat::*member = &Cat::lives;
  int &alias = lives;
  const std::string &title = name;
  int &&moved = times + 1;
  int(&legs_of)(const char *, int &&, char &&, bool &&) = gather<int, char, bool>;
  Mood mood = this->mood;
  Fixed<int, 3, 1, 2, 3> fixed;
  std::vector<Record> records;
  for (auto i : {3, 4}) records.emplace_back(made(i));
  int total = fixed.each([&](int x) { return x + alias; });
  KEEP(method); KEEP(member); KEEP(mood); KEEP(fixed); KEEP(tag); KEEP(first); KEEP(second); KEEP(title); KEEP(records);
  total += (this->*method)() + legs_of("x", 1, 'y', true);
  KEEP(moved);
  KEEP(score);
  return total + id;
}
}

__attribute__((noinline)) int use(zoo::Root &root, const zoo::Named *named, zoo::Cat &&cat) {
  zoo::Bottom *down = dynamic_cast<zoo::Bottom *>(&root);
  zoo::Right &side = *down;
  zoo::Bottom copy = *down;
  int before = side.right;
  KEEP(copy);
  KEEP(named);
  return cat.speak(before) + copy.root;
}

int main(int argc, char **argv) {
  zoo::Bottom bottom;
  zoo::Cat cat;
  cat.name = argc > 1 ? argv[1] : "Tom";
  cat.as_long = 0x414243;
  int result = use(bottom, &cat, std::move(cat));
  KEEP(bottom);
  return result;
}
