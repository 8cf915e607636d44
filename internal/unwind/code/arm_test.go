package code

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

func TestDerivedRulesARM(t *testing.T) {
	for _, c := range []struct {
		name  string
		thumb uint64
		code  string
		want  string
	}{
		{"frame pointer", 0, "00482de9 04b08de2 10d04de2 0000a0e1 04d04be2 0088bde8", // push {fp, lr}; add fp, sp, #4; sub sp, #16; nop; sub sp, fp, #4; pop {fp, pc}
			"INIT 0 18 .cfa: sp 0 + .ra: lr; 4 .cfa: sp 8 + .ra: .cfa -4 + ^; 8 r11: .cfa -8 + ^; c .cfa: sp 24 +; 14 .cfa: sp 8 +; "},
		{"conditional return", 0, "10402de9 0040a0e3 000050e3 1080bd08 1080bde8", // push {r4, lr}; mov r4, #0; cmp r0, #0; popeq {r4, pc}; pop {r4, pc}
			"INIT 0 14 .cfa: sp 0 + .ra: lr; 4 .cfa: sp 8 + .ra: .cfa -4 + ^; 8 r4: .cfa -8 + ^; "},
		{"realigned", 0, "00482de9 04b08de2 3fd0cde3 04d04be2 0088bde8", // push {fp, lr}; add fp, sp, #4; bic sp, #63; sub sp, fp, #4; pop {fp, pc}
			"INIT 0 14 .cfa: sp 0 + .ra: lr; 4 .cfa: sp 8 + .ra: .cfa -4 + ^; 8 r11: .cfa -8 + ^; c .cfa: r11 4 +; 10 .cfa: sp 8 +; "},
		{"floating-point registers", 0, "028b2ded 408bb0ee 028bbdec 1eff2fe1", // vpush {d8}; vmov.f64 d8, d0; vpop {d8}; bx lr
			"INIT 0 10 .cfa: sp 0 + .ra: lr; 4 .cfa: sp 8 +; 8 d8: .cfa -8 + ^; c .cfa: sp 0 + d8: d8; "},
		{"loses a register", 0, "0040a0e3 1eff2fe1", // mov r4, #0; bx lr
			""},
		{"returns elsewhere", 0, "08d04de2 1eff2fe1", // sub sp, #8; bx lr
			""},
		{"switch", 0, "010050e3 00f18f90 1eff2fe1 1eff2fe1 ffffffea 08d04de2 08d08de2 1eff2fe1", // cmp r0, #1; addls pc, pc, r0, lsl #2; bx lr; bx lr; b .+4; sub sp, #8; add sp, #8; bx lr
			"INIT 0 20 .cfa: sp 0 + .ra: lr; 18 .cfa: sp 8 +; 1c .cfa: sp 0 +; "},
		{"T32 pushes", 1, "90b5 83b0 00af 0c37 bd46 90bd", // push {r4, r7, lr}; sub sp, #12; add r7, sp, #0; adds r7, #12; mov sp, r7; pop {r4, r7, pc}
			"INIT 0 c .cfa: sp 0 + .ra: lr; 2 .cfa: sp 12 + .ra: .cfa -4 + ^; 4 .cfa: sp 24 +; 6 r7: .cfa -8 + ^; a .cfa: sp 12 +; "},
		{"T32 conditional return", 1, "10b5 0028 08bf 10bd 0024 10bd", // push {r4, lr}; cmp r0, #0; it eq; popeq {r4, pc}; movs r4, #0; pop {r4, pc}
			"INIT 0 c .cfa: sp 0 + .ra: lr; 2 .cfa: sp 8 + .ra: .cfa -4 + ^; a r4: .cfa -8 + ^; "},
		{"T32 table", 1, "0128 02d8 dfe800f0 0102 7047 82b0 02b0 7047", // cmp r0, #1; bhi .+8; tbb [pc, r0]; .byte 1, 2; bx lr; sub sp, #8; add sp, #8; bx lr
			"INIT 0 8 .cfa: sp 0 + .ra: lr; INIT a 8 .cfa: sp 0 + .ra: lr; e .cfa: sp 8 +; 10 .cfa: sp 0 +; "},
		{"T32 loses a register", 1, "0024 7047", // movs r4, #0; bx lr
			""},
		{"changes instruction sets", 1, "7847 c046 10402de9 1080bde8", // bx pc; nop; push {r4, lr}; pop {r4, pc}
			"INIT 0 c .cfa: sp 0 + .ra: lr; 8 .cfa: sp 8 + .ra: .cfa -4 + ^; "},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.ReplaceAll(rulesIn(codeIn(arch.ARM, code, c.thumb)), "\n", "; "); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
