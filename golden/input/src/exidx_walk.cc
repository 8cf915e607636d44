// Walks its own stack with libgcc's unwinder, and prints what another walker
// needs to do the same: registers, stack, then the unwinder's frames.
#include <cstdio>
#include <cstdlib>
#include <unwind.h>

struct Guard { int v; explicit Guard(int a) : v(a) {} ~Guard() { if (v < 0) abort(); } };

static _Unwind_Reason_Code frame(_Unwind_Context *c, void *) {
	printf("frame %x %x\n", (unsigned)_Unwind_GetIP(c), (unsigned)_Unwind_GetCFA(c));
	return _URC_NO_REASON;
}

__attribute__((noinline)) int innermost(unsigned *top) {
	unsigned regs[16];
	// pc is some instructions ahead, which is still in this function.
	asm volatile("stmia %0, {r0-r12}\n\tmov r3, sp\n\tstr r3, [%0, #52]\n\tstr lr, [%0, #56]\n\tmov r3, pc\n\tstr r3, [%0, #60]" : : "r"(regs) : "r3", "memory");
	for (int i = 0; i < 16; i++) printf("reg %d %x\n", i, regs[i]);
	for (unsigned *p = (unsigned *)regs[13]; p < top; p++) printf("mem %x %x\n", (unsigned)p, *p);
	_Unwind_Backtrace(frame, nullptr);
	return (int)regs[0];
}
__attribute__((noinline)) int vla(unsigned *top, int n) {
	char *b = (char *)__builtin_alloca(n * 16);
	Guard g(n);
	b[n] = (char)innermost(top);
	return b[n] + n;
}
__attribute__((noinline)) int doubles(unsigned *top, double a, double b) {
	Guard g((int)a);
	double c = a * b, d = a / b, e = a + b, f = a - b;
	int r = vla(top, (int)a);
	return r + (int)(c + d + e + f);
}
__attribute__((noinline)) int big(unsigned *top, int n) {
	volatile char b[70000];
	b[n] = 3;
	return doubles(top, n + 1.5, 2.5) + b[n];
}
__attribute__((noinline)) int many(unsigned *top, int a, int b, int c, int d, int e, int f, int g) {
	int r = big(top, a + b);
	return r + a * b + c * d + e * f + g;
}
__attribute__((noinline)) int recurse(unsigned *top, int n) {
	if (n == 0) return many(top, 1, 2, 3, 4, 5, 6, 7);
	try { Guard g(n); return recurse(top, n - 1) + n; } catch (...) { return 7; }
}
__attribute__((noinline)) static int compare(const void *a, const void *b) {
	static int once;
	if (!once++) recurse(*(unsigned *const *)a, 3);
	return *(unsigned *const *)a == *(unsigned *const *)b ? 0 : 1;
}
int main() {
	unsigned here[4];
	unsigned *top[2] = {here + 256, here + 256};
	qsort(top, 2, sizeof top[0], compare); // through a frame of libc
	return 0;
}
