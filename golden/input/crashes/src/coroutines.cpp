// A scheduler with tasks that wait for each other, for a queue, and for nothing any more. Before it crashes, it prints
// what is true of each coroutine: the address of its frame, its function, the line at which it is suspended (0: it has
// finished), and the address of the coroutine that waits for it (0: none), in the order of their making.
#include <coroutine>

extern "C" {
int printf(const char *, ...);
int fflush(void *);
int atoi(const char *);
[[noreturn]] void abort();
}

struct Fact {
  void *frame;
  const char *function;
  int line;
  void *waiter;
};
Fact facts[10000];
int made;

void at(void *frame, int line) {
  for (int i = made; i-- > 0;) {
    if (facts[i].frame == frame) {
      facts[i].line = line;
      return;
    }
  }
}

template <class T> struct Task {
  struct promise_type {
    T value{};
    std::coroutine_handle<> waiter;
    int fact = made;
    Task get_return_object() {
      auto h = std::coroutine_handle<promise_type>::from_promise(*this);
      facts[made++].frame = h.address();
      return Task{h};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct Final {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> h) noexcept {
        facts[h.promise().fact].line = 0;
        if (auto waiter = h.promise().waiter) {
          facts[h.promise().fact].waiter = nullptr;
          return waiter;
        }
        return std::noop_coroutine();
      }
      void await_resume() noexcept {}
    };
    Final final_suspend() noexcept { return {}; }
    void return_value(T v) { value = v; }
    void unhandled_exception() { abort(); }
  };

  std::coroutine_handle<promise_type> handle;

  // A task is suspended at its beginning first: name says where it is.
  Task named(const char *function, int line) {
    Fact &f = facts[handle.promise().fact];
    f.function = function, f.line = line;
    return *this;
  }
  bool await_ready() { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
    handle.promise().waiter = h;
    facts[handle.promise().fact].waiter = h.address();
    return handle;
  }
  T await_resume() { return handle.promise().value; }
};

std::coroutine_handle<> queue[10000];
int queued;

// Queue suspends a coroutine until the scheduler takes it from the queue.
struct Queue {
  int line;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    at(h.address(), line);
    queue[queued++] = h;
  }
  int await_resume() { return queued; }
};

struct Pause {
  int line;
  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> h) {
    at(h.address(), line);
    queue[queued++] = h;
  }
  void await_resume() {}
};

// Self is the frame of the coroutine that waits for it, and does not suspend it.
struct Self {
  void *frame = nullptr;
  bool await_ready() { return false; }
  bool await_suspend(std::coroutine_handle<> h) {
    frame = h.address();
    return false;
  }
  void *await_resume() { return frame; }
};

Task<int> leaf(int id, int number) {
  int square = number * number;
  co_await Pause{__LINE__};
  square += id;
  int before = co_await Queue{__LINE__};
  co_return square + before;
}

Task<long> middle(int id, const char *name) {
  void *self = co_await Self{};
  long sum = 0;
  for (int i = 0; i < 3; i++) {
    auto child = leaf(id, i + 1).named("leaf", LEAF);
    at(self, __LINE__ + 1);
    sum += co_await child;
  }
  co_return sum + name[0];
}

Task<int> top(int id) {
  void *self = co_await Self{};
  if (id % 7 == 3) {
    co_await Pause{__LINE__};
  }
  auto child = middle(id, "middle").named("middle", MIDDLE);
  at(self, __LINE__ + 1);
  long v = co_await child;
  co_return int(v);
}

int main(int argc, char **argv) {
  int n = argc > 1 ? atoi(argv[1]) : 10;
  for (int i = 0; i < n; i++) {
    auto task = top(i).named("top", TOP);
    if (i % 5 != 4) {
      task.handle.resume();
    }
  }
  for (int i = 0; i < queued && i < 4 * n; i++) {
    if (i % 3 != 1) {
      queue[i].resume();
    }
  }
  for (int i = 0; i < made; i++) {
    printf("%p %s %d %p\n", facts[i].frame, facts[i].function, facts[i].line, facts[i].waiter);
  }
  fflush(nullptr);
  abort();
}
