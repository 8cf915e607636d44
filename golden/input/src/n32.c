/* A crash of a small program without a library, whose data is on the page of its
 * header. */
__attribute__((noinline)) static int inner(volatile int *p, int n)
{
	*p = n;
	return *p + 1;
}

__attribute__((noinline)) static int outer(int *p, int n)
{
	return inner(p, n * 3) + 2;
}

void __start(void)
{
	register long a __asm__("s0") = -0x76543211;
	__asm__ volatile("" : "+r"(a));
	outer((int *)0x18, 1);
	__asm__ volatile("" : : "r"(a));
	for (;;)
		;
}
