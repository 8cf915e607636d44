/* Variables of threads, functions chosen at start-up, constructors, sections of their own. */
extern volatile int sink;

_Thread_local int counter;
static _Thread_local struct { int a, b; } pair = {1, 2};

static int plain_add(int a, int b) { return a + b; }
static int other_add(int a, int b) { return b + a + sink; }
int (*choose_add(void))(int, int) { return sizeof(long) == 8 ? plain_add : other_add; }
int added(int, int) __attribute__((ifunc("choose_add")));

__attribute__((constructor)) static void before(void) { sink = 3; }
__attribute__((destructor)) static void after(void) { sink = 4; }

__attribute__((section(".text.special"), noinline)) int special(int a)
{
	counter += a;
	return pair.a + pair.b * counter;
}

__attribute__((cold, noinline)) static int rare(int a) { return special(a) - 1; }

int *address_of(int which)
{
	if (__builtin_expect(which > 100, 0))
		sink = rare(which);
	return which ? &counter : &pair.b;
}

__attribute__((target("avx2"))) int dot(const int *a, const int *b, int n)
{
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum + added(sum, n);
}
