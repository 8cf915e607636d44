// Fibers of Boost: one waits in a call of another one.
#include <boost/context/fiber.hpp>
#include <unistd.h>

namespace ctx = boost::context;

int main() {
	ctx::fiber outer{[](ctx::fiber &&home) {
		ctx::fiber inner{[](ctx::fiber &&back) {
			pause();
			return std::move(back);
		}};
		inner = std::move(inner).resume();
		return std::move(home);
	}};
	outer = std::move(outer).resume();
}
