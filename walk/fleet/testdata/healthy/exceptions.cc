// Waits in a destructor that an exception has called, in a handler of another one, with a third one in flight.
#include <exception>
#include <stdexcept>
#include <string>
#include <unistd.h>

struct Waits {
	~Waits() {
		if (std::uncaught_exceptions() > 0)
			pause();
	}
};

[[gnu::noinline]] static int thrower(int n) {
	Waits w;
	if (n == 0)
		throw std::runtime_error("here");
	return thrower(n - 1) + 1;
}

[[gnu::noinline]] static int handles(int n) {
	try {
		throw n;
	} catch (int &caught) {
		return thrower(caught);
	}
}

int main() {
	try {
		return handles(3);
	} catch (std::exception &e) {
		return std::string(e.what()).size();
	}
}
