/* Functions with equal code: the linker folds them. */
volatile int sink;

__attribute__((noinline)) int fold_one(int a)
{
	sink = a;
	return a * 17 + 4;
}

__attribute__((noinline)) int fold_two(int a)
{
	sink = a;
	return a * 17 + 4;
}

static __attribute__((noinline)) int fold_three(int a)
{
	sink = a;
	return a * 17 + 4;
}

int uses(int a)
{
	return fold_one(a) + fold_two(a + 1) + fold_three(a + 2);
}

__attribute__((noreturn)) void _start(void)
{
	uses(1);
	for (;;)
		;
}
