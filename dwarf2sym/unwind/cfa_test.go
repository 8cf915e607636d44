package unwind

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// trimLines removes the indentation of Go source from an expected text.
func trimLines(s string) string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return strings.Join(out, "\n") + "\n"
}

// TestCFIInstructions has each instruction with the resulting lines. The CIE is
// that of x86-64: the CFA is rsp + 8, and rip is saved at CFA - 8.
func TestCFIInstructions(t *testing.T) {
	const cie = "cie v=3 code=1 data=-8 ra=16\n def_cfa 7 8\n offset 16 1\n"
	const init = "STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^"
	for _, c := range []struct{ name, in, want string }{
		{"nop", "nop", init},
		{"offset", "advance_loc 1\n offset 3 2", init + `
			STACK CFI 1001 $rbx: .cfa -16 + ^`},
		{"advance by every width", `advance_loc1 2
			def_cfa_offset 16
			advance_loc2 3
			def_cfa_offset 24
			advance_loc4 4
			def_cfa_offset 32
			mips_advance_loc8 5
			def_cfa_offset 40`, init + `
			STACK CFI 1002 .cfa: $rsp 16 +
			STACK CFI 1005 .cfa: $rsp 24 +
			STACK CFI 1009 .cfa: $rsp 32 +
			STACK CFI 100e .cfa: $rsp 40 +`},
		{"set_loc", "set_loc 0x1010\n def_cfa_offset 16", init + `
			STACK CFI 1010 .cfa: $rsp 16 +`},
		{"set_loc backwards", "advance_loc 4\n def_cfa_offset 16\n set_loc 0x1001\n def_cfa_offset 24", `
			STACK CFI INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			problem: .debug_frame+0x38: DW_CFA_set_loc to 0x1001, want 0x1004 to 0x1020 (lost: FDE at 0x14 for 0x1000, from 0x1004 on)`},
		{"set_loc beyond the end", "advance_loc 4\n def_cfa_offset 16\n set_loc 0x1021\n def_cfa_offset 24", init + `
			STACK CFI 1004 .cfa: $rsp 16 +
			problem: .debug_frame+0x38: DW_CFA_set_loc to 0x1021, past the end of the FDE at 0x1020 (lost: FDE at 0x14 for 0x1000, from 0x1020 on)`},
		{"offset_extended", "offset_extended 12 3", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $r12: .cfa -24 + ^`},
		{"offset_extended_sf", "offset_extended_sf 12 -3", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $r12: .cfa 24 + ^`},
		{"gnu_negative_offset_extended", "gnu_negative_offset_extended 12 3", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $r12: .cfa 24 + ^`},
		{"restore to nothing", `offset 3 2
			advance_loc 1
			restore 3`, `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^
			STACK CFI 1001 $rbx: $rbx`},
		{"restore_extended to the CIE's rule", `register 16 2
			advance_loc 1
			restore_extended 16`, `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: $rcx
			STACK CFI 1001 .ra: .cfa -8 + ^`},
		{"undefined: callee-saved, others, again", `undefined 3
			undefined 2
			offset 8 2
			advance_loc 1
			undefined 8`, `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .undef $r8: .cfa -16 + ^
			STACK CFI 1001 $r8: .undef`},
		{"undefined return address: outermost frame", "undefined 16\n advance_loc 1\n restore 16", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: 1
			STACK CFI 1001 .ra: .cfa -8 + ^`},
		{"same_value", "same_value 3\n same_value 2", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rcx: $rcx $rbx: $rbx`},
		{"same_value after nothing is a change, the reverse is none", `advance_loc 1
			same_value 3
			advance_loc 1
			restore 3`, init + `
			STACK CFI 1001 $rbx: $rbx`},
		{"register", "register 3 12\n register 6 6", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $r12 $rbp: $rbp`},
		{"register without a name", "register 3 4000", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .undef
			problem: .debug_frame+0x30: no postfix: value is in DWARF register 4000, which has no name (lost: rule of $rbx from 0x1000 on in FDE at 0x14 for 0x1000)`},
		{"rule for a register without a name", "offset_extended 4000 2", init},
		{"remember and restore, nested", `remember_state
			def_cfa_offset 16
			offset 3 2
			remember_state
			advance_loc 1
			def_cfa 6 32
			restore 3
			offset 6 4
			advance_loc 1
			restore_state
			advance_loc 1
			restore_state`, `
			STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^
			STACK CFI 1001 .cfa: $rbp 32 + $rbx: $rbx $rbp: .cfa -32 + ^
			STACK CFI 1002 .cfa: $rsp 16 + $rbx: .cfa -16 + ^ $rbp: $rbp
			STACK CFI 1003 .cfa: $rsp 8 + $rbx: $rbx`},
		{"restore_state without remember_state", "advance_loc 1\n def_cfa_offset 16\n advance_loc 2\n restore_state", `
			STACK CFI INIT 1000 3 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			STACK CFI 1001 .cfa: $rsp 16 +
			problem: .debug_frame+0x31: DW_CFA_restore_state without DW_CFA_remember_state (lost: FDE at 0x14 for 0x1000, from 0x1003 on)`},
		{"remember_state without end", strings.Repeat("remember_state\n", 257), `
			problem: .debug_frame+0x12d: 257 nested DW_CFA_remember_state (lost: FDE at 0x14 for 0x1000)`},
		{"def_cfa_register", "advance_loc 1\n def_cfa_offset 16\n advance_loc 3\n def_cfa_register 6", init + `
			STACK CFI 1001 .cfa: $rsp 16 +
			STACK CFI 1004 .cfa: $rbp 16 +`},
		{"def_cfa_sf", "def_cfa_sf 6 -2", `
			STACK CFI INIT 1000 20 .cfa: $rbp 16 + .ra: .cfa -8 + ^`},
		{"def_cfa_offset_sf", "def_cfa_offset_sf -3", `
			STACK CFI INIT 1000 20 .cfa: $rsp 24 + .ra: .cfa -8 + ^`},
		{"CFA in a register without a name ends the block", `advance_loc 4
			def_cfa_register 4000
			advance_loc 4
			offset 3 2
			advance_loc 4
			def_cfa_register 7`, `
			STACK CFI INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			STACK CFI INIT 100c 14 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^
			problem: .debug_frame+0x30: no postfix: it is relative to DWARF register 4000, which has no name (lost: CFA from 0x1004 on in FDE at 0x14 for 0x1000)`},
		{"val_offset", "val_offset 3 2\n val_offset_sf 6 -2", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + $rbp: .cfa 16 +`},
		{"stack pointer is the CFA", "val_offset 7 0\n advance_loc 1\n val_offset 7 1\n advance_loc 1\n restore 7", init + `
			STACK CFI 1001 $rsp: .cfa -8 +
			STACK CFI 1002 $rsp: .cfa 0 +`},
		{"def_cfa_expression", "def_cfa_expression breg6:-8 deref\n advance_loc 1\n def_cfa 7 8", `
			STACK CFI INIT 1000 20 .cfa: $rbp -8 + ^ .ra: .cfa -8 + ^
			STACK CFI 1001 .cfa: $rsp 8 +`},
		{"def_cfa_offset behind an expression", "def_cfa_expression breg6:-8 deref\n advance_loc 1\n def_cfa_offset 16", `
			STACK CFI INIT 1000 1 .cfa: $rbp -8 + ^ .ra: .cfa -8 + ^
			problem: .debug_frame+0x34: DW_CFA_def_cfa_offset where the CFA is not a register and an offset (lost: FDE at 0x14 for 0x1000, from 0x1001 on)`},
		{"expression, val_expression", "expression 3 breg6:-8\n val_expression 12 breg6:-8\n expression 13 lit8 plus\n val_expression 14 lit8 minus", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: $rbp -8 + ^ $r12: $rbp -8 + $r13: .cfa 8 + ^ $r14: .cfa -8 +`},
		{"def_cfa_register behind an expression", "def_cfa_expression breg6:-8 deref\n advance_loc 1\n def_cfa_register 6", `
			STACK CFI INIT 1000 1 .cfa: $rbp -8 + ^ .ra: .cfa -8 + ^
			problem: .debug_frame+0x34: DW_CFA_def_cfa_register where the CFA is not a register and an offset (lost: FDE at 0x14 for 0x1000, from 0x1001 on)`},
		{"return address without postfix", "expression 16 reg7\n advance_loc 1\n restore 16", `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .undef
			STACK CFI 1001 .ra: .cfa -8 + ^
			problem: .debug_frame+0x30: no postfix: cannot write DW_OP_reg7: (DW_OP_reg7) (lost: rule of .ra from 0x1000 on in FDE at 0x14 for 0x1000)`},
		{"CFA without postfix", "advance_loc 4\n def_cfa_expression reg7\n advance_loc 4\n def_cfa 7 8", `
			STACK CFI INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			STACK CFI INIT 1008 18 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			problem: .debug_frame+0x30: no postfix: cannot write DW_OP_reg7: (DW_OP_reg7) (lost: CFA from 0x1004 on in FDE at 0x14 for 0x1000)`},
		{"rule that depends on the pc, for a while", `val_expression 3 breg16:0 lit2 and lit2 eq
			advance_loc 4
			restore 3`, `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^ $rbx: 0
			STACK CFI 1002 $rbx: 1
			STACK CFI 1004 $rbx: $rbx`},
		{"gnu_args_size", "gnu_args_size 16", init},
		{"negate_ra_state is arm64's", "negate_ra_state", `
			problem: .debug_frame+0x2c: unknown call frame instruction 0x2d (lost: FDE at 0x14 for 0x1000)`},
		{"unknown instruction", "advance_loc 2\n offset 3 2\n advance_loc 3\n bytes 3f", `
			STACK CFI INIT 1000 5 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			STACK CFI 1002 $rbx: .cfa -16 + ^
			problem: .debug_frame+0x30: unknown call frame instruction 0x3f (lost: FDE at 0x14 for 0x1000, from 0x1005 on)`},
		{"operand cut short", "advance_loc 1\n bytes 0e808080808080", `
			STACK CFI INIT 1000 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			problem: .debug_frame+0x2e: unterminated ULEB128 (lost: FDE at 0x14 for 0x1000, from 0x1001 on)`},
		{"expression cut short", "bytes 0f097708", `
			problem: .debug_frame+0x2e: need 9 bytes, 2 left (lost: FDE at 0x14 for 0x1000)`},
		{"equal rows are one", `advance_loc 1
			def_cfa_offset 16
			advance_loc 1
			def_cfa_offset 16
			remember_state
			advance_loc 1
			restore_state
			advance_loc 1
			def_cfa_offset 24
			def_cfa_offset 16`, init + `
			STACK CFI 1001 .cfa: $rsp 16 +`},
		{"the last before an advance wins", "def_cfa_offset 16\n def_cfa_offset 24\n advance_loc 0\n def_cfa_offset 32\n advance_loc 1\n def_cfa_offset 8", `
			STACK CFI INIT 1000 20 .cfa: $rsp 32 + .ra: .cfa -8 + ^
			STACK CFI 1001 .cfa: $rsp 8 +`},
		{"advance to the end", "advance_loc 32\n def_cfa_offset 16", init},
		{"advance past the end", "advance_loc 8\n def_cfa_offset 16\n advance_loc 25\n def_cfa_offset 24", init + `
			STACK CFI 1008 .cfa: $rsp 16 +
			problem: .debug_frame+0x30: advance by 25 units of 1 bytes from 0x1008, past the end of the FDE at 0x1020 (lost: FDE at 0x14 for 0x1000, from 0x1020 on)`},
		{"advance that wraps", "advance_loc 8\n def_cfa_offset 16\n mips_advance_loc8 -4\n def_cfa_offset 24", init + `
			STACK CFI 1008 .cfa: $rsp 16 +
			problem: .debug_frame+0x38: advance by 18446744073709551612 units of 1 bytes from 0x1008, past the end of the FDE at 0x1020 (lost: FDE at 0x14 for 0x1000, from 0x1020 on)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := asmCase{arch: arch.X86_64, order: binary.LittleEndian}
			got, _ := x.read(t, cie+"fde 0x1000 0x20\n"+c.in)
			if want := trimLines(c.want); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}
