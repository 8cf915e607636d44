package code

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestDerivedRulesARM64(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"frame pointer", "fd7bbea9 fd030091 f30b00f9 f30300aa 04000094 f30b40f9 fd7bc2a8 c0035fd6 c0035fd6", // stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16]; mov x19, x0; bl .+16; ldr x19, [sp, #16]; ldp x29, x30, [sp], #32; ret; ret
			"INIT 0 24 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 + .ra: .cfa -24 + ^; 8 x29: .cfa -32 + ^; 10 x19: .cfa -16 + ^; 18 x19: x19; 1c .cfa: sp 0 + .ra: x30 x29: x29; "},
		{"alloca", "fd7bbfa9 fd030091 ff6320cb 04000094 bf030091 fd7bc1a8 c0035fd6 c0035fd6", // stp x29, x30, [sp, #-16]!; mov x29, sp; sub sp, sp, x0; bl .+16; mov sp, x29; ldp x29, x30, [sp], #16; ret; ret
			"INIT 0 20 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 + .ra: .cfa -8 + ^; 8 x29: .cfa -16 + ^; c .cfa: x29 16 +; 14 .cfa: sp 16 +; 18 .cfa: sp 0 + .ra: x30 x29: x29; "},
		{"large frame", "104682d2 3000a0f2 ff6330cb fe0300f9 05000094 fe0340f9 ff474091 ffc30891 c0035fd6 c0035fd6", // mov x16, #0x1230; movk x16, #1, lsl #16; sub sp, sp, x16; str x30, [sp]; bl .+20; ldr x30, [sp]; add sp, sp, #0x11, lsl #12; add sp, sp, #0x230; ret; ret
			"INIT 0 28 .cfa: sp 0 + .ra: x30; c .cfa: sp 70192 +; 10 .ra: .cfa -70192 + ^; 1c .cfa: sp 560 + .ra: x30; 20 .cfa: sp 0 +; "},
		{"realigned", "fd7bbfa9 fd030091 e9c300d1 3fe57a92 bf030091 fd7bc1a8 c0035fd6", // stp x29, x30, [sp, #-16]!; mov x29, sp; sub x9, sp, #0x30; and sp, x9, #-64; mov sp, x29; ldp x29, x30, [sp], #16; ret
			"INIT 0 1c .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 + .ra: .cfa -8 + ^; 8 x29: .cfa -16 + ^; 10 .cfa: x29 16 +; 14 .cfa: sp 16 +; 18 .cfa: sp 0 + .ra: x30 x29: x29; "},
		{"signed", "3f2303d5 fd7bbfa9 fd030091 03000094 fd7bc1a8 ff0b5fd6 c0035fd6", // paciasp; stp x29, x30, [sp, #-16]!; mov x29, sp; bl .+12; ldp x29, x30, [sp], #16; retaa; ret
			"INIT 0 1c .cfa: sp 0 + .ra: x30; 8 .cfa: sp 16 + .ra: .cfa -8 + ^; c x29: .cfa -16 + ^; 14 .cfa: sp 0 + .ra: x30 x29: x29; "},
		{"vector registers", "e827bf6d 0840601e 2940601e e827c16c c0035fd6", // stp d8, d9, [sp, #-16]!; fmov d8, d0; fmov d9, d1; ldp d8, d9, [sp], #16; ret
			"INIT 0 14 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 +; 8 v8: .cfa -16 + ^; c v9: .cfa -8 + ^; 10 .cfa: sp 0 + v8: v8 v9: v9; "},
		{"vectors of 16 bytes", "ff4300d1 e803803d 08e4006f e803c03d ff430091 c0035fd6", // sub sp, sp, #16; str q8, [sp]; movi v8.2d, #0; ldr q8, [sp]; add sp, sp, #16; ret
			"INIT 0 18 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 +; c v8: .cfa -16 + ^; 10 v8: v8; 14 .cfa: sp 0 +; "},
		{"loses a register", "130080d2 c0035fd6", // mov x19, #0; ret
			""},
		{"loses a vector register", "0840601e c0035fd6", // fmov d8, d0; ret
			""},
		{"returns elsewhere", "ff4300d1 c0035fd6", // sub sp, sp, #16; ret
			""},
		{"return address elsewhere", "e9031eaa 1e0080d2 20015fd6", // mov x9, x30; mov x30, #0; ret x9
			"INIT 0 c .cfa: sp 0 + .ra: x30; 8 .ra: x9; "},
		{"return address lost", "02000094 c0035fd6 c0035fd6", // bl .+8; ret; ret
			"INIT 0 4 .cfa: sp 0 + .ra: x30; INIT 8 4 .cfa: sp 0 + .ra: x30; "},
		{"scalable frame", "fd7bbfa9 fd030091 ff573f04 e04380e5 3f503f04 fd7bc1a8 c0035fd6", // stp x29, x30, [sp, #-16]!; mov x29, sp; addvl sp, sp, #-1; str z0, [sp]; addvl sp, sp, #1; ldp x29, x30, [sp], #16; ret
			"INIT 0 18 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 + .ra: .cfa -8 + ^; 8 x29: .cfa -16 + ^; c .cfa: x29 16 +; "},
		{"clone", "881b80d2 010000d4 c0035fd6", // mov x8, #220; svc #0; ret
			"INIT 0 8 .cfa: sp 0 + .ra: x30; "},
		{"streaming", "7f4703d5 c0035fd6", // smstart; ret
			""},
		{"another function behind a call that does not return", "fd7bbfa9 00fcff97 fd7bbea9 fd7bc2a8 c0035fd6", // stp x29, x30, [sp, #-16]!; bl .-4096; stp x29, x30, [sp, #-32]!; ldp x29, x30, [sp], #32; ret
			"INIT 0 8 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 + .ra: .cfa -8 + ^; "},
		{"trap", "ff4300d1 200020d4 c0035fd6", // sub sp, sp, #16; brk #1; ret
			"INIT 0 8 .cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 +; "},
		{"switch by bytes", "1f080071 08010054 01010010 21486038 60000010 0188218b 20001fd6 ff4300d1 ff430091 c0035fd6 00020000", // cmp w0, #2; b.hi .+32; adr x1, .+32; ldrb w1, [x1, w0, uxtw]; adr x0, .+12; add x1, x0, w1, sxtb #2; br x1; sub sp, sp, #16; add sp, sp, #16; ret; .byte 0, 2, 0, 0
			"INIT 0 28 .cfa: sp 0 + .ra: x30; 20 .cfa: sp 16 +; 24 .cfa: sp 0 +; "},
		{"switch by words", "1f040071 08010054 e003002a e1000010 2278a0b8 2100028b 20001fd6 ff4300d1 ff430091 c0035fd6 f4ffffff fcffffff", // cmp w0, #1; b.hi .+32; mov w0, w0; adr x1, .+28; ldrsw x2, [x1, x0, lsl #2]; add x1, x1, x2; br x1; sub sp, sp, #16; add sp, sp, #16; ret; .word -12, -4
			"INIT 0 28 .cfa: sp 0 + .ra: x30; 20 .cfa: sp 16 +; 24 .cfa: sp 0 +; "},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(rulesIn(codeIn(arch.ARM64, code, 0)), "\n", "; "); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
