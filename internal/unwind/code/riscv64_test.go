package code

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestDerivedRulesRISCV64(t *testing.T) {
	for _, c := range []struct{ name, code, want string }{
		{"frame pointer", "011106ec 22e80010 ef000001 e2604264 05618280", // addi sp, sp, -32; sd ra, 24(sp); sd s0, 16(sp); addi s0, sp, 32; jal ra, .+16; ld ra, 24(sp); ld s0, 16(sp); addi sp, sp, 32; ret, all but the call in 2 bytes
			"INIT 0 14 .cfa: sp 0 + .ra: ra; 2 .cfa: sp 32 +; 4 .ra: .cfa -8 + ^; 8 s0: .cfa -16 + ^; 10 s0: s0; 12 .cfa: sp 0 + .ra: ra; "},
		{"large frame", "b7f2ffff 33015100 23349100 93040000 83348100 b7120000 33015100 67800000", // lui t0, 0xfffff; add sp, sp, t0; sd s1, 8(sp); li s1, 0; ld s1, 8(sp); lui t0, 1; add sp, sp, t0; ret
			"INIT 0 20 .cfa: sp 0 + .ra: ra; 8 .cfa: sp 4096 +; 10 s1: .cfa -4088 + ^; 14 s1: s1; 1c .cfa: sp 0 +; "},
		{"realigned", "130101fc 233c1102 23388102 13040104 137101fc 130104fc 83308103 03340103 13010104 67800000", // addi sp, sp, -64; sd ra, 56(sp); sd s0, 48(sp); addi s0, sp, 64; andi sp, sp, -64; addi sp, s0, -64; ld ra, 56(sp); ld s0, 48(sp); addi sp, sp, 64; ret
			"INIT 0 28 .cfa: sp 0 + .ra: ra; 4 .cfa: sp 64 +; 8 .ra: .cfa -8 + ^; 10 s0: .cfa -16 + ^; 14 .cfa: s0 0 +; 18 .cfa: sp 64 +; 20 s0: s0; 24 .cfa: sp 0 + .ra: ra; "},
		{"loses a register", "93040000 67800000", // li s1, 0; ret
			""},
		{"returns elsewhere", "130101ff 67800000", // addi sp, sp, -16; ret
			""},
		{"tail call", "17030000 67008300 67800000", // auipc t1, 0; jr 8(t1); ret
			"INIT 0 c .cfa: sp 0 + .ra: ra; "},
		{"saving routine", "ef028000 67800000 67800000", // jal t0, .+8; ret; ret
			""},
		{"floating-point registers", "130101ff 27348100 5304a522 07348100 13010101 67800000", // addi sp, sp, -16; fsd fs0, 8(sp); fmv.d fs0, fa0; fld fs0, 8(sp); addi sp, sp, 16; ret
			"INIT 0 18 .cfa: sp 0 + .ra: ra; 4 .cfa: sp 16 +; c f8: .cfa -8 + ^; 10 f8: f8; 14 .cfa: sp 0 +; "},
		{"switch", "93071000 63e4a702 17070000 13078702 13152500 3305e500 03250500 3305e500 67000500 130101ff 13010101 67800000 f4ffffff fcffffff", // li a5, 1; bltu a5, a0, .+40; la a4, .+40; slli a0, a0, 2; add a0, a0, a4; lw a0, 0(a0); add a0, a0, a4; jr a0; addi sp, sp, -16; addi sp, sp, 16; ret; .word -12, -4
			"INIT 0 30 .cfa: sp 0 + .ra: ra; 28 .cfa: sp 16 +; 2c .cfa: sp 0 +; "},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(rulesIn(codeIn(arch.RISCV64, code, 0)), "\n", "; "); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
