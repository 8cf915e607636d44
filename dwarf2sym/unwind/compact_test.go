package unwind

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// compactInput returns a macOS file with __unwind_info at RVA 0x1000 and its code at 0x2000.
func compactInput(info, code []byte, cpu *arch.Arch) *Input {
	const base = 0x100000000
	in := pdataInput(nil, nil, nil, cpu)
	text := Section{Name: "__text", Addr: base + 0x2000, Data: code}
	in.Base, in.Pdata, in.Compact = base, false, true
	in.Index = []Section{{Name: "__unwind_info", Addr: base + 0x1000, Data: info}}
	in.Code, in.CodeBytes = nil, uint64(len(code))
	in.Starts = []uint64{base + 0x2000}
	in.Tables = func(addr uint64) (Section, bool) { return text, addr-text.Addr < uint64(len(code)) }
	return in
}

func words(all ...uint32) (b []byte) {
	for _, w := range all {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// compactInfo returns a section with one regular page that has one entry, for code up to end.
func compactInfo(encoding, end uint32) []byte {
	return words(1, 28, 0, 28, 0, 28, 2, 0x2000, 52, 0, end, 0, 0, 2, 8|1<<16, 0x2000, encoding)
}

// rowsText returns the rules of a table with the offsets of its rows from base.
func rowsText(table *symfmt.CFITable, base symfmt.RVA) string {
	var rows []string
	for _, b := range table.Blocks {
		rows = append(rows, table.Rules.Text(b.Init))
		for _, r := range table.Rows[b.First:][:b.Count] {
			rows = append(rows, fmt.Sprintf("%x %s", uint64(r.RVA-base), table.Rules.Text(r.Rules)))
		}
	}
	return strings.Join(rows, "; ")
}

// A frame of each mode has the right row at each instruction.
func TestCompact(t *testing.T) {
	for _, c := range []struct {
		name     string
		cpu      *arch.Arch
		encoding uint32
		code     string
		want     string
	}{
		{"frame", arch.X86_64, 0x01010001, "\x55\x48\x89\xe5\x53\x5b\x5d\xc3",
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; 4 .cfa: $rbp 16 +; 5 $rbx: .cfa -24 + ^; 6 $rbx: $rbx; 7 .cfa: $rsp 8 + $rbp: $rbp"},
		{"immediate", arch.X86_64, 0x02030400, "\x53\x48\x83\xec\x08\x48\x83\xc4\x08\x5b\xc3",
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 5 .cfa: $rsp 24 +; 9 .cfa: $rsp 16 +; a .cfa: $rsp 8 + $rbx: $rbx"},
		{"indirect", arch.X86_64, 0x03042400, "\x53\x48\x81\xec\x00\x10\x00\x00\x48\x81\xc4\x00\x10\x00\x00\x5b\xc3",
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 8 .cfa: $rsp 4112 +; f .cfa: $rsp 16 +; 10 .cfa: $rsp 8 + $rbx: $rbx"},
		{"unknown instructions", arch.X86_64, 0x01010001, "\x55\x06\x06\x06", ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbx: .cfa -24 + ^ $rbp: .cfa -16 + ^"},
		{"nothing", arch.X86_64, 0, "\x53\x5b\xc3", ".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 2 .cfa: $rsp 8 + $rbx: $rbx"},
		{"nothing is known", arch.X86_64, 0, "\x48\x89\xc4\xc3", ""},
		{"a return above the CFA", arch.X86_64, 0, "\x5b\xc3", ""},
		{"a jump above the CFA", arch.X86_64, 0, "\x5b\xe9\x00\x10\x00\x00", ""},
		{"data that pops", arch.X86_64, 0, "\x5d\x5d\x06", ""},
		{"pages in a loop", arch.X86_64, 0x01000000, "\x55\x48\x89\xe5\x48\x81\xec\x00\x10\x00\x00\x4c\x39\xdc\x75\xf4\x48\x83\xec\x10\x48\x81\xc4\x10\x40\x00\x00\x5d\xc3",
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; 4 .cfa: $rbp 16 +; 1c .cfa: $rsp 8 + $rbp: $rbp"},
		{"arguments taken off as JavaScript does", arch.X86_64, 0, "\x55\x48\x89\xe5\xe8\x00\x10\x00\x00\x48\x89\xec\x5d\x41\x5a\x4a\x8d\x24\xcc\x41\x52\xc3", // leave; pop %r10; lea (%rsp,%r9,8), %rsp; push %r10; ret
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; 4 .cfa: $rbp 16 +; d .cfa: $rsp 8 + $rbp: $rbp; f .cfa: $rsp 0 +"},
		{"the same for arm64", arch.ARM64, 0, string(words(0xa9bf7bfd, 0x910003fd, 0x94000400, 0x910003bf, 0xa8c17bfd, 0x8b306fff, 0xd65f03c0)),
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^; 8 .cfa: x29 16 +; 14 .cfa: sp 0 + .ra: x30 x29: x29"},
		{"the return address moves", arch.X86_64, 0, "\x5b\x6a\x00\x53\xc2\x08\x00", ""}, // pop %rbx; push $0; push %rbx; ret $8
		{"a register saved by mov", arch.X86_64, 0x02030400, "\x48\x89\x5c\x24\xf8\x48\x83\xec\x10\x48\x8b\x5c\x24\x08\x48\x83\xc4\x10\xc3", // mov %rbx, -8(%rsp); sub $16, %rsp; mov 8(%rsp), %rbx; add $16, %rsp; ret
			".cfa: $rsp 8 + .ra: .cfa -8 + ^; 5 $rbx: .cfa -16 + ^; 9 .cfa: $rsp 24 +; e $rbx: $rbx; 12 .cfa: $rsp 8 +"},
		{"a register of no function stored by mov", arch.X86_64, 0, "\x48\x89\x5c\x24\xf0\xc3", ".cfa: $rsp 8 + .ra: .cfa -8 + ^"},
		{"DWARF", arch.X86_64, 0x04000010, "\xc3", ""},
		{"wrong encoding", arch.X86_64, 0x02010400, "\x53\x5b\xc3", ".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; 2 .cfa: $rsp 8 + $rbx: $rbx"},
		{"arm64 frame", arch.ARM64, 0x04000001, string(words(0xa9be4ff4, 0xa9017bfd, 0x910043fd, 0xa9417bfd, 0xa8c24ff4, 0xd65f03c0)),
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 + x19: .cfa -24 + ^ x20: .cfa -32 + ^; 8 .ra: .cfa -8 + ^ x29: .cfa -16 + ^; c .cfa: x29 16 +; 10 .cfa: sp 32 + .ra: x30 x29: x29; 14 .cfa: sp 0 + x19: x19 x20: x20"},
		{"arm64 frameless", arch.ARM64, 0x02001000, string(words(0xd10043ff, 0x910043ff, 0xd65f03c0)), ".cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 +; 8 .cfa: sp 0 +"},
		{"arm64 outlined prologue", arch.ARM64, 0x02002000, string(words(0xaa1e03e2, 0x94000004, 0xaa0203fe, 0x910083ff, 0xd65f03c0, 0xd10083ff, 0xd65f03c0)),
			".cfa: sp 0 + .ra: x30; 8 .cfa: sp 32 +; 10 .cfa: sp 0 +"},
		{"arm64 outlined saves", arch.ARM64, 0x02002001, string(words(0xd10083ff, 0xaa1e03e2, 0x94000005, 0xaa0203fe, 0xa9414ff4, 0x910083ff, 0xd65f03c0, 0xa9014ff4, 0xd65f03c0)),
			".cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 +; c x19: .cfa -8 + ^ x20: .cfa -16 + ^; 14 x19: x19 x20: x20; 18 .cfa: sp 0 +"},
		{"arm64 outlined frame pointer", arch.ARM64, 0, string(words(0x910043fd, 0xaa0103f3, 0xd65f03c0)), ".cfa: sp 0 + .ra: x30"},
	} {
		info := compactInfo(c.encoding, 0x2000+uint32(len(c.code)))
		table, _, problems := readTable(compactInput(info, []byte(c.code), c.cpu))
		if text := rowsText(&table, 0x2000); text != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, text, c.want, problems)
		}
	}
}

// Compact unwind information is reported as unread for CPUs whose instructions are not followed.
func TestCompactUnread(t *testing.T) {
	in := compactInput(compactInfo(0x01010001, 0x2001), []byte("\xc3"), arch.X86)
	_, _, problems := readTable(in)
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "__unwind_info+0x0: compact unwind information of x86 is not read") {
		t.Errorf("problems %v", problems)
	}
	in.Index, in.Arch = nil, arch.ARM
	_, _, problems = readTable(in)
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "code+0x0: no call frame information, and the instructions of arm are not followed") {
		t.Errorf("without a table: %v", problems)
	}
	x := asmCase{arch: arch.X86, order: binary.LittleEndian, eh: true, addr: 0x500}
	in = x.input(t, "cie aug=zR ra=8 data=-4 code=1\n def_cfa 4 4\n offset 8 1\nfde 0x2000 1\nterminator")
	in.Compact, in.Code = true, []Range{{0x2000, 0x2001}}
	if _, _, problems = readTable(in); len(problems) > 0 {
		t.Errorf("with __eh_frame: %v", problems)
	}
}

// A row with a register below the stack pointer is not compared with the instructions.
func TestEarly(t *testing.T) {
	f := pdataFrame{base: arm64SP, off: 16}
	f.save(19, -16)
	if f.early(arm64SP) {
		t.Error("a register at the stack pointer")
	}
	f.save(20, -24)
	if !f.early(arm64SP) {
		t.Error("a register below the stack pointer is not found")
	}
	if f.base = arm64X29; f.early(arm64SP) {
		t.Error("a register below the frame pointer")
	}
}

// What LLVM writes for assembly, and for frames with vectors of unknown size (SVE), has the rows of the instructions,
// too: registers may be "same value", and in an FDE with an expression, the rows before it are replaced.
func TestCompactFDE(t *testing.T) {
	const (
		enter = ".cfa: sp 0 + .ra: x30; 4 .cfa: sp 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^; 8 .cfa: sp 32 + x19: .cfa -24 + ^ x20: .cfa -32 + ^; "
		saved = "\n offset 30 1\n offset 29 2\n offset 19 3\n offset 20 4\n"
	)
	for _, c := range []struct {
		name, ops string
		code      []uint32 // after two pairs are pushed
		want      string
	}{
		{
			"same value", "advance_loc 8\n def_cfa_offset 32" + saved + "advance_loc 12\n def_cfa_offset 0\n same_value 30\n same_value 29\n same_value 19\n same_value 20",
			[]uint32{0xd503201f, 0xa8c14ff4, 0xa8c17bfd, 0xd65f03c0}, // nop; ldp x20, x19, [sp], #16; ldp x29, x30, [sp], #16; ret
			enter + "10 .cfa: sp 16 + x19: x19 x20: x20; 14 .cfa: sp 0 + .ra: x30 x29: x29",
		},
		{
			"expression", "advance_loc 12\n def_cfa_expression breg31:32 bregx:46:0 const1u:8 mul plus" + saved,
			[]uint32{0x043f57ff, 0xd503201f, 0xd65f03c0}, // addvl sp, sp, #-1; nop; ret
			enter + ".cfa: sp 32 + vg 8 * + .ra: .cfa -8 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^ x29: .cfa -16 + ^",
		},
		{
			"CFA below the stack pointer", "def_cfa_offset_sf 2\n offset_extended_sf 30 -2", []uint32{0xa8c14ff4, 0xa8c17bfd, 0xd65f03c0}, // ldp, ldp, ret
			enter + "c .cfa: sp 16 + x19: x19 x20: x20; 10 .cfa: sp 0 + .ra: x30 x29: x29",
		},
	} {
		code := append(words(0xa9bf7bfd, 0xa9bf4ff4), words(c.code...)...) // stp x29, x30, [sp, #-16]!; stp x20, x19, [sp, #-16]!
		x := asmCase{arch: arch.ARM64, order: binary.LittleEndian, eh: true, addr: 0x500}
		in := x.input(t, fmt.Sprintf("cie aug=zR ra=30 data=-8 code=1\n def_cfa 31 0\nfde 0x2000 %d\n %s\nterminator", len(code), c.ops))
		text := Section{Name: "__text", Addr: 0x2000, Data: code}
		in.Code = []Range{{text.Addr, text.Addr + uint64(len(code))}}
		in.Compact, in.Starts, in.Padding = true, []uint64{text.Addr}, compactInput(nil, code, arch.ARM64).Padding
		in.Tables = func(addr uint64) (Section, bool) { return text, addr-text.Addr < uint64(len(code)) }
		table, _, problems := readTable(in)
		if got := rowsText(&table, 0x2000); got != c.want || len(problems) > 0 {
			t.Errorf("%s: %s\nwant %s\n%v", c.name, got, c.want, problems)
		}
	}
}

// Linkers leave FDEs of assembly in places without its functions: these are dropped, and the functions have the rows
// of their instructions. A correct FDE may begin where the file lists no function.
func TestCompactMisplaced(t *testing.T) {
	const (
		leaf  = "\x31\xc0\x31\xc0\x31\xc0\xc3"                                                 // xor %eax, %eax, three times; ret
		frame = "\x48\x83\xec\x18\x31\xc0\x48\x83\xc4\x18\xc3"                                 // sub $24, %rsp; xor %eax, %eax; add $24, %rsp; ret
		twice = "\x48\x83\xec\x18\x31\xc0\x48\x83\xc4\x18\x48\x83\xec\x30\x48\x83\xc4\x30\xc3" // the same, then with 48
		entry = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	)
	for _, c := range []struct {
		name  string
		code  string
		fde   int // its offset
		start uint64
		want  string
		lost  int
	}{
		{"in another function", leaf + frame, 2, 7, "0 " + entry + "; 7 " + entry + "; +4 .cfa: $rsp 32 +; +a .cfa: $rsp 8 +", 1},
		{"where another function pops", twice, 6, 0, "0 " + entry + "; +4 .cfa: $rsp 32 +; +a .cfa: $rsp 8 +; +e .cfa: $rsp 56 +; +12 .cfa: $rsp 8 +", 1},
		{"not listed", leaf + frame, 7, 0, "0 " + entry + "; 7 " + entry + "; +4 .cfa: $rsp 32 +; +a .cfa: $rsp 8 +", 0},
		{"a function that is listed", leaf + frame, 0, 0, "0 " + entry + "; +7 .cfa: $rsp 32 +", 0},
	} {
		code, size := []byte(c.code), len(frame)
		x := asmCase{arch: arch.X86_64, order: binary.LittleEndian, eh: true, addr: 0x500}
		in := x.input(t, fmt.Sprintf("cie aug=zR ra=16 data=-8 code=1\n def_cfa 7 8\n offset 16 1\nfde %d %d\n advance_loc 4\n def_cfa_offset 32\nterminator", 0x2000+c.fde, size))
		text := Section{Name: "__text", Addr: 0x2000, Data: code}
		in.Compact, in.Starts, in.Padding = true, slices.Compact([]uint64{text.Addr, text.Addr + c.start}), compactInput(nil, code, arch.X86_64).Padding
		in.Tables = func(addr uint64) (Section, bool) { return text, addr-text.Addr < uint64(len(code)) }
		in.Code = []Range{{text.Addr, text.Addr + uint64(len(code))}}
		table, _, problems := readTable(in)
		if text := blocksText(&table); text != c.want || len(problems) != c.lost {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, text, c.want, problems)
		}
		if c.lost > 0 && len(problems) > 0 && !strings.Contains(problems[0].String(), fmt.Sprintf("FDE for %#x bytes at %#x, where no function begins", size, 0x2000+c.fde)) {
			t.Error(problems)
		}
	}
}

// Functions of one range have their own rows, whatever is between them, and so has code that the table does not
// cover.
func TestCompactFunctions(t *testing.T) {
	const (
		frame = "\x55\x48\x89\xe5\x5d\xc3" // push %rbp; mov %rsp, %rbp; pop %rbp; ret
		rows  = ".cfa: $rsp 8 + .ra: .cfa -8 + ^; +1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +4 .cfa: $rbp 16 +; +5 .cfa: $rsp 8 + $rbp: $rbp"
	)
	for _, c := range []struct {
		name, code string
		second     uint64 // offset of the second function
		covered    uint32 // bytes of code in the table
		want       string
	}{
		{"zeros between", frame + "\x00\x00\x00" + frame, 9, 15, "0 " + rows + "; 9 " + rows},
		{"a call that does not return", "\x55\x48\x89\xe5\xe8\x00\x00\x00\x00\x0f\x1f\x00" + frame, 12, 18,
			"0 .cfa: $rsp 8 + .ra: .cfa -8 + ^; +1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +4 .cfa: $rbp 16 +; c " + rows},
		{"behind the table", frame + "\x90\x31\xc0\xc3", 7, 6, "0 " + rows + "; 7 .cfa: $rsp 8 + .ra: .cfa -8 + ^"},
		{"any size of frame", "\x55\x48\x89\xe5\x48\x29\xc4\x5d\xc3" + "\xc3", 9, 9,
			"0 .cfa: $rsp 8 + .ra: .cfa -8 + ^; +1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +4 .cfa: $rbp 16 +; +8 .cfa: $rsp 8 + $rbp: $rbp; 9 .cfa: $rsp 8 + .ra: .cfa -8 + ^"},
	} {
		in := compactInput(compactInfo(0x01000000, 0x2000+c.covered), []byte(c.code), arch.X86_64)
		lo := in.Starts[0]
		in.Starts = append(in.Starts, lo+c.second)
		in.Code = []Range{{lo, lo + uint64(len(c.code))}}
		table, _, problems := readTable(in)
		if text := blocksText(&table); text != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, text, c.want, problems)
		}
	}
}

// Functions that old linkers joined have their own sizes, and an encoding that does not point to its sub has no
// size. The second function does not return, so that only its frame shows that the instructions are understood.
func TestCompactIndirect(t *testing.T) {
	const (
		enter = ".cfa: $rsp 8 + .ra: .cfa -8 + ^; +1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; +8 "
		leave = "; +14 .cfa: $rsp 16 +; +15 .cfa: $rsp 8 + $rbx: $rbx"
	)
	function := func(size byte, end string) string { // push %rbx; sub $0x100*size, %rsp; call; ...
		return "\x53\x48\x81\xec\x00" + string([]byte{size}) + "\x00\x00\xe8\x00\x10\x00\x00" + end
	}
	first := function(0x10, "\x48\x81\xc4\x00\x10\x00\x00\x5b\xc3")
	for _, c := range []struct {
		name     string
		encoding uint32
		second   string
		want     string
	}{
		{"joined", 0x03044400, function(0x20, "\x0f\x0b"), "0 " + enter + ".cfa: $rsp 4112 +" + leave + "; 16 " + enter + ".cfa: $rsp 8208 +"},
		{"no sub at the place", 0x03034400, function(0x20, "\x0f\x0b"), "0 " + enter + ".cfa: $rsp 4112 +" + leave + "; 16 " + enter + ".cfa: $rsp 8208 +"},
		{"the second has no frame", 0x03044400, "\xe8\x00\x10\x00\x00\xe8\x00\x10\x00\x00\xc3", "0 " + enter + ".cfa: $rsp 4112 +" + leave + "; 16 .cfa: $rsp 8 + .ra: .cfa -8 + ^"},
		{"the second is too short", 0x03044400, "\xc3", "0 " + enter + ".cfa: $rsp 4112 +" + leave + "; 16 .cfa: $rsp 8 + .ra: .cfa -8 + ^"},
	} {
		code := first + c.second
		in := compactInput(compactInfo(c.encoding, 0x2000+uint32(len(code))), []byte(code), arch.X86_64)
		lo := in.Starts[0]
		in.Starts = append(in.Starts, lo+uint64(len(first)))
		in.Code = []Range{{lo, lo + uint64(len(code))}}
		table, _, problems := readTable(in)
		if text := blocksText(&table); text != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, text, c.want, problems)
		}
	}
}

// blocksText returns the rules of a table's blocks, with their offsets from 0x2000, and those of their rows.
func blocksText(table *symfmt.CFITable) string {
	var all []string
	for _, b := range table.Blocks {
		all = append(all, fmt.Sprintf("%x %s", uint64(b.RVA)-0x2000, table.Rules.Text(b.Init)))
		for _, r := range table.Rows[b.First:][:b.Count] {
			all = append(all, fmt.Sprintf("+%x %s", uint64(r.RVA-b.RVA), table.Rules.Text(r.Rules)))
		}
	}
	return strings.Join(all, "; ")
}

// A range of megabytes of code that was compiled without tables has the rows of all its functions, and so has such
// code in a file without a table. The register of the frame pointer may hold something else.
func TestCompactMany(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	const (
		frame  = "\x55\x48\x89\xe5\x5d\xc3"             // push %rbp; mov %rsp, %rbp; pop %rbp; ret
		others = "\x55\x50\x48\x8d\x2c\x24\x58\x5d\xc3" // push %rbp; push %rax; lea (%rsp), %rbp; pop %rax; pop %rbp; ret
	)
	code := append(bytes.Repeat([]byte(frame), maxFlow/2), others...)
	n := maxFlow/2 + 1
	for _, info := range [][]byte{compactInfo(0, 0x2000+uint32(len(code))), nil} {
		in := compactInput(info, code, arch.X86_64)
		lo := in.Starts[0]
		for i := 1; i < n; i++ {
			in.Starts = append(in.Starts, lo+uint64(i*len(frame)))
		}
		in.Code = []Range{{lo, lo + uint64(len(code))}}
		if info == nil {
			in.Index = nil
		}
		table, _, problems := readTable(in)
		if len(table.Blocks) != n || len(problems) > 0 {
			t.Errorf("%d blocks, want %d; %v", len(table.Blocks), n, problems)
			continue
		}
		last := symfmt.CFITable{Blocks: table.Blocks[n-1:], Rows: table.Rows, Rules: table.Rules}
		want := ".cfa: $rsp 8 + .ra: .cfa -8 + ^; 1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; 2 .cfa: $rsp 24 +; 7 .cfa: $rsp 16 +; 8 .cfa: $rsp 8 + $rbp: $rbp"
		if got := rowsText(&last, last.Blocks[0].RVA); got != want {
			t.Errorf("the last function:\n got %s\nwant %s", got, want)
		}
	}
}

// The cases of two switches with different frames are interleaved: each has the frame with which it returns, even
// after a call.
func TestCompactSwitches(t *testing.T) {
	code := "\x84\xc0\x74\x0a" + // test %al, %al; je 0xe
		"\x55\x48\x89\xe5\x53" + "\x48\x01\xc8\xff\xe0" + // push %rbp; mov %rsp, %rbp; push %rbx; add %rcx, %rax; jmp *%rax
		"\x48\x01\xc8\xff\xe0" + // add %rcx, %rax; jmp *%rax
		"\x31\xc0\xc3" + "\x31\xc0\x5b\x5d\xc3" + // xor %eax, %eax; ret; xor %eax, %eax; pop %rbx; pop %rbp; ret
		"\x31\xc0\xe8\x00\x10\x00\x00\xc3" + "\x31\xc0\xe8\x00\x10\x00\x00\x5b\x5d\xc3" // the same with calls before the returns
	in := compactInput(compactInfo(0x01010001, 0x2000+uint32(len(code))), []byte(code), arch.X86_64)
	in.Code = []Range{{in.Starts[0], in.Starts[0] + uint64(len(code))}}
	table, _, problems := readTable(in)
	const frame = ".cfa: $rbp 16 + $rbx: .cfa -24 + ^ $rbp: .cfa -16 + ^"
	want := "0 .cfa: $rsp 8 + .ra: .cfa -8 + ^; +5 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +8 .cfa: $rbp 16 +; +9 $rbx: .cfa -24 + ^; " +
		"+e .cfa: $rsp 8 + $rbx: $rbx $rbp: $rbp; +16 " + frame + "; +19 $rbx: $rbx; +1a .cfa: $rsp 8 + $rbp: $rbp; " +
		"+23 " + frame + "; +2b $rbx: $rbx; +2c .cfa: $rsp 8 + $rbp: $rbp"
	if text := blocksText(&table); text != want || len(problems) > 0 {
		t.Errorf("\n got %s\nwant %s\n%v", text, want, problems)
	}
}

// A label of assembly that is listed as a function has the frame of the code that jumps to it, if only code with a
// frame does. A function that is jumped to in a tail call remains a function.
func TestCompactLabels(t *testing.T) {
	const entry = " .cfa: $rsp 8 + .ra: .cfa -8 + ^"
	for _, c := range []struct {
		name   string
		code   string
		starts []uint64
		want   string
	}{
		{
			"a label", "\x53\xe8\x00\x10\x00\x00\x84\xc0\x75\x02\x5b\xc3" + "\x31\xc0\x5b\xc3", []uint64{12}, // push %rbx; call; test %al, %al; jne 12; pop %rbx; ret
			"0" + entry + "; +1 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; +b .cfa: $rsp 8 + $rbx: $rbx; +c .cfa: $rsp 16 + $rbx: .cfa -16 + ^; +f .cfa: $rsp 8 + $rbx: $rbx",
		},
		{
			"a function", "\x84\xc0\x74\x0c" + "\x53\xe8\x00\x10\x00\x00\x84\xc0\x75\x02\x5b\xc3" + "\x31\xc0\xc3", []uint64{16}, // je 16 before that
			"0" + entry + "; +5 .cfa: $rsp 16 + $rbx: .cfa -16 + ^; +f .cfa: $rsp 8 + $rbx: $rbx; 10" + entry,
		},
		{
			"a function with arguments on the stack", "\xc3" + "\x55\x48\x89\xe5\x5d\xc2\x08\x00" + "\x6a\x00\xeb\xf4", []uint64{1, 9}, // push %rbp; mov %rsp, %rbp; pop %rbp; ret $8; push $0; jmp 1
			"0" + entry + "; 1" + entry + "; +1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +4 .cfa: $rbp 16 +; +5 .cfa: $rsp 8 + $rbp: $rbp; 9" + entry + "; +2 .cfa: $rsp 16 +",
		},
		{
			"data with a jump into a function", "\x74\x06\x06" + "\x55\x48\x89\xe5\x50\x58\x5d\xc3", []uint64{3}, // je 8; push %rbp; mov %rsp, %rbp; push %rax; pop %rax; pop %rbp; ret
			"0" + entry + "; 3" + entry + "; +1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +4 .cfa: $rbp 16 +; +7 .cfa: $rsp 8 + $rbp: $rbp",
		},
	} {
		in := compactInput(compactInfo(0, 0x2000+uint32(len(c.code))), []byte(c.code), arch.X86_64)
		lo := in.Starts[0]
		for _, start := range c.starts {
			in.Starts = append(in.Starts, lo+start)
		}
		in.Code = []Range{{lo, lo + uint64(len(c.code))}}
		table, _, problems := readTable(in)
		if text := blocksText(&table); text != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, text, c.want, problems)
		}
	}
}

// In an interpreter that is one function in assembly with a label for each instruction, only functions that make
// their own frames have rules: handlers continue in a frame that others made, and some are reached from the code
// before them. If none continues in such a frame, labels have rules like other code.
func TestCompactInterpreter(t *testing.T) {
	const (
		handler  = "\x48\x8b\x45\xf8" + "\xff\x24\xc1" // mov -8(%rbp), %rax; jmp *(%rcx,%rax,8)
		function = "\x55\x48\x89\xe5\x5d\xc3"          // push %rbp; mov %rsp, %rbp; pop %rbp; ret
		rows     = "0 .cfa: $rsp 8 + .ra: .cfa -8 + ^; +1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^; +4 .cfa: $rbp 16 +; +5 .cfa: $rsp 8 + $rbp: $rbp"
		entry    = " .cfa: $rsp 8 + .ra: .cfa -8 + ^"
	)
	armHandler := string(words(0xf85f83a0, 0xf8607820, 0xd61f0000)) // ldur x0, [x29, #-8]; ldr x0, [x1, x0, lsl #3]; br x0
	armFunction := string(words(0xa9bf7bfd, 0x910003fd, 0xa8c17bfd, 0xd65f03c0))
	for _, c := range []struct {
		name  string
		cpu   *arch.Arch
		parts []string
		want  string
	}{
		{"labels", arch.X86_64, []string{function, "\x31\xc0", handler}, rows},
		{"functions only", arch.X86_64, []string{function, "\x31\xc0\xc3", handler}, rows + "; 6" + entry + "; 9" + entry},
		{"no frame of others", arch.X86_64, []string{function, "\x31\xc0", "\xff\x24\xc1"}, rows + "; 6" + entry + "; 8" + entry},
		{"a piece that the outliner made", arch.X86_64, []string{function, "\x31\xc0", "\x48\x8b\x45\xf8\xc3"}, rows + "; 6" + entry + "; 8" + entry},
		{"labels of arm64", arch.ARM64, []string{armFunction, string(words(0x52800000)), armHandler},
			"0 .cfa: sp 0 + .ra: x30; +4 .cfa: sp 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^; +8 .cfa: x29 16 +; +c .cfa: sp 0 + .ra: x30 x29: x29"},
	} {
		code := strings.Join(c.parts, "")
		in := compactInput(compactInfo(0, 0x2000+uint32(len(code))), []byte(code), c.cpu)
		lo := in.Starts[0]
		in.Code = []Range{{lo, lo + uint64(len(code))}}
		for _, p := range c.parts[:len(c.parts)-1] {
			lo += uint64(len(p))
			in.Starts = append(in.Starts, lo)
		}
		table, _, problems := readTable(in)
		if text := blocksText(&table); text != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, text, c.want, problems)
		}
	}
}

// Without an encoding, only a switch gives its cases a frame. Any other code to which nothing leads has no rules.
func TestCompactCases(t *testing.T) {
	const rows = ".cfa: sp 0 + .ra: x30; 4 .cfa: sp 32 +"
	for _, c := range []struct {
		name string
		jump uint32 // what is between the addition and the jump
		want string
	}{
		{"switch", 0xd503201f, rows + "; 18 .cfa: sp 0 +"},         // nop
		{"another switch", 0xaa0903ea, rows + "; 18 .cfa: sp 0 +"}, // mov x10, x9
		{"a jump to where nobody knows", 0xf9400129, rows},         // ldr x9, [x9]
		{"the same, of a pair", 0xa940252a, rows},                  // ldp x10, x9, [x9]
		{"another sum", 0x910f22d6, rows + "; 18 .cfa: sp 0 +"},    // add x22, x22, #0x3c8
	} {
		// sub sp, sp, #32; add x9, x9, x10, lsl #2; ...; br x9; nop; add sp, sp, #32; ret
		code := words(0xd10083ff, 0x8b0a0929, c.jump, 0xd61f0120, 0xd503201f, 0x910083ff, 0xd65f03c0)
		table, _, problems := readTable(compactInput(compactInfo(0, 0x2000+uint32(len(code))), code, arch.ARM64))
		if got := rowsText(&table, 0x2000); got != c.want || len(problems) > 0 {
			t.Errorf("%s:\n got %s\nwant %s\n%v", c.name, got, c.want, problems)
		}
		if n := table.Blocks[0].Size; c.want == rows && n != 16 {
			t.Errorf("%s: rules for %d bytes, want 16", c.name, n)
		}
	}
}

// Stubs push a number, and jump to code that they share, which is before them or after the first.
func TestCompactStubs(t *testing.T) {
	const (
		shared = "\x41\x53\xff\x25\x00\x00\x00\x00" // push %r11; jmp *0(%rip)
		rows   = " .cfa: $rsp 16 +; "
	)
	for _, c := range []struct{ code, want string }{
		{shared + "\x6a\x01\xeb\xf4\x6a\x02\xeb\xf0", "0 .cfa: $rsp 16 + .ra: .cfa -8 + ^; 2 .cfa: $rsp 24 +; 8 .cfa: $rsp 8 +; a" + rows + "c .cfa: $rsp 8 +; e .cfa: $rsp 16 +"},
		{"\x6a\x00\xeb\x02\x00\x00" + shared + "\x6a\x01\xeb\xf4", "0 .cfa: $rsp 8 + .ra: .cfa -8 + ^; 2" + rows + "6 .cfa: $rsp 16 + .ra: .cfa -8 + ^; 8 .cfa: $rsp 24 +; e .cfa: $rsp 8 +; 10 .cfa: $rsp 16 +"},
	} {
		in := compactInput(compactInfo(0, 0x2000), []byte(c.code), arch.X86_64)
		in.Stubs = []Range{{in.Starts[0], in.Starts[0] + uint64(len(c.code))}}
		table, _, problems := readTable(in)
		var got []string
		for _, b := range table.Blocks {
			got = append(got, fmt.Sprintf("%x %s", uint64(b.RVA)-0x2000, table.Rules.Text(b.Init)))
			for _, r := range table.Rows[b.First:][:b.Count] {
				got = append(got, fmt.Sprintf("%x %s", uint64(r.RVA)-0x2000, table.Rules.Text(r.Rules)))
			}
		}
		if text := strings.Join(got, "; "); text != c.want || len(problems) > 0 {
			t.Errorf("%x:\n got %s\nwant %s\n%v", c.code, text, c.want, problems)
		}
	}
}

// Without a table, problems are reported for the code itself.
func TestCompactCodeProblem(t *testing.T) {
	code := bytes.Repeat([]byte("\x50\xe8\x00\x00\x00\x00"), 50000) // push %rax; call to the next
	in := compactInput(nil, code, arch.X86_64)
	in.Index, in.Code = nil, []Range{{in.Starts[0], in.Starts[0] + uint64(len(code))}}
	_, _, problems := readTable(in)
	if len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), "code+0x0: rule sets of more than") {
		t.Error(problems)
	}
}

// Code in which many paths share one that leads to a contradiction is followed up to a limit, which grows with the
// size of the code.
func TestCompactEffort(t *testing.T) {
	for _, size := range []int{1 << 12, 1 << 16} {
		code := slices.Concat([]byte("\xeb\x00"), bytes.Repeat([]byte{0xfc}, size), []byte{0x06}) // jmp, cld, and no instruction
		in := compactInput(compactInfo(0, 0x2000+uint32(len(code))), code, arch.X86_64)
		c := newReader(t.Context(), in).newCompact()
		c.section = &in.Index[0]
		if err := c.stubs(&pdataEntry{lo: in.Starts[0], hi: in.Starts[0] + uint64(len(code))}); err != nil {
			t.Fatal(err)
		}
		if !c.flow.full || c.flow.left > 0 {
			t.Errorf("%d bytes: full %t, %d instructions left; want the limit to be reached", size, c.flow.full, c.flow.left)
		}
	}
}

// The number of a permutation encodes, in mixed radix, which of six registers remain.
func TestPermuted(t *testing.T) {
	for _, c := range []struct {
		code  uint32
		count int
		want  []uint8
	}{
		{0, 1, []uint8{1}}, {5, 1, []uint8{6}}, {0, 2, []uint8{1, 2}}, {29, 2, []uint8{6, 5}}, {6, 2, []uint8{2, 3}},
		{0, 6, []uint8{1, 2, 3, 4, 5, 6}}, {719, 6, []uint8{6, 5, 4, 3, 2, 1}}, {719, 5, []uint8{6, 5, 4, 3, 2}}, {0, 0, nil},
	} {
		if got, ok := permuted(c.code, c.count); !ok || !slices.Equal(got, c.want) {
			t.Errorf("%d of %d: %v %v, want %v", c.code, c.count, got, ok, c.want)
		}
	}
	if _, ok := permuted(1000, 1); ok {
		t.Error("a permutation of the 1000th of six registers")
	}
	if _, ok := permuted(0, 7); ok {
		t.Error("seven of six registers")
	}
}

// Damage is reported with its offset.
func TestCompactDamage(t *testing.T) {
	for name, c := range map[string]struct {
		info []byte
		want string
	}{
		"short":     {words(1, 28), "__unwind_info+0x0: 1 headers do not fit"},
		"version":   {words(2, 28, 0, 28, 0, 28, 0), "__unwind_info+0x0: version 2, want 1"},
		"common":    {words(1, 28, 0xffffffff, 28, 0, 28, 0), "__unwind_info+0x1c: 4294967295 common encodings do not fit"},
		"pages":     {words(1, 28, 0, 28, 0, 28, 9), "__unwind_info+0x1c: 9 pages do not fit"},
		"page":      {words(1, 28, 0, 28, 0, 28, 2, 0x2000, 0x9999, 0, 0x2004, 0, 0), "__unwind_info+0x9999: a number extends past"},
		"kind":      {words(1, 28, 0, 28, 0, 28, 2, 0x2000, 52, 0, 0x2004, 0, 0, 7, 8), "__unwind_info+0x34: page of kind 7"},
		"ascending": {words(1, 28, 0, 28, 0, 28, 2, 0x2004, 52, 0, 0x2000, 0, 0), "__unwind_info+0x1c: code from 0x2004 to 0x2000"},
		"encoding":  {words(1, 28, 0, 28, 0, 28, 2, 0x2000, 52, 0, 0x2004, 0, 0, 3, 12|1<<16, 16, 0x05000000), "__unwind_info+0x40: encoding 5, there are 0"},
		"mode":      {compactInfo(0x09000000, 0x2004), "__unwind_info+0x3c: encoding 0x9000000: unknown mode"},
		"unused":    {compactInfo(0x01008001, 0x2004), "__unwind_info+0x3c: encoding 0x1008001: want no bits of 0x8000"},
		"frameless": {compactInfo(0x02000020, 0x2004), "__unwind_info+0x3c: encoding 0x2000020: want no bits of 0xe0"},
		"frame":     {compactInfo(0x04001001, 0x2004), "__unwind_info+0x3c: encoding 0x4001001: want no bits of 0xfff0e0"},
	} {
		cpu := arch.X86_64
		if name == "frame" || name == "frameless" {
			cpu = arch.ARM64
		}
		_, _, problems := readTable(compactInput(c.info, make([]byte, 4), cpu))
		if len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, problems, c.want)
		}
	}
}

// Entries that begin where the list of all functions has none are reported, and so are FDEs that extend beyond the
// code.
func TestCompactDisagrees(t *testing.T) {
	in := compactInput(compactInfo(0x01000000, 0x2004), []byte("\x55\x48\x89\xe5"), arch.X86_64)
	in.AllStarts = true
	if _, _, problems := readTable(in); len(problems) != 0 {
		t.Error(problems)
	}
	in.Starts[0]++
	_, _, problems := readTable(in)
	if want := "__unwind_info+0x0: 1 of 1 entries begin where the list of functions has none, the first at 0x100002000"; len(problems) != 1 || problems[0].Err.Error() != want {
		t.Errorf("%v, want %s", problems, want)
	}
	in.AllStarts = false
	if _, _, problems := readTable(in); len(problems) != 0 {
		t.Errorf("starts of some functions: %v", problems)
	}

	for _, c := range []struct {
		lo, size int
		want     string
	}{
		{0x2000, 8, ""},
		{0x2000, 9, "no code from 0x2000 to 0x2009"},
		{0x1fff, 2, "no code from 0x1fff to 0x2001"},
		{0x3000, 8, "no code from 0x3000 to 0x3008"},
	} {
		x := asmCase{arch: arch.X86_64, order: binary.LittleEndian, eh: true, addr: 0x500}
		in := x.input(t, fmt.Sprintf("cie aug=zR ra=16 data=-8 code=1\n def_cfa 7 8\n offset 16 1\nfde %#x %d\nterminator", c.lo, c.size))
		in.Compact, in.Code, in.Padding = true, []Range{{0x2000, 0x2008}}, compactInput(nil, nil, arch.X86_64).Padding
		in.Tables = func(uint64) (Section, bool) { return Section{}, false }
		table, stats, problems := readTable(in)
		if c.want == "" {
			if len(table.Blocks) != 1 || len(problems) > 0 {
				t.Errorf("%d blocks, %v", len(table.Blocks), problems)
			}
			continue
		}
		if len(table.Blocks) != 0 || stats.Dead != 0 || len(problems) != 1 || !strings.Contains(problems[0].Err.Error(), c.want) {
			t.Errorf("%d blocks, %d dead, %v, want %s", len(table.Blocks), stats.Dead, problems, c.want)
		}
	}
}

// Any __unwind_info and code give blocks that do not overlap, in bounded time.
func FuzzCompact(f *testing.F) {
	f.Add(compactInfo(0x01010001, 0x2008), []byte("\x55\x48\x89\xe5\x53\x5b\x5d\xc3"), false)
	f.Add(compactInfo(0x04000001, 0x2018), words(0xa9be4ff4, 0xa9017bfd, 0x910043fd, 0xa9417bfd, 0xa8c24ff4, 0xd65f03c0), true)
	f.Add(words(1, 28, 0, 28, 0, 28, 2, 0x2000, 52, 0, 0x2004, 0, 0, 3, 12|1<<16, 16|1<<16, 0, 0x02030400), make([]byte, 64), false)
	f.Fuzz(func(t *testing.T, info, code []byte, isARM bool) {
		cpu := arch.X86_64
		if isARM {
			cpu = arch.ARM64
		}
		in := compactInput(info, code, cpu)
		in.Stubs = []Range{{in.Starts[0], in.Starts[0] + uint64(len(code))}}
		in.Code = in.Stubs
		in.Starts = append(in.Starts, in.Starts[0]+uint64(len(code)/2))
		table, _, _ := readTable(in)
		var end uint64
		for _, b := range table.Blocks {
			if uint64(b.RVA) < end || b.Size == 0 {
				t.Fatalf("block at %#x of %d bytes behind %#x", uint64(b.RVA), b.Size, end)
			}
			end = uint64(b.RVA) + b.Size
		}
	})
}
