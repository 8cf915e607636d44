// Threads of C++ wait for a future, a condition and a latch of their own, and for each other.
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;

template <class F> static auto twice(F f) {
	return [f](auto &&...args) { return f(args...), f(args...); };
}

int main() {
	std::promise<int> never;
	auto shared = never.get_future().share();
	auto later = std::async(std::launch::async, [shared] { return shared.get() + 1; });
	std::function<void(int)> waits = twice([](int) {
		std::unique_lock lock(mutex);
		condition.wait(lock, [] { return false; });
	});
	std::vector<std::thread> threads;
	threads.emplace_back(waits, 1);
	threads.emplace_back([&] { later.wait(); });
	for (auto &t : threads)
		t.join();
}
