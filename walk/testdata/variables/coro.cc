// A program that crashes in a coroutine, and while an exception is in flight.
#include <coroutine>
#include <cstdio>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#define KEEP(x) asm volatile("" : : "r"(&(x)) : "memory")

template <typename T> struct Generator {
  struct promise_type {
    std::optional<T> current;
    int steps = 0;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T value) { current = std::move(value); steps++; return {}; }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
  bool next() { handle.resume(); return !handle.done(); }
  ~Generator() { if (handle) handle.destroy(); }
};

struct Failure : std::runtime_error {
  int code;
  Failure(const std::string &what, int code) : std::runtime_error(what), code(code) {}
};

struct Guard {
  std::string name;
  int level;
  ~Guard() {
    int active = std::uncaught_exceptions();
    std::string copy = name + "!";
    KEEP(copy);
    if (active > 0 && level == 2) *(volatile int *volatile)nullptr = active;
  }
};

Generator<std::string> words(const std::string prefix, int count) {
  std::string text = prefix;
  for (int i = 0; i < count; i++) {
    double weight = i * 1.5;
    text += std::to_string(i);
    co_yield text;
    KEEP(weight);
    if (i == 2) {
      Guard guard{"guard " + text, i};
      throw Failure("too many", i);
    }
  }
}

__attribute__((noinline)) int consume(Generator<std::string> generator, int limit) {
  int total = 0;
  std::string last;
  try {
    while (generator.next() && total < limit) {
      last = *generator.handle.promise().current;
      total += int(last.size());
    }
  } catch (const std::logic_error &e) {
    std::puts(e.what());
  }
  KEEP(last);
  return total;
}

int main(int argc, char **) {
  int limit = 100 * argc;
  try {
    return consume(words("w", 5), limit);
  } catch (const Failure &failure) {
    int code = failure.code;
    KEEP(code);
    return code;
  }
}
