// Vector registers with known values at a crash, without a C library. Word k of vector i is 0x100 * i + k + 1.
#if defined(__x86_64__)

// The words of zmm0, zmm17 and zmm31, and the masks k1 to k7: i + 0x1000. The program needs AVX-512.
#define ROW(i) {0x100 * i + 1, 0x100 * i + 2, 0x100 * i + 3, 0x100 * i + 4, 0x100 * i + 5, 0x100 * i + 6, 0x100 * i + 7, 0x100 * i + 8}
static long rows[3][8] = {ROW(0), ROW(17), ROW(31)};

__attribute__((noinline)) static void crash(void) {
	__asm__ volatile(
		"vmovdqu64 (%0), %%zmm0\n vmovdqu64 64(%0), %%zmm17\n vmovdqu64 128(%0), %%zmm31\n"
		"mov $0x1001, %%ecx\n kmovq %%rcx, %%k1\n mov $0x1007, %%ecx\n kmovq %%rcx, %%k7\n ud2" : : "r"(rows) : "rcx");
}

#elif defined(__aarch64__)

// z0 and z31 have index + 1 + 0x100 * i.
__attribute__((noinline)) void crash(void) {
	__asm__ volatile("index z0.d, #1, #1\n ptrue p1.d, vl2\n mov x9, #0x1f01\n index z31.d, x9, #1\n brk #1" ::: "x9");
}

// middle has a frame whose size depends on the length of vectors, and its rules need vg.
__asm__(
	".text\n.type middle, %function\nmiddle:\n.cfi_startproc\n"
	"stp x29, x30, [sp, #-16]!\n.cfi_def_cfa_offset 16\n.cfi_offset 29, -16\n.cfi_offset 30, -8\n"
	"addvl sp, sp, #-2\n.cfi_escape 0x0f, 8, 0x8f, 16, 0x92, 46, 0, 0x40, 0x1e, 0x22\n"
	"str z8, [sp]\n bl crash\n ldr z8, [sp]\n addvl sp, sp, #2\n ldp x29, x30, [sp], #16\n ret\n.cfi_endproc\n.size middle, .-middle\n");
#endif

#if defined(__aarch64__)
void middle(void);
#else
#define middle crash
#endif

__attribute__((noinline)) static int outer(int n) {
	middle();
	__asm__ volatile("" : "+r"(n)); // not a jump
	return n;
}

void _start(void) {
	outer(1);
	for (;;) ;
}
