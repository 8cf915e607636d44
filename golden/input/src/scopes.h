#pragma once
extern volatile int sink;
extern "C" int outside(int);

namespace outer {
inline namespace v1 {
class Base {
public:
	Base();
	virtual ~Base();
	virtual int value() const;
	int operator()(int) const;
	Base &operator+=(const Base &);
	explicit operator bool() const;
	int operator[](int i) const { return i + member; }
	static int count();

protected:
	int member;
};

template <typename T, int N> struct Box {
	T data[N];
	T sum() const
	{
		T t = 0;
		for (auto v : data)
			t += v;
		return t;
	}
	template <typename U> U as(U x) const { return x + U(sum()); }
};
} // namespace v1
} // namespace outer
