/* Two sections of code, the first of which is .text. */
static __attribute__((noinline)) int triple(int x)
{
	return x * 3;
}

__attribute__((section("xdp"), used)) int prog(void *ctx)
{
	return triple((int)(long)ctx) + 1;
}
