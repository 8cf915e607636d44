// A coroutine of C++20 waits, which others await.
#include <coroutine>
#include <unistd.h>

struct Task {
	struct promise_type {
		std::coroutine_handle<> next;
		Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
		std::suspend_always initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
	bool await_ready() { return false; }
	std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) { return handle.promise().next = h, handle; }
	void await_resume() {}
};

static Task inner() {
	pause();
	co_return;
}

static Task outer() {
	co_await inner();
}

int main() {
	outer().handle.resume();
}
