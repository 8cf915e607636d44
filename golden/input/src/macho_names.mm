// Names of C++ and Objective-C, inlined calls, and a section of data.
namespace sums {
template <typename T> struct Box {
	T value;
	__attribute__((noinline)) T add(T by) { return value += by; }
};
inline int half(int v) { return v / 2 + 1; }
__attribute__((noinline)) int both(int v) { Box<int> box{half(v)}; return box.add(half(v + 2)); }
} // namespace sums

extern "C" void outside(void *);
extern "C" void ___chkstk_darwin() {}
volatile int input = 1;

__attribute__((objc_root_class)) @interface Thing
+ (int)weigh:(int)v with:(int)w;
@end
@implementation Thing
+ (int)weigh:(int)v with:(int)w { outside(&v); return v + w; }
@end

extern "C" int main(int n, char **) { return sums::both(n) + input; }
