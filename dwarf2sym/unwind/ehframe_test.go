package unwind

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// TestCFIEncodings reads one FDE with each encoding of code addresses.
func TestCFIEncodings(t *testing.T) {
	for _, enc := range []uint8{
		0x00, 0x01, 0x02, 0x03, 0x04, 0x09, 0x0a, 0x0b, 0x0c, // absolute
		0x10, 0x11, 0x13, 0x14, 0x19, 0x1b, 0x1c, // relative to the place
		0x23, 0x24, 0x2b, 0x2c, 0x33, 0x34, 0x3b, 0x3c, // to .text, .got
		0x50, // aligned
	} {
		for _, c := range []asmCase{
			{arch: arch.X86_64, order: binary.LittleEndian, eh: true, addr: 0x500},
			{arch: arch.X86, order: binary.LittleEndian, eh: true, addr: 0x500},
			{arch: arch.PPC64, order: binary.BigEndian, eh: true, addr: 0x501},
			{arch: arch.MIPS, order: binary.BigEndian, eh: true, addr: 0x502},
		} {
			t.Run(fmt.Sprintf("%#x/%s", enc, c.arch.Name), func(t *testing.T) {
				sp, _ := c.arch.RegNumber(c.arch.SP)
				text := fmt.Sprintf(`
					cie aug=zR R=%#x ra=%d
					 def_cfa %d 16
					 offset_extended %[2]d 1
					fde 0x1234 0x56 R=%[1]d`, enc, c.arch.ReturnAddress, sp)
				want := fmt.Sprintf("STACK CFI INIT 1234 56 .cfa: %s 16 + .ra: .cfa -8 + ^\n", c.arch.SP)
				if got, _ := c.read(t, text); got != want {
					t.Errorf("got\n%swant\n%s", got, want)
				}
			})
		}
	}
}

// TestCFIEntries reads CIEs and FDEs of all forms, and damaged ones.
func TestCFIEntries(t *testing.T) {
	const rules = "\n def_cfa 7 8\n offset 16 1\n"
	const init = "STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	const init2 = "STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	for _, c := range []struct {
		name string
		eh   bool
		in   string
		want string
	}{
		{"version 1", false, "cie v=1" + rules + "fde 0x1000 0x20", init},
		{"version 3", false, "cie v=3" + rules + "fde 0x1000 0x20", init},
		{"version 4", false, "cie v=4" + rules + "fde 0x1000 0x20", init},
		{"version 4, segment selector", false, "cie v=4 ssize=4" + rules + "fde 0x1000 0x20 ssize=4", init},
		{"version 4, addresses of 4 bytes", false, "cie v=4 asize=4" + rules + "fde 0x1000 0x20 R=3", init},
		{"version 4, addresses of 3 bytes", false, "cie v=4 asize=3" + rules + "fde 0x1000 0x20", `
			problem: .debug_frame+0xc: address of 3 bytes, segment selector of 0 (lost: CIE at 0x0 and its 1 FDEs)`},
		{"version 2", false, "cie v=2" + rules + "fde 0x1000 0x20", `
			problem: .debug_frame+0x9: CIE version 2, want 1, 3 or 4 (lost: CIE at 0x0 and its 1 FDEs)`},
		{"64-bit DWARF", false, "cie wide" + rules + "fde 0x1000 0x20 wide", init},
		{"64-bit DWARF in .eh_frame", true, "cie wide aug=zR" + rules + "fde 0x1000 0x20 wide", init},
		{"all augmentations", true, "cie aug=zPLRSBG" + rules + "fde 0x1000 0x20 augdata=01020304", init},
		{"unknown augmentation with length", true, "cie aug=zRx" + rules + "fde 0x1000 0x20", init},
		{"unknown augmentation without length", true, "cie aug=xR" + rules + "fde 0x1000 0x20\n cie aug=zR" + rules + "fde 0x2000 0x20", `
			STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			problem: .eh_frame+0xf: unknown augmentation "xR" (lost: CIE at 0x0 and its 1 FDEs)`},
		{"augmentation eh", true, "cie aug=eh" + rules + "fde 0x1000 0x20 R=0x00", init},
		{"augmentation without length", true, "cie aug=SB" + rules + "fde 0x1000 0x20 R=0x00", init},
		{"augmentation longer than the CIE", true, "cie aug=zR auglen=100" + rules + "fde 0x1000 0x20", `
			problem: .eh_frame+0x10: need 100 bytes, 8 left (lost: CIE at 0x0 and its 1 FDEs)`},
		{"augmentation longer than the FDE", true, "cie aug=zR" + rules + "fde 0x1000 0x20 auglen=100\nfde 0x2000 0x20", `
			STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
			problem: .eh_frame+0x29: need 100 bytes, 3 left (lost: FDE at 0x18)`},
		{"instructions that a CIE cannot have", true, "cie aug=zR" + rules + "advance_loc 1\nfde 0x1000 0x20", `
			problem: .eh_frame+0x17: advance in the instructions of a CIE (lost: CIE at 0x0 and its 1 FDEs)`},
		{"set_loc in a CIE", true, "cie aug=zR" + rules + "set_loc 0x1000\nfde 0x1000 0x20", `
			problem: .eh_frame+0x1b: DW_CFA_set_loc in the instructions of a CIE (lost: CIE at 0x0 and its 1 FDEs)`},
		{"restore in a CIE", true, "cie aug=zR" + rules + "offset 3 2\n restore 3\nfde 0x1000 0x20", init},
		{"no personality", true, "cie aug=zPR augdata=ff1b" + rules + "fde 0x1000 0x20", init},
		{"aligned personality", true, "cie aug=zPR augdata=50" + strings.Repeat("00", 6+8) + "1b" + rules + "fde 0x1000 0x20", init},
		{"augmentation string too long", true, "cie aug=zRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRRR" + rules + "fde 0x1000 0x20", `
			problem: .eh_frame+0x32: augmentation of 40 letters (lost: CIE at 0x0 and its 1 FDEs)`},
		{"unknown base of an encoding", true, "cie aug=zR R=0x6b" + rules + "fde 0x1000 0x20", `
			problem: .eh_frame+0x24: pointer encoding 0x6b has an unknown base (lost: FDE at 0x18)`},
		{"unknown format of an encoding", true, "cie aug=zR R=0x1d" + rules + "fde 0x1000 0x20", `
			problem: .eh_frame+0x20: pointer encoding 0x1d has an unknown format (lost: FDE at 0x18)`},
		{"terminators", true, "cie aug=zR" + rules + "fde 0x1000 0x20\nterminator\ncie aug=zR" + rules + "fde 0x2000 0x20\nterminator", init + init2},
		{"FDE before its CIE", false, "fde 0x1000 0x20 cie=0\n def_cfa_offset 16\ncie" + rules, `
			STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^`},
		{"FDE before its CIE in .eh_frame", true, "fde 0x1000 0x20 cie=0\ncie aug=zR" + rules, init},
		{"FDE without a CIE", false, "cie" + rules + "fde 0x1000 0x20 id=4\nfde 0x2000 0x20", init2 +
			"problem: .debug_frame+0x14: no CIE at 0x4, where the CIE pointer leads (lost: FDE at 0x14)"},
		{"CIE pointer before the section", true, "cie aug=zR" + rules + "fde 0x1000 0x20 id=0x1000\nfde 0x2000 0x20", init2 +
			"problem: .eh_frame+0x18: no CIE at 0xfffff01c, where the CIE pointer leads (lost: FDE at 0x18)"},
		{"length past the end", true, "cie aug=zR" + rules + "fde 0x1000 0x20\nfde 0x2000 0x20 length=0x1000", init +
			"problem: .eh_frame+0x30: entry of 4096 bytes, 16 left (lost: the rest of the section)"},
		{"reserved length", true, "cie aug=zR" + rules + "fde 0x1000 0x20\nraw f0ffffff", init +
			"problem: .eh_frame+0x30: length 0xfffffff0 is reserved (lost: the rest of the section)"},
		{"bytes at the end", true, "cie aug=zR" + rules + "fde 0x1000 0x20\nraw 0102", init +
			"problem: .eh_frame+0x2c: 2 bytes after the last entry"},
		{"dead code", false, "cie" + rules + "fde 0 0x20\nfde -1 0x20\nfde -2 0x20\nfde 0x1000 0x20\nfde 0x3000 0", init},
		{"end of the address space", false, "cie" + rules + "fde -16 0x20\nfde 0x1000 0x20", init +
			"problem: .debug_frame+0x14: 0x20 bytes of code at 0xfffffffffffffff0 pass the end of the address space (lost: FDE at 0x14 for 0xfffffffffffffff0)"},
		{"encoding that needs memory", true, "cie aug=zR R=0x9b" + rules + "fde 0x1000 0x20", `
			problem: .eh_frame+0x20: code address with encoding 0x9b (lost: FDE at 0x18)`},
		{"relative to itself", true, "cie aug=zR R=0x43" + rules + "fde 0x1000 0x20", `
			problem: .eh_frame+0x20: start of a function, relative to itself (lost: FDE at 0x18)`},
		{"set_loc, relative to the function", true, "cie aug=zR R=0x1b" + rules + "fde 0x1000 0x20\n bytes 01e60a0000\n def_cfa_offset 16", init +
			"STACK CFI 1010 .cfa: $rsp 16 +"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := asmCase{arch: arch.X86_64, order: binary.LittleEndian, eh: c.eh, addr: 0x500}
			got, _ := x.read(t, c.in)
			if want := trimLines(c.want); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// Only SFrame can represent key B, and where a return address is signed. This
// state is remembered and restored with the rules.
func TestCFISigned(t *testing.T) {
	x := asmCase{arch: arch.ARM64, order: binary.LittleEndian, eh: true, addr: 0x500}
	got := symtest.Marked(x.table(t, `cie aug=zRB code=4 data=-8 ra=30
		 def_cfa 31 0
		fde 0x1000 0x20
		 advance_loc 1
		 negate_ra_state
		 remember_state
		 advance_loc 1
		 negate_ra_state
		 advance_loc 1
		 restore_state
		 advance_loc 1
		 set_ra_state 0 0
		 advance_loc 1
		 set_ra_state 2 -4
		 advance_loc 1
		 def_cfa_offset 32
		cie aug=zR code=4 data=-8 ra=30
		 def_cfa 31 0
		 negate_ra_state_with_pc
		fde 0x1020 0x10
		 advance_loc 2
		 negate_ra_state`))
	want := map[symfmt.CFIMarks][]symfmt.Range{
		symfmt.MarkKeyB:   {{RVA: 0x1000, Size: 0x20}},
		symfmt.MarkSigned: {{RVA: 0x1004, Size: 4}, {RVA: 0x100c, Size: 4}, {RVA: 0x1014, Size: 0x14}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestCFIStats counts what is left out.
func TestCFIStats(t *testing.T) {
	x := asmCase{arch: arch.X86_64, order: binary.LittleEndian, eh: true, addr: 0x500}
	_, got := x.read(t, `cie aug=zR
		 def_cfa 7 8
		 offset 16 1
		fde 0 0x20
		fde 0x1000 0x20
		 offset_extended 4000 1
		 def_cfa_expression breg6:0 deref_size:9
		fde 0x1000 0x20
		fde 0x1010 0x20
		fde 0x2000 0
		terminator
		cie aug=zRS
		 def_cfa 7 8
		fde 0x3000 10
		 def_cfa_expression breg7:8 breg16:0 lit3 and plus`)
	want := Stats{CIEs: 2, FDEs: 6, Blocks: 2, Rows: 9, Terminators: 1, Dead: 1, Empty: 1, Duplicates: 1,
		Cut: 1, LostCFA: 1, Unnamed: 1, Signal: 1}
	want.Rows = 0
	got.Rows = 0
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestCFIMerge has ranges of FDEs, each with its own CFA offset, and the
// ranges for which each FDE supplies the rules.
func TestCFIMerge(t *testing.T) {
	type fde struct {
		lo, hi uint64
		bad    uint64 // address from which the instructions are damaged
	}
	for _, c := range []struct {
		name      string
		eh, debug []fde
		want      string // blocks: range and number of the FDE; those of .debug_frame count from 100
	}{
		{"apart", []fde{{10, 20, 0}}, []fde{{20, 30, 0}}, "10-20:0 20-30:100"},
		{"same range", []fde{{10, 20, 0}}, []fde{{10, 20, 0}}, "10-20:0"},
		{"same range, damaged at once", []fde{{10, 20, 10}}, []fde{{10, 20, 0}}, "10-20:100"},
		{"same range, damaged later", []fde{{10, 20, 15}}, []fde{{10, 20, 0}}, "10-15:0 15-20:100"},
		{"debug around", []fde{{12, 14, 0}, {16, 18, 0}}, []fde{{10, 20, 0}}, "10-12:100 12-14:0 14-16:100 16-18:1 18-20:100"},
		{"debug overlaps", []fde{{10, 20, 0}}, []fde{{5, 12, 0}, {18, 25, 0}}, "5-10:100 10-20:0 20-25:101"},
		{"twice", []fde{{10, 20, 0}, {10, 20, 0}}, nil, "10-20:0"},
		{"equal start", []fde{{10, 20, 0}, {10, 30, 0}, {10, 25, 0}}, nil, "10-20:0 20-30:1"},
		{"one in the other", []fde{{10, 40, 0}, {15, 30, 0}, {18, 20, 0}, {18, 35, 0}}, nil,
			"10-15:0 15-18:1 18-20:2 20-35:3 35-40:0"},
		{"not in order", []fde{{30, 40, 0}, {10, 20, 0}, {15, 35, 0}}, nil, "10-15:1 15-30:2 30-40:0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &Input{Arch: arch.X86_64, Order: binary.LittleEndian, PtrSize: 8}
			for k, list := range [][]fde{c.eh, c.debug} {
				text := "cie v=1 aug=zR R=4\n def_cfa 7 8\n offset 16 1\n"
				for i, f := range list {
					text += fmt.Sprintf("fde %d %d R=4\n def_cfa_offset %d\n", f.lo, f.hi-f.lo, 100*k+i)
					if f.bad != 0 {
						text += fmt.Sprintf("advance_loc %d\n bytes 3f\n", f.bad-f.lo)
					}
				}
				x := asmCase{arch: arch.X86_64, order: binary.LittleEndian, eh: k == 0}
				in.Sections = append(in.Sections, Section{Name: "s", Data: x.assemble(t, text), EH: k == 0})
			}
			table, _, problems := readTable(in)
			compareIndex(t, in, &table, problems)
			got := ""
			for _, b := range table.Blocks {
				var off int
				fmt.Sscanf(table.Rules.Text(b.Init), ".cfa: $rsp %d +", &off)
				got += fmt.Sprintf(" %d-%d:%d", b.RVA, uint64(b.RVA)+b.Size, off)
			}
			if got != " "+c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// TestCFIProblems has more problems than are kept, in two sections, and a
// cancelled context.
func TestCFIProblems(t *testing.T) {
	x := asmCase{arch: arch.X86_64, order: binary.LittleEndian}
	bad := x.assemble(t, "cie\n def_cfa 7 8\n"+strings.Repeat("fde 0x1000 0x20 id=4\n", 800))
	good := x.assemble(t, "cie\n def_cfa 7 8\nfde 0x1000 0x20")
	in := &Input{Arch: x.arch, Order: x.order, PtrSize: 8, Sections: []Section{{Name: ".a", Data: bad, File: "f"}, {Name: ".b", Data: bad}, {Name: ".c", Data: good}}}
	table, _, problems := readTable(in)
	if len(problems) != maxProblems+1 || len(table.Blocks) != 1 {
		t.Errorf("%d problems, %d blocks", len(problems), len(table.Blocks))
	}
	if got, want := problems[maxProblems].String(), "f: .a+0x0: and 600 more problems in call frame information"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, in); !errors.Is(err, context.Canceled) {
		t.Errorf("went on after being cancelled: %v", err)
	}
}

// TestCFIArch has the usual CIE of each CPU and a frame that saves the return
// address and a callee-saved register.
func TestCFIArch(t *testing.T) {
	le, be := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	for _, c := range []struct {
		arch     *arch.Arch
		order    binary.ByteOrder
		in, want string
	}{
		{arch.X86, le, `cie data=-4 ra=8
			 def_cfa 4 4
			 offset 8 1
			fde 0x1000 0x20
			 advance_loc 1
			 def_cfa_offset 8
			 offset 5 2`, `
			STACK CFI INIT 1000 20 .cfa: $esp 4 + .ra: .cfa -4 + ^
			STACK CFI 1001 .cfa: $esp 8 + $ebp: .cfa -8 + ^`},
		{arch.ARM64, le, `cie v=1 code=4 data=-8 ra=30
			 def_cfa 31 0
			fde 0x1000 0x20
			 negate_ra_state
			 advance_loc 1
			 def_cfa_offset 32
			 offset 29 4
			 offset 30 3
			 offset_extended 72 2
			 advance_loc 5
			 restore 30
			 restore 29
			 def_cfa_offset 0
			 advance_loc 1
			 negate_ra_state_with_pc
			 set_ra_state 2 -4
			 offset 30 1`, `
			STACK CFI INIT 1000 20 .cfa: sp 0 + .ra: x30
			STACK CFI 1004 .cfa: sp 32 + .ra: .cfa -24 + ^ x29: .cfa -32 + ^ v8: .cfa -16 + ^
			STACK CFI 1018 .cfa: sp 0 + .ra: x30 x29: x29
			STACK CFI 101c .ra: .cfa -8 + ^`},
		{arch.ARM, le, `cie v=1 code=2 data=-4 ra=14
			 def_cfa 13 0
			fde 0x1001 0x20
			 advance_loc 1
			 def_cfa_offset 8
			 offset 14 1
			 offset_extended 264 2`, `
			STACK CFI INIT 1000 20 .cfa: sp 0 + .ra: lr
			STACK CFI 1002 .cfa: sp 8 + .ra: .cfa -4 + ^ d8: .cfa -8 + ^`},
		{arch.MIPS64, be, `cie v=1 code=4 data=-8 ra=31
			 def_cfa_register 29
			fde 0x1000 0x20
			 advance_loc 1
			 def_cfa_offset 16
			 offset 31 1
			 offset 30 2`, `
			STACK CFI INIT 1000 20 .cfa: $sp 0 + .ra: $ra
			STACK CFI 1004 .cfa: $sp 16 + .ra: .cfa -8 + ^ $fp: .cfa -16 + ^`},
		{arch.PPC64, be, `cie v=1 code=4 data=-8 ra=65
			 def_cfa 1 0
			fde 0x1000 0x20
			 advance_loc 1
			 register 65 0
			 advance_loc 1
			 def_cfa_offset 112
			 offset_extended_sf 65 -2
			 offset 31 1
			 advance_loc 1
			 restore_extended 65`, `
			STACK CFI INIT 1000 20 .cfa: r1 0 + .ra: lr
			STACK CFI 1004 .ra: r0
			STACK CFI 1008 .cfa: r1 112 + .ra: .cfa 16 + ^ r31: .cfa -8 + ^
			STACK CFI 100c .ra: lr`},
		{arch.PPC, be, `cie v=1 code=4 data=-4 ra=108
			 def_cfa 1 0
			fde 0x1000 0x20
			 advance_loc 1
			 def_cfa_offset 16
			 offset_extended_sf 108 -1
			 offset_extended 109 1
			cie v=1 code=4 data=-4 ra=65
			 def_cfa 1 0
			fde 0x2000 0x20
			 advance_loc 1
			 offset_extended 109 1`, `
			STACK CFI INIT 1000 20 .cfa: r1 0 + .ra: lr
			STACK CFI 1004 .cfa: r1 16 + .ra: .cfa 4 + ^ ctr: .cfa -4 + ^
			STACK CFI INIT 2000 20 .cfa: r1 0 + .ra: lr
			STACK CFI 2004 vrsave: .cfa -4 + ^`},
		{arch.RISCV64, le, `cie v=3 code=1 data=-4 ra=1
			 def_cfa_register 2
			fde 0x1000 0x20
			 advance_loc 2
			 def_cfa_offset 16
			 offset 1 2
			 offset 8 4
			cie v=3 aug=S code=1 data=-4 ra=64
			 def_cfa 2 0
			 offset_extended 64 2
			fde 0x2000 0x20`, `
			STACK CFI INIT 1000 20 .cfa: sp 0 + .ra: ra
			STACK CFI 1002 .cfa: sp 16 + .ra: .cfa -8 + ^ s0: .cfa -16 + ^
			STACK CFI INIT 2000 20 .cfa: sp 0 + .ra: .cfa -8 + ^`},
		{arch.S390X, be, `cie v=1 code=1 data=-8 ra=14
			 def_cfa 15 160
			fde 0x1000 0x20
			 advance_loc 6
			 offset 14 6
			 offset 15 5
			 advance_loc 6
			 def_cfa_offset 320
			 advance_loc 6
			 restore 15
			 restore 14
			 def_cfa_offset 160`, `
			STACK CFI INIT 1000 20 .cfa: r15 160 + .ra: r14 r15: r15
			STACK CFI 1006 .ra: .cfa -48 + ^ r15: .cfa -40 + ^
			STACK CFI 100c .cfa: r15 320 +
			STACK CFI 1012 .cfa: r15 160 + .ra: r14 r15: r15`},
		{arch.X86_64, le, `cie v=1 ra=16
			 def_cfa 7 8
			fde 0x1000 0x20`, `
			STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .undef`},
	} {
		t.Run(c.arch.Name, func(t *testing.T) {
			x := asmCase{arch: c.arch, order: c.order}
			got, _ := x.read(t, c.in)
			if want := trimLines(c.want); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// A CIE pointer of 4 bytes leads back at most 4 GB, even across a multiple of
// 4 GB; only in the first 4 GB may it lead to a later CIE.
func TestCountBack(t *testing.T) {
	for _, c := range []struct{ pos, pointer, want uint64 }{
		{0x20, 0x20, 0},
		{0x20, 0x10, 0x10},
		{0x20, 1<<32 - 0x40, 0x60},
		{1<<32 + 0x10, 0x20, 1<<32 - 0x10},
		{1<<32 + 0x10, 0x8, 1<<32 + 0x8},
		{5<<32 + 0x10, 1<<32 - 4, 4<<32 + 0x14},
	} {
		if got := countBack(c.pos, c.pointer); got != c.want {
			t.Errorf("%#x at %#x: %#x, want %#x", c.pointer, c.pos, got, c.want)
		}
	}
}

// Free Pascal's FDEs have CIE pointers of 8 bytes in 32-bit DWARF. They are recognized by the code that they
// describe, even in a section with other FDEs.
func TestLongPointers(t *testing.T) {
	const cies = "cie\n def_cfa 7 8\n offset 16 1\ncie\n def_cfa 7 16\n offset 16 1\n"
	const usual = "fde 0x2000 0x20 cie=0\n"
	fde := func(order binary.ByteOrder, cie, lo, size uint64, more string) string {
		b := make([]byte, 28+len(more)/2)
		order.PutUint32(b, uint32(len(b)-4))
		order.PutUint64(b[4:], cie)
		order.PutUint64(b[12:], lo)
		order.PutUint64(b[20:], size)
		hex.Decode(b[28:], []byte(more))
		return "raw " + hex.EncodeToString(b) + "\n"
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		x := asmCase{arch: arch.X86_64, order: order}
		second := uint64(len(x.assemble(t, cies))) / 2
		const dead = "STACK CFI INIT 2000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^"
		for _, c := range []struct{ name, in, want string }{
			{"one", fde(order, 0, 0x1000, 0x20, ""), "STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^"},
			{"instructions", fde(order, 0, 0x1000, 0x20, "440e10"), "STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1004 .cfa: $rsp 16 +"},
			{"with others", usual + fde(order, second, 0x1000, 0x20, "") + fde(order, 0, 0x1800, 0x20, ""),
				"STACK CFI INIT 1000 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^\nSTACK CFI INIT 1800 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" + dead},
			{"dead", fde(order, 0, 0, 0x20, "") + usual, dead},
			{"no code", fde(order, 0, 0x5000, 0x20, "") + usual, dead},
			{"a part is no code", fde(order, 0, 0x2ff0, 0x20, "") + usual, dead},
		} {
			in := x.input(t, cies+c.in)
			in.Exec = func(addr uint64) bool { return 0x1000 <= addr && addr < 0x3000 }
			table, _, problems := readTable(in)
			odd := strings.Contains(c.name, "no code") // "dead" is not reported as damage
			said := len(problems) == 1 && strings.Contains(problems[0].Lost, "and 0 more such FDEs") && strings.Contains(problems[0].Err.Error(), "which is no code")
			if got := strings.TrimSpace(symtest.CFI(&table)); got != c.want || odd != said || !odd && len(problems) > 0 {
				t.Errorf("%v, %s: got\n%s\nwant\n%s\n%v", order, c.name, got, c.want, problems)
			}
		}
	}
}
