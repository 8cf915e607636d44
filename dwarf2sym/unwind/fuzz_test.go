package unwind

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// checkTable checks what must hold for any input: blocks are sorted and do
// not overlap, rows are inside their block and ascending, and each rule set
// parses and has .cfa and .ra in force.
func checkTable(a *arch.Arch, table *symfmt.CFITable) error {
	names := cfi.NewNames(a)
	rules := make([]cfi.Rules, table.Rules.Len())
	for i := range rules {
		text := table.Rules.Text(symfmt.RuleID(i))
		if text == "" {
			continue // the row only changes marks
		}
		r, err := names.ParseRules(text)
		if err != nil {
			return fmt.Errorf("%q: %w", text, err)
		}
		for _, one := range r {
			if err := one.Expr.Check(); err != nil {
				return fmt.Errorf("%q: %w", text, err)
			}
		}
		if r.String() != text {
			return fmt.Errorf("%q is not as it would be printed: %q", text, r)
		}
		rules[i] = r
	}
	end, rows := symfmt.RVA(0), make([]bool, len(table.Rows))
	for i, b := range table.Blocks {
		if b.RVA < end && i > 0 || b.Size == 0 {
			return fmt.Errorf("block %d at %#x of %#x bytes, the last one ended at %#x", i, b.RVA, b.Size, end)
		}
		end = b.RVA + symfmt.RVA(b.Size)
		if end < b.RVA {
			return fmt.Errorf("block %d at %#x of %#x bytes wraps", i, b.RVA, b.Size)
		}
		has := map[cfi.Reg]bool{}
		for _, r := range rules[b.Init] {
			has[r.Reg] = true
		}
		if !has[cfi.CFA] || !has[cfi.RA] {
			return fmt.Errorf("block at %#x: %s", b.RVA, rules[b.Init])
		}
		at := b.RVA
		for k := b.First; k < b.First+b.Count; k++ {
			if r := table.Rows[k]; r.RVA <= at || r.RVA >= end || rows[k] {
				return fmt.Errorf("row at %#x behind %#x in block %#x to %#x", r.RVA, at, b.RVA, end)
			}
			at, rows[k] = table.Rows[k].RVA, true
		}
	}
	if i := slices.Index(rows, false); i >= 0 {
		return fmt.Errorf("row %d belongs to no block", i)
	}
	return nil
}

// TestCFIDamaged reads thousands of damaged sections.
func TestCFIDamaged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	all := openInput(t, loaderPath(t))
	whole := all.Sections[0].Data
	n := 2500
	if testing.Short() {
		n = 400
	}
	rng := rand.New(rand.NewPCG(5, 6))
	lost := 0
	check := func(what string, data []byte) {
		in := *all
		in.Sections = []Section{{Name: ".eh_frame", Addr: all.Sections[0].Addr, Data: data, EH: true}}
		watch := testenv.StartWatch()
		table, _, problems := readTable(&in)
		if d := watch.Took(); d > 5*time.Second {
			t.Errorf("%s: %v", what, d)
		}
		lost += len(problems)
		if err := checkTable(in.Arch, &table); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range 200 {
		check(fmt.Sprintf("first %d bytes", i*len(whole)/200), whole[:i*len(whole)/200])
	}
	for i := range n {
		data := slices.Clone(whole)
		var what string
		for range 1 + rng.IntN(4) {
			at, v := rng.IntN(len(data)), byte(rng.Uint32())
			if rng.IntN(3) == 0 {
				v = []byte{0, 0xff, 0x7f, 0x80, 0x0b, 0x0f, 0x10, 0x16}[rng.IntN(8)]
			}
			data[at] = v
			what += fmt.Sprintf("byte %#x = %#x ", at, v)
		}
		if i%8 == 0 { // a short section reaches unusual paths more often
			from := rng.IntN(len(data) / 2)
			data = data[from : from+rng.IntN(2000)]
		}
		check(what, data)
	}
	if lost == 0 {
		t.Error("no problem was reported")
	}
}

// TestCFIBounds has inputs that would cost much more than their size.
func TestCFIBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	x := asmCase{arch: arch.X86_64, order: binary.LittleEndian}
	const cie = "cie\n def_cfa 7 8\n offset 16 1\n"
	for _, c := range []struct {
		name  string
		text  string
		times int // how often the last entry is repeated
		lines int // maximum number of output lines
	}{
		{"expression for each address of a gigabyte", cie + "fde 0x1000 0x40000000\n val_expression 3 breg16:0 lit1 and lit1 ge", 1, 1<<21 + 10},
		{"loop", cie + "fde 0x1000 0x1000\n def_cfa_expression lit1 skip:-4", 2000, 2100},
		{"rule sets", longRules(), 1, 400},
		{"overlapping FDEs", cie + "fde 0x1000 0x10000000", 20000, 10},
		{"expressions that double", cie + "fde 0x1000 0x1000\n val_expression 3 breg3:1 breg6:0 mul dup plus dup plus dup plus dup plus dup plus dup plus dup plus", 2000, 2100},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := x.assemble(t, c.text)
			head := len(x.assemble(t, cie))
			last := slices.Clone(data[head:])
			for range c.times - 1 {
				data = append(data, last...)
			}
			in := &Input{Arch: x.arch, Order: x.order, PtrSize: 8, Sections: []Section{{Name: ".debug_frame", Data: data}}}
			watch := testenv.StartWatch()
			table, _, problems := readTable(in)
			if d := watch.Took(); d > 30*time.Second {
				t.Errorf("took %v", d)
			}
			if n := len(table.Blocks) + len(table.Rows); n > c.lines {
				t.Errorf("%d lines", n)
			}
			if err := checkTable(in.Arch, &table); err != nil {
				t.Error(err)
			}
			if len(problems) > maxProblems+1 {
				t.Errorf("%d problems", len(problems))
			}
		})
	}
}

// A file cannot cause more evaluations than it has code.
func TestCFIPerPCIsBoundedByCode(t *testing.T) {
	x := asmCase{arch: arch.X86_64, order: binary.LittleEndian}
	data := x.assemble(t, "cie\n def_cfa 7 8\n offset 16 1\nfde 0x1000 0x40000000\n val_expression 3 breg16:0 lit1 and lit1 ge")
	in := &Input{Arch: x.arch, Order: x.order, PtrSize: 8, CodeBytes: 1000, Sections: []Section{{Name: ".debug_frame", Data: data}}}
	table, stats, problems := readTable(in)
	if stats.PerPC != 1000 || len(table.Rows) > 1000 || len(problems) != 1 || !strings.Contains(problems[0].String(), "1000 addresses with expressions") {
		t.Errorf("evaluated at %d addresses, %d rows, problems %v", stats.PerPC, len(table.Rows), problems)
	}
}

// longRules returns rule sets whose texts are many times longer than their
// encodings.
func longRules() string {
	var b strings.Builder
	b.WriteString("cie\n def_cfa 7 8\n offset 16 1\n")
	for i := range 400 {
		fmt.Fprintf(&b, "fde %d 16\n", 0x1000+16*i)
		for reg := range 16 {
			fmt.Fprintf(&b, " val_expression %d breg%[1]d:%d breg6:8 mul dup plus dup plus dup plus dup plus\n", reg, i)
		}
	}
	return b.String()
}

// FuzzCFI reads any bytes as both sections for each CPU. The first byte
// selects: 80 is x86-64, 8 is arm64, 1 more .eh_frame.
func FuzzCFI(f *testing.F) {
	for _, c := range []struct {
		first byte
		text  string
	}{
		{80, "cie v=4\n def_cfa 7 8\n offset 16 1\nfde 0x1000 0x20\n remember_state\n advance_loc 1\n offset 3 2\n restore_state\n val_offset 3 1\n expression 6 breg6:-8\n"},
		{81, "cie aug=zPLRS\n def_cfa 7 8\n offset 16 1\nfde 0x1000 0x20\n def_cfa_expression breg7:8 breg16:0 lit15 and lit11 ge lit3 shl plus\nterminator\nfde 0x1010 0x20 cie=0"},
		{9, "cie aug=zR\n def_cfa 31 0\nfde 0x1000 0x20\n negate_ra_state\n def_cfa_offset 32\n offset 30 3\n advance_loc1 4\n restore 30"},
	} {
		x := asmCase{arch: arch.X86_64, order: binary.LittleEndian, eh: c.first&1 != 0}
		f.Add(append([]byte{c.first}, x.assemble(f, c.text)...))
	}
	const loader = "/lib64/ld-linux-x86-64.so.2"
	if _, err := os.Stat(loader); err == nil {
		in := openInput(f, loader)
		f.Add(append([]byte{81}, in.Sections[0].Data[:3000]...))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 {
			return
		}
		a := arch.All[int(b[0]>>3)%len(arch.All)]
		order := binary.ByteOrder(binary.LittleEndian)
		if b[0]&2 != 0 {
			order = binary.BigEndian
		}
		in := &Input{Arch: a, Order: order, PtrSize: a.PtrSize, Fixed: b[0]&4 != 0, Base: 0x400, CodeBytes: 1 << 12,
			Sections: []Section{{Name: "s", Addr: 0x100000, Data: b[1:], EH: b[0]&1 != 0}, {Name: "t", Data: b[1+len(b[1:])/2:], EH: b[0]&1 == 0}}}
		table, _, _ := readTable(in)
		if err := checkTable(a, &table); err != nil {
			t.Error(err)
		}
	})
}
