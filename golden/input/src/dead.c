/* One section per function; the linker drops the unused ones. */
volatile int sink;

int dead_first(int a)
{
	sink = a;
	return a + 1;
}

int live(int a)
{
	sink = a;
	return a + 2;
}

int dead_second(int a)
{
	sink = a;
	return a + 3;
}

__attribute__((noreturn)) void _start(void)
{
	live(1);
	for (;;)
		;
}
