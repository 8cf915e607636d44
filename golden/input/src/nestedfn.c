/* GNU C functions inside functions. */
volatile int sink;

int outer(int a)
{
	int total = a;
	__attribute__((noinline)) int inner(int b)
	{
		__attribute__((noinline)) int innermost(int c)
		{
			sink = c;
			return c + total;
		}
		total += b;
		return innermost(b) + sink;
	}
	return inner(a) + inner(a + 1);
}

int other(int a)
{
	__attribute__((noinline)) int inner(int b)
	{
		return b + sink;
	}
	return inner(a) + inner(2);
}
