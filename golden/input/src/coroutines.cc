// Coroutines: what the compiler makes of one function, and names of its parts.
#include <coroutine>

extern volatile int sink;

struct numbers {
	struct promise_type {
		int now = 0;
		numbers get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v) noexcept
		{
			now = v;
			return {};
		}
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
	bool next()
	{
		handle.resume();
		return !handle.done();
	}
};

numbers count(int from, int to)
{
	for (int i = from; i < to; i++) {
		if (i == sink)
			co_yield -i;
		co_yield i;
	}
}

int sum_of_numbers(int n)
{
	numbers all = count(1, n);
	int sum = 0;
	while (all.next())
		sum += all.handle.promise().now;
	all.handle.destroy();
	return sum;
}
