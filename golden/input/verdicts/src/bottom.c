/* A stack of PowerPC whose first function returns to 0, as the C library's: the
 * system's first function jumps to it with an empty link register. */
long *volatile nowhere;

__attribute__((noinline)) static long crash(long n)
{
	*nowhere = n;
	return n;
}

__attribute__((noinline)) static long recurse(long n) { return (n ? recurse(n - 1) : crash(n)) + n; }

__attribute__((noinline)) void __libc_start_main(void)
{
	volatile long pad[4];
	pad[0] = recurse(2);
	for (;;)
		pad[0]++;
}

__asm__(".globl _start\n"
	".type _start, @function\n"
	"_start:\n"
	"	addis 2, 12, .TOC.-_start@ha\n"
	"	addi 2, 2, .TOC.-_start@l\n"
	"	clrrdi 1, 1, 4\n"
	"	li 0, 0\n"
	"	stdu 1, -128(1)\n"
	"	mtlr 0\n"
	"	std 0, 0(1)\n"
	"	b __libc_start_main\n"
	".size _start, .-_start\n");
