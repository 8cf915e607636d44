// Types and functions that the objects of a program share.
struct Base {
	int kind;
	virtual ~Base();
	virtual int go(int);
};
template <class T> struct Box {
	T value;
	T *next;
	enum State { Empty, Full = 7 } state;
};
struct Opaque; // another one in each object
inline int counted(int n) {
	static int calls = 3;
	static thread_local int each;
	each += n;
	return calls += n + each;
}
extern int shared_global;
extern thread_local int tls_global;
int use(Opaque *o, Box<long> b);
