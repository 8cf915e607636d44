// Virtual bases, thunks, covariant results, destructors of several kinds, exceptions with clean-ups, static and thread-local objects with guards.
extern volatile int sink;

namespace zoo {
struct Root {
	int id = sink;
	virtual ~Root();
	virtual Root *self() { return this; }
};
Root::~Root() { sink = id; }

struct Left : virtual Root {
	int l = 1;
	Left *self() override { return this; }
};
struct Right : virtual Root {
	int r = 2;
	virtual int both(int) { return r; }
};
struct Leaf final : Left, Right {
	~Leaf() override;
	Leaf *self() override;
	int both(int a) override;
};
Leaf::~Leaf() { sink = l + r; }
Leaf *Leaf::self() { return this; }
int Leaf::both(int a)
{
	if (a < 0)
		throw a;
	return a + l + r;
}

struct Counted {
	int n;
	explicit Counted(int n) : n(n) { sink = n; }
	~Counted() { sink = -n; }
};

int guarded(int a)
{
	static Counted once(a);
	static thread_local Counted each(a + 1);
	return once.n + each.n;
}

int tries(Right &of, int a)
{
	Counted outer(a);
	try {
		Counted inner(a + 1);
		try {
			return of.both(a);
		} catch (const char *) {
			Counted caught(3);
			return guarded(1);
		}
	} catch (int v) {
		return v;
	} catch (...) {
		throw;
	}
}

int uses()
{
	Leaf leaf;
	Root *root = leaf.self();
	return tries(leaf, root->id);
}
} // namespace zoo
