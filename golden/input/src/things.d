// D: templates, operators, nested functions, delegates, a class's constructor and destructor, properties.
module pkg.things;
struct Point { int x, y;
	Point opBinary(string op : "+")(Point b) { return Point(x + b.x, y + b.y); }
	@property int sum() const { return x + y; } }
T best(T)(T a, T b) { return a > b ? a : b; }
class Base { int n; this(int n) { this.n = n; } ~this() { n = 0; } int get() { return n; } }
class Derived : Base { this() { super(3); } override int get() { return best(n, 2) * 2; } }
int outer(int a) { int nested(int b) { return a * b; } auto twice = (int c) => nested(c) + a; return twice(a) + nested(2); }
extern (C) int forC(int a) { return outer(a); }
extern (C++) int forCpp(int a) { return best(a, 2) + cast(int) best(1.5, a * 1.0); }
unittest { assert(outer(1)); }
