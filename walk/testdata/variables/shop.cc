// A program that crashes with values of many types, in optimized code and in threads.
#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <unistd.h>
#include <unordered_map>
#include <variant>
#include <vector>

namespace shop {
enum class Status : unsigned char { Open = 1, Paid = 2 };
struct Money { long cents; char currency[4]; };
struct Item { std::string name; Money price; unsigned count : 7; bool fragile : 1; };
struct Shape { virtual ~Shape() = default; virtual double area() const = 0; int id = 3; };
struct Circle : Shape {
  double r;
  explicit Circle(double r) : r(r) {}
  double area() const override { return 3 * r * r; }
};
struct VBase { int base = 77; virtual ~VBase() = default; };
struct Left : virtual VBase { int left = 1; };
struct Right : virtual VBase { int right = 2; };
struct Diamond : Left, Right { int own = 9; };
using Payment = std::variant<std::monostate, int, std::string, Money>;

struct Order {
  int id = 42;
  std::optional<std::string> note = "leave at the door";
  std::optional<double> discount;
  Payment payment = Money{1999, "EUR"};
  std::deque<Item> items;
  std::map<std::string, int> stock{{"apple", 3}, {"pear", 5}, {"plum", 0}};
  std::unordered_map<int, std::string> names{{1, "one"}, {2, "two"}};
  std::set<int> tags{3, 1, 2};
  std::list<short> steps{1, -2, 3};
  std::function<int(int)> price;
  std::unique_ptr<Shape> shape = std::make_unique<Circle>(1.5);
  std::shared_ptr<Item> shared = std::make_shared<Item>(Item{"shared", {5, "CHF"}, 1, true});
  std::array<float, 3> point{1, 2.5, -0.f};
  std::vector<bool> seen{true, false, true};
  std::tuple<int, std::string, double> row{1, "row", 2.25};
  std::wstring wide = L"wide";
  Status status = Status::Paid;
  Diamond diamond;
};

thread_local int depth = 5;
std::mutex mutex;

__attribute__((noinline)) void crash(Order &o, std::string_view why, const std::vector<Item> &v, std::tuple<int, float> pair) {
  std::lock_guard<std::mutex> guard(mutex);
  auto it = o.stock.find("pear");
  static int counter = 40;
  counter += v.size();
  volatile int *volatile null = nullptr;
  auto sum = [&o, why, n = counter](int x) { return o.id + x + n + int(why.size()); };
  depth += sum(it->second);
  *null = depth + counter + std::get<0>(pair);
  asm volatile("" : : "r"(&o), "r"(&sum), "r"(&v), "r"(&why), "r"(&it));
}

template <typename T, int N> __attribute__((noinline)) void middle(T a, const T (&all)[N], Order &&o, std::unique_ptr<Shape> own) {
  std::vector<Item> items(o.items.begin(), o.items.end());
  int raw[3] = {7, 8, int(a)};
  int variable[items.size() + 1];
  for (size_t i = 0; i <= items.size(); i++) variable[i] = i * i;
  long double wide = 2.5L + all[0];
  __int128 big = __int128(o.id) << 70;
  asm volatile("" : : "r"(variable), "r"(&wide), "r"(&big), "r"(raw) : "memory");
  crash(o, "because", items, {raw[2], 1.5f});
  asm volatile("" : : "r"(&own), "r"(variable), "r"(&wide), "r"(&big), "r"(raw), "r"(&items));
}

struct Queue {
  std::mutex m;
  std::condition_variable ready;
  bool stop = false;
  __attribute__((noinline)) void work(int n) {
    std::unique_lock<std::mutex> lock(m);
    double partial = n * 1.5;
    ready.wait(lock, [this] { return stop; });
    asm volatile("" : : "x"(partial), "r"(n));
  }
};
}

int main(int argc, char **) {
  using namespace shop;
  Queue queue;
  std::thread first(&Queue::work, &queue, 10), second(&Queue::work, &queue, 11);
  usleep(100000);
  Order o;
  for (int i = 0; i < 20; i++) o.items.push_back(Item{"item" + std::to_string(i) + std::string(i == 3 ? 40 : 0, 'x'), {i * 100L, "USD"}, unsigned(i), i % 2 == 0});
  o.items.pop_front();
  o.price = [argc](int x) { return x * argc; };
  const short all[2] = {5, 6};
  middle<short, 2>(3, all, std::move(o), std::make_unique<Circle>(2));
}
