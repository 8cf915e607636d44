// Names of Microsoft's scheme, as clang writes them: each form of a type, of a template argument and of a name that it
// has, and with -DALL=1 each of the types with each other in functions of classes.

using size = decltype(sizeof 0);

struct A { int m; void f(A *); virtual void g(); static int s; };
struct B : virtual A { void h(B *); virtual int k(int) const; };
struct D : A, B { ~D(); void g() override; };
enum E1 { e1 };
enum class E2 : unsigned char { x };
union U { int a; };
class K { public: int a; constexpr K(int a) : a(a) {} private: static void p(); protected: static void q(); virtual void r(); };
namespace n1 { inline namespace n2 { struct Q {}; void w(Q, Q *, Q &, const Q &, Q (*)(Q)) {} } template<class T> struct W {}; }
namespace { struct S { int y; }; __attribute__((used)) void hidden(S, S *, n1::Q, S &) {} }

void A::f(A *) {}
void A::g() {}
int A::s;
void B::h(B *) {}
int B::k(int) const { return 0; }
D::~D() {}
void D::g() {}
void K::p() {}
void K::q() {}
void K::r() {}

// Qualifiers, references, pointers, arrays.
void qualified(int *__restrict, int *const, volatile int *, const volatile int *, int *const volatile *) {}
void unaligned(__unaligned int *, const __unaligned A *) {}
void references(int &&, const B &&, int (&)[3], const int (&&)[3][4], int (*)[5]) {}
void functions(void (*)(), void (*)() noexcept, int (&)(int, ...), void (**)(char), void (*const *)(A *)) {}
void members(int A::*, void (A::*)(A *), void (A::*const)() const, int (B::*)(int) const volatile, const int A::*) {}
void (*returns(int))(char) { return 0; }
void (A::*returnsMember())(int) { return 0; }
int (*returnsArray())[3] { return 0; }
const A constant() { return *(A *)0; }
int variadic(const char *, ...) { return 0; }
void many(A, B *, D &, E1, E2, U, K, A *, B **, n1::Q, n1::W<A>, n1::W<n1::W<B>>, A *, B *, E1 *, n1::W<A> *, U *, U *) {}
void basic(bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long) {}
void wide(long long, unsigned long long, float, double, long double, wchar_t, char16_t, char32_t, char8_t, decltype(nullptr)) {}
#ifdef __x86_64__
__int128 wider(__int128 x, unsigned __int128) { return x; }
#endif
typedef float vector __attribute__((vector_size(16)));
vector vectors(vector x) { return x; }
_Complex float complex(_Complex float x) { return x; }
int table[3][4];
extern const int constants[2] = {1, 2};
int (&tableReference)[3][4] = table;
int (*function)(int, ...);
void (A::*method)(A *) = &A::f;
int A::*field = &A::m;
const char *const strings[] = {"", "short", "a \\ \" ' \n \t \x7f \xff, b", "a string of over thirty-two characters, of which some are left out"};
const wchar_t *const wideStrings[] = {L"", L"wide \x1234", L"a wide string of over thirty-two characters, of which some are left out"};
const char16_t *const strings16[] = {u"", u"sixteen \x1234", u"a string of over thirty-two characters, of which some are left out"};
const char32_t *const strings32[] = {U"", U"thirty-two \x12345", U"a string of over thirty-two characters, of which some are left out"};

// Methods.
struct R { void a() &; void b() &&; void c() const &; void d() const volatile; void e() noexcept; static int f(R); };
void R::a() & {}
void R::b() && {}
void R::c() const & {}
void R::d() const volatile {}
void R::e() noexcept {}
int R::f(R) { return 0; }

// Calling conventions.
void __stdcall standard(int) {}
void __fastcall fast(int) {}
void __vectorcall vectorial(int) {}
__attribute__((regcall)) void registers(int) {}
__attribute__((swiftcall)) void swift(int) {}
#ifndef __i386__
__attribute__((swiftasynccall)) void swiftAsync(int) {}
#endif
void (__stdcall *standardPointer)(int);

// Operators.
struct O {
	O(); O(const O &); ~O(); O &operator=(const O &); operator int(); operator A *() const; explicit operator bool();
	O operator+(); O operator-(); O operator*(); O operator&(); O operator!(); O operator~(); O operator++(); O operator++(int);
	O operator--(); O operator--(int); O operator+(O); O operator-(O); O operator*(O); O operator/(O); O operator%(O); O operator^(O);
	O operator&(O); O operator|(O); O operator<<(O); O operator>>(O); O operator&&(O); O operator||(O); O operator,(O); O operator->*(O);
	A *operator->(); O operator()(int, O); O operator[](int); bool operator==(O); bool operator!=(O); bool operator<(O); bool operator>(O);
	bool operator<=(O); bool operator>=(O); O &operator+=(O); O &operator-=(O); O &operator*=(O); O &operator/=(O); O &operator%=(O);
	O &operator^=(O); O &operator&=(O); O &operator|=(O); O &operator<<=(O); O &operator>>=(O);
	void *operator new(size); void operator delete(void *); void *operator new[](size); void operator delete[](void *);
};
void operators(O o, O p)
{
	O c = o; c = p; (void)(int)c; (void)(A *)c; (void)(bool)c; +o; -o; *o; &o; !o; ~o; ++o; o++; --o; o--; o + p; o - p; o * p; o / p; o % p; o ^ p;
	o & p; o | p; o << p; o >> p; o && p; o || p; (o, p); o->*p; o->m = 1; o(1, p); o[1]; o == p; o != p; o < p; o > p; o <= p; o >= p; o += p; o -= p;
	o *= p; o /= p; o %= p; o ^= p; o &= p; o |= p; o <<= p; o >>= p; delete new O; delete[] new O[2];
}
A operator""_A(unsigned long long) { return *(A *)0; }
A operator""_text(const char *, size) { return *(A *)0; }
namespace n1 { int operator""_n(unsigned long long x) { return x; } }

// Templates.
template<class... T> struct P { void f(P, T...) {} };
template struct P<>; template struct P<int>; template struct P<A, B *, A>; template struct P<P<>, P<int>>;
template<class T> void type() {}
template void type<int(char, ...)>(); template void type<int[3]>(); template void type<const int[3]>(); template void type<int[]>();
template void type<void() const>(); template void type<void() volatile &&>(); template void type<int A::*>(); template void type<const volatile int>();
template void type<void (A::*)() const &>(); template void type<decltype(nullptr)>(); template void type<void() noexcept>();
template void type<const A *const *>(); template void type<A &&>(); template void type<void (*(*)(int))(char)>();
template<int... I> void numbers() {}
template void numbers<>(); template void numbers<1, -1, 0, 9, 10, 11, 1000000>();
template<long long> void longs() {}
template void longs<-9223372036854775807LL - 1>(); template void longs<0x7fffffffffffffff>();
template<unsigned long long> void unsignedLongs() {}
template void unsignedLongs<~0ULL>();
template<bool> void truth() {}
template void truth<true>();
template<E2> void enumerator() {}
template void enumerator<E2::x>();
template<int A::*F> struct Field { void r(Field *, A *); };
template<int A::*F> void Field<F>::r(Field *, A *) {}
template struct Field<&A::m>; template struct Field<nullptr>;
template<int D::*F> struct FieldOfMany { void r() {} };
template struct FieldOfMany<(int D::*)nullptr>;
template<void (A::*M)(A *)> struct Method { void f(Method *, A *) {} };
template struct Method<&A::f>; template struct Method<nullptr>;
template<int (B::*M)(int) const> struct MethodOfVirtual { void f() {} };
template struct MethodOfVirtual<&B::k>;
template<void (A::*M)()> struct Virtual { void f() {} };
template struct Virtual<&A::g>;
template<void (*F)(int)> struct Function { void f(Function) {} };
template<class T> void instance(T) {}
template struct Function<&instance<int>>;
template<int *I> struct Pointer { void f(Pointer *) {} };
template struct Pointer<&A::s>; template struct Pointer<nullptr>;
template<int &I> struct Reference { void f(Reference *) {} };
template struct Reference<A::s>;
template<auto V> struct Auto { void f(Auto *) {} };
template struct Auto<1>; template struct Auto<'a'>; template struct Auto<&A::m>; template struct Auto<nullptr>; template struct Auto<&vectorial>;
struct V0 { int z; };
struct V1 : V0 { char c; bool b; double d; E2 e; int v[3]; union { int i; float f; } u; };
struct V2 { const int *p; int *q; void (*f)(int); int A::*m; void (A::*g)(); int &r; V0 v[2]; };
template struct Auto<V0{-1}>; template struct Auto<V1{{2}, 'x', true, -1.5, E2::x, {1, 2, 3}, {.f = 2}}>; template struct Auto<1.5f>; template struct Auto<-0.25>;
template struct Auto<V2{&A::s, nullptr, &instance<int>, &A::m, nullptr, A::s, {{1}, {2}}}>;
template<float F, V0 V> struct Values { void f(Values *) {} };
template struct Values<1e30f, V0{9}>;
template<template<class...> class T, class... X> void ofTemplate(T<X...>) {}
template void ofTemplate<P, int, char>(P<int, char>);
template<template<class...> class T> struct Alias { void f(Alias) {} };
template<class... T> using Renamed = P<T...>;
template struct Alias<P>; template struct Alias<Renamed>;
template<class T> struct C {
	C(); template<class X> C(X); ~C(); operator T(); template<class X> operator X *(); T operator()(T); static T s;
	struct Inner { void f(C, Inner) {} template<class X> void g(X, T) {} };
};
template<class T> C<T>::C() {}
template<class T> template<class X> C<T>::C(X) {}
template<class T> C<T>::~C() {}
template<class T> C<T>::operator T() { return T(); }
template<class T> template<class X> C<T>::operator X *() { return 0; }
template<class T> T C<T>::operator()(T t) { return t; }
template<class T> T C<T>::s;
template struct C<int>; template C<int>::C(char); template C<int>::operator char *(); template struct C<A *>; template void C<int>::Inner::g(A *, int);
template<class T> T variable = T();
template int variable<int>;
template<class T> auto automatic() { return T(); }
template auto automatic<int>();
template<class T> decltype(auto) deduced() { return T(); }
template decltype(auto) deduced<int>();
template<class T> concept Any = true;
template<Any T> void constrained(T) {}
template void constrained(int);

// Local names.
auto lambda = [](int x) { return x; };
int usesLambda() { return lambda(3); }
template<class T> auto generic(T t) { return [=](auto a, T b) { return a + t; }; }
int usesGeneric() { return generic(3)(4, 5) + [] { struct L { static int z() { return 1; } }; return L::z(); }(); }
int &statics() { static int z = usesLambda(); static thread_local int t = usesLambda(); { static int z = usesGeneric(); return z; } return t; }
inline int &inlineStatics() { static int z = usesLambda(); static thread_local int t = usesLambda(); return z = t, z; }
int usesStatics() { return inlineStatics(); }
thread_local int perThread = usesLambda();
int dynamic = usesLambda();
struct H { ~H(); static H h; };
H H::h;
extern "C" void plain() { static int &s = *new int; struct L { static void z() {} }; L::z(); s = 1; }
template<class T> void defaultArgument(T t = [] { return T(); }()) {}
void usesDefault() { defaultArgument<int>(); }
void throws() { throw D(*(D *)0); }
void catches() { try { throws(); } catch (D &) { } catch (int) {} }
void tries() { __try { throws(); } __except (1) {} __try { throws(); } __finally { usesDefault(); } }
D *arrays() { return new D[3]; }
struct __declspec(dllexport) X { X(int = 3) {} X(const X &) {} virtual ~X() {} };

#ifdef ALL
template<class X, class Y, class Z> struct Three {
	Three(X *); Three(const Y &, Z *); ~Three() {} void operator()(X *, Y *, Z *) const {} static X *f(Y **, Z &, X (*)(Y *, Z *)) { return 0; }
	template<class T> Three *g(T, P<X, Y, Z>, Three<Z, Y, X> *) { return this; } virtual void v(X &, void (Three::*)(Y *)) {}
	operator Z *() { return 0; } struct In { Three<Y, X, Z> *h(In *, C<X> &, Field<&A::m> *) { return 0; } };
};
template<class X, class Y, class Z> Three<X, Y, Z>::Three(X *) {}
template<class X, class Y, class Z> Three<X, Y, Z>::Three(const Y &, Z *) {}
template<class X, class Y, class Z> void use(Three<X, Y, Z> *t)
{
	Three<X, Y, Z> a((X *)0), b(*(Y *)0, (Z *)0);
	a((X *)0, (Y *)0, (Z *)0);
	a.f(0, *(Z *)0, 0);
	a.template g<X *>(0, *(P<X, Y, Z> *)0, 0)->template g<Y(Z *)>(0, *(P<X, Y, Z> *)0, 0);
	(void)(Z *)a;
	typename Three<X, Y, Z>::In().h(0, *(C<X> *)0, 0);
}
template<class X, class Y, class... Z> void third() { (use<X, Y, Z>(0), ...); }
using Callback = void (*(*)(A, int))(A);
#define TYPES int, A, n1::Q, D *const, C<B *>, P<U, P<>>, E2, unsigned char *, n1::W<S>, Auto<&A::m>, Callback, const E1 *const
template<class X, class... Y> void second() { (third<X, Y, TYPES>(), ...); }
template<class... X> void first() { (second<X, TYPES>(), ...); }
void all() { first<TYPES>(); }
#endif
