package symsframe

import (
	"encoding/binary"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// table reads the records of a block at 0x1000, of 0x20 bytes: its first rules,
// then "address rules". A bar and marks may follow: S for a signal frame, B for key B,
// s for a signed return address.
func table(init string, rows ...string) *symfmt.CFITable {
	var t symfmt.CFITable
	init, marks := cutMarks(init)
	t.Blocks = []symfmt.CFIBlock{{RVA: 0x1000, Size: 0x20, Init: t.Rules.Parse([]byte(init)), Count: uint32(len(rows)), Marks: marks}}
	for _, row := range rows {
		rva, rules, _ := strings.Cut(row, " ")
		rules, marks := cutMarks(rules)
		t.Rows = append(t.Rows, symfmt.CFIRow{RVA: 0x1000 + symfmt.RVA(strings.IndexByte(digits, rva[0])), Rules: t.Rules.Parse([]byte(rules)), Marks: marks})
	}
	return &t
}

// markLetters returns a bar and the letters of marks, or "".
func markLetters(marks symfmt.CFIMarks) string {
	out := ""
	for i, mark := range []symfmt.CFIMarks{symfmt.MarkSignal, symfmt.MarkKeyB, symfmt.MarkSigned} {
		if marks&mark != 0 {
			out += "SBs"[i : i+1]
		}
	}
	if out == "" {
		return ""
	}
	return "|" + out
}

func cutMarks(text string) (rules string, marks symfmt.CFIMarks) {
	rules, letters, _ := strings.Cut(text, "|")
	for _, c := range letters {
		marks |= map[rune]symfmt.CFIMarks{'S': symfmt.MarkSignal, 'B': symfmt.MarkKeyB, 's': symfmt.MarkSigned}[c]
	}
	return rules, marks
}

const digits = "0123456789abcdefghijklmnopqrstuvwxyz"

func TestFromCFI(t *testing.T) {
	undefined := sframe.Rule{Kind: sframe.Undefined}
	none := sframe.Rule{}
	signed := func(r sframe.Row) sframe.Row { r.Signed = true; return r }
	arm := func(start uint32, cfa, ra, fp sframe.Rule) sframe.Row {
		return sframe.Row{Start: start, CFA: cfa, RA: ra, FP: fp}
	}
	saved := func(start uint32) sframe.Row { return arm(start, val(31, 16), ra8, mem(sframe.CFA, -16)) }
	for _, c := range []struct {
		name  string
		abi   sframe.ABI
		table *symfmt.CFITable
		want  sframe.Func // without Start and Size
	}{
		{"other registers", sframe.AMD64, table(".cfa: $rsp 8 + .ra: .cfa -8 + ^", "1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^", "2 $rbx: .cfa -24 + ^", "3 .cfa: $rbp 16 +", "4 .cfa: $rsp 8 + $rbp: $rbp"),
			sframe.Func{Rows: []sframe.Row{amd64(0, val(7, 8), none), amd64(1, val(7, 16), mem(sframe.CFA, -16)), amd64(3, val(6, 16), mem(sframe.CFA, -16)), amd64(4, val(7, 8), none)}}},
		{"other forms of the same", sframe.AMD64, table(".cfa: 8 $rsp + .ra: .cfa 8 - ^ $rsp: .cfa", "1 .cfa: $rsp 4 + 4 +", "2 $rsp: .undef"),
			sframe.Func{Rows: []sframe.Row{amd64(0, val(7, 8), none)}}},
		{"flexible", sframe.AMD64, table(".cfa: $r10 0 + .ra: .cfa -8 + ^ $rbp: $rbp ^", "3 .cfa: $rbp -8 + ^", "5 .ra: $r11 $rbp: $rax"),
			sframe.Func{Rows: []sframe.Row{amd64(0, val(10, 0), mem(6, 0)), amd64(3, mem(6, -8), mem(6, 0)), {Start: 5, CFA: mem(6, -8), RA: val(11, 0), FP: val(0, 0)}}}},
		{"outermost", sframe.AMD64, table(".cfa: $rsp 8 + .ra: .cfa -8 + ^", "3 .ra: 0", "5 .cfa: $rsp 16 +", "7 .ra: .cfa -8 + ^"),
			sframe.Func{Rows: []sframe.Row{amd64(0, val(7, 8), none), {Start: 3, RA: undefined}, amd64(7, val(7, 16), none)}}},
		{"two rows at an address", sframe.AMD64, table(".cfa: $rsp 8 + .ra: .cfa -8 + ^", "0 .cfa: $rsp 16 +", "3 .cfa: $rsp 24 +", "3 .cfa: $rsp 16 +"),
			sframe.Func{Rows: []sframe.Row{amd64(0, val(7, 16), none)}}},
		{"signal", sframe.AMD64, table(".cfa: $rsp 8 + .ra: .cfa -8 + ^|S"),
			sframe.Func{Signal: true, Rows: []sframe.Row{amd64(0, val(7, 8), none)}}},
		{"leaf", sframe.AArch64BE, table(".cfa: sp 0 + .ra: x30|B", "4 .cfa: sp 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^|B"),
			sframe.Func{KeyB: true, Rows: []sframe.Row{arm(0, val(31, 0), none, none), saved(4)}}},
		{"signed rows are cut", sframe.AArch64LE, table(".cfa: sp 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^|s", "2 ", "4 |s", "8 .ra: 0|s", "c .ra: .cfa -8 + ^|s", "g ", "s |s"),
			sframe.Func{Rows: []sframe.Row{signed(saved(0)), saved(2), signed(saved(4)), {Start: 8, RA: undefined}, signed(saved(12)), saved(16), signed(saved(28))}}},
		{"stack pointer", sframe.S390X, table(".cfa: r15 160 + .ra: r14 r15: r15", "2 .cfa: r15 320 + .ra: .cfa -48 + ^ r11: f0 r15: .cfa -40 + ^", "4 r15: .cfa -160 +", "6 r11: r11 r15: f2 .ra: f4"),
			sframe.Func{Rows: []sframe.Row{{CFA: val(15, 160)}, {Start: 2, CFA: val(15, 320), RA: mem(sframe.CFA, -48), FP: val(16, 0)}, {Start: 6, CFA: val(15, 320), RA: val(18, 0)}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.Start, c.want.Size = 0x401000, 0x20
			c.table.Rules.SetArch(CPU(c.abi))
			got, problems := FromCFI(c.table, c.abi, 0x400000)
			if problems != nil || len(got) != 1 || !reflect.DeepEqual(got[0], c.want) {
				t.Errorf("got\n%+v %v\nwant\n%+v", got, problems, c.want)
			}
		})
	}
}

// A rule without a form in a row costs its function, and is reported.
func TestFromCFIRefuses(t *testing.T) {
	const ok = ".cfa: $rsp 8 + .ra: .cfa -8 + ^"
	large := table(ok)
	large.Blocks[0].Size = 1 << 32
	back := table(ok, "5 .cfa: $rsp 16 +", "4 .cfa: $rsp 8 +")
	for _, c := range []struct {
		abi   sframe.ABI
		table *symfmt.CFITable
		want  string
	}{
		{sframe.AMD64, table(".cfa: $rsp $rax + .ra: .cfa -8 + ^"), "at 0x1000: no row for .cfa: $rsp $rax + (lost: function at 0x401000)"},
		{sframe.AMD64, table(".cfa: $xyz 8 + .ra: .cfa -8 + ^"), "no row for .cfa: $xyz 8 +"},
		{sframe.AMD64, table(".ra: .cfa -8 + ^"), "no row for .cfa: "},
		{sframe.AMD64, table(".cfa: .cfa 8 + .ra: .cfa -8 + ^"), "no row for .cfa: .cfa 8 +"},
		{sframe.AMD64, table(".cfa: $rsp 8 +"), "no row for .ra: "},
		{sframe.AMD64, table(ok, "5 .ra: .undef"), "at 0x1005: no row for .ra: .undef"},
		{sframe.AMD64, table(ok, "5 $rbp: .undef"), "no row for $rbp: .undef"},
		{sframe.AMD64, table(ok, "5 $rbp: $rax $rbx *"), "no row for $rbp: $rax $rbx *"},
		{sframe.AMD64, table(ok, "5 $rsp: $rsp"), "no row for $rsp: $rsp"},
		{sframe.S390X, table(".cfa: r15 160 + .ra: r14 r15: .cfa -152 +"), "no row for r15: .cfa -152 +"},
		{sframe.AMD64, table(ok, "5 rubbish"), `token 1 "rubbish": no register before the expression`},
		{sframe.AMD64, table(ok, "w .cfa: $rsp 16 +"), "a row at 0x1020 outside its 0x20 bytes"},
		{sframe.AMD64, large, "0x100000000 bytes of code, more than 32 bits"},
		{sframe.AMD64, back, "a row at 0x1004 after a later one"},
	} {
		c.table.Rules.SetArch(CPU(c.abi))
		got, problems := FromCFI(c.table, c.abi, 0x400000)
		if len(got) != 0 || len(problems) != 1 || !strings.Contains(problems[0].String(), c.want) {
			t.Errorf("got %+v %v\nwant %s", got, problems, c.want)
		}
	}
}

// Each ABI has a CPU with the registers that rows describe, and is found by the CPU.
func TestABIs(t *testing.T) {
	for abi := sframe.ABI(0); abi < 255; abi++ {
		if !abi.Known() {
			continue
		}
		r := newRuleRegs(cfi.NewNames(CPU(abi)), abi)
		for reg, name := range map[sframe.Reg]cfi.Reg{abi.SP(): r.sp, abi.FP(): r.fp} {
			if got := r.reg(reg); got != name {
				t.Errorf("%s: register %d is %q, want %q", abi, reg, r.names.Name(got), r.names.Name(name))
			}
		}
		if got := r.reg(abi.RA()); r.ra != cfi.NoReg && got != r.ra {
			t.Errorf("%s: return address in %q, want %q", abi, r.names.Name(got), r.names.Name(r.ra))
		}
		if got, ok := ABIOf(CPU(abi), abi.Order()); !ok || got != abi {
			t.Errorf("%s: found %s", abi, got)
		}
	}
	if _, ok := ABIOf(arch.X86_64, binary.BigEndian); ok {
		t.Error("x86-64 has no big-endian ABI")
	}
	if _, ok := ABIOf(arch.MIPS, binary.BigEndian); ok {
		t.Error("MIPS has no ABI")
	}
}

// The rows of a PLT, which AppendCFI repeats for each entry, become the rows of one entry again;
// rows of other code that begin in the same way are unchanged.
func TestFromCFIBlocks(t *testing.T) {
	at := func(start uint32, offset int64) sframe.Row {
		return sframe.Row{Start: start, CFA: sframe.Rule{Kind: sframe.Value, Reg: 7, Offset: offset}, RA: sframe.Rule{Kind: sframe.Memory, Reg: sframe.CFA, Offset: -8}}
	}
	for name, c := range map[string]struct {
		f    sframe.Func
		want uint32 // Block
	}{
		"PLT":            {sframe.Func{Size: 64, Block: 16, Rows: []sframe.Row{at(0, 16), at(6, 24)}}, 16},
		"epilogue":       {sframe.Func{Size: 17, Rows: []sframe.Row{at(0, 8), at(4, 16), at(16, 8)}}, 0},
		"last one short": {sframe.Func{Size: 36, Block: 16, Rows: []sframe.Row{at(0, 16), at(6, 24)}}, 0},
		"one row":        {sframe.Func{Size: 64, Rows: []sframe.Row{at(0, 16)}}, 0},
		"other blocks":   {sframe.Func{Size: 64, Rows: []sframe.Row{at(0, 16), at(6, 24), at(16, 16), at(22, 32)}}, 0},
	} {
		c.f.Start = 0x1000
		data, problems, err := sframe.Encode([]sframe.Func{c.f}, sframe.Target{Version: 3, ABI: sframe.AMD64})
		if err != nil || len(problems) > 0 {
			t.Fatal(name, problems, err)
		}
		section, err := sframe.Decode(data, sframe.Options{})
		if err != nil {
			t.Fatal(name, err)
		}
		var table symfmt.CFITable
		if _, problems := AppendCFI(&table, section, ToOptions{}); len(problems) > 0 {
			t.Fatal(name, problems)
		}
		got, problems := FromCFI(&table, sframe.AMD64, 0)
		if len(got) != 1 || len(problems) > 0 || got[0].Block != c.want || c.want > 0 && !slices.Equal(got[0].Rows, c.f.Rows) {
			t.Errorf("%s: %+v, %v, want blocks of %d", name, got, problems, c.want)
		}
	}
}
