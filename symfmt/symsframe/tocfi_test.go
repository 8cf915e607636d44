package symsframe

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
)

// val returns the rule for a register's value plus an offset, mem the rule for the
// word in memory there.
func val(r sframe.Reg, offset int64) sframe.Rule {
	return sframe.Rule{Kind: sframe.Value, Reg: r, Offset: offset}
}
func mem(r sframe.Reg, offset int64) sframe.Rule {
	return sframe.Rule{Kind: sframe.Memory, Reg: r, Offset: offset}
}

// encode writes functions and decodes them again.
func encode(t *testing.T, abi sframe.ABI, version uint8, funcs ...sframe.Func) *sframe.Section {
	t.Helper()
	data, problems, err := sframe.Encode(funcs, sframe.Target{Version: version, ABI: abi, Addr: 0x400})
	if err != nil || problems != nil {
		t.Fatal(err, problems)
	}
	return decode(t, data)
}

func decode(t *testing.T, data []byte) *sframe.Section {
	t.Helper()
	s, err := sframe.Decode(data, sframe.Options{Addr: 0x400})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// records returns a table as text, without "STACK CFI".
func records(t *symfmt.CFITable) string {
	var b strings.Builder
	for _, block := range t.Blocks {
		fmt.Fprintf(&b, "INIT %x %x %s\n", uint64(block.RVA), block.Size, t.Rules.Text(block.Init)+markLetters(block.Marks))
		for _, row := range t.Rows[block.First : block.First+block.Count] {
			fmt.Fprintf(&b, "%x %s\n", uint64(row.RVA), t.Rules.Text(row.Rules)+markLetters(row.Marks))
		}
	}
	return b.String()
}

func convert(t *testing.T, s *sframe.Section, o ToOptions) (string, ToStats) {
	t.Helper()
	var table symfmt.CFITable
	stats, problems := AppendCFI(&table, s, o)
	if problems != nil {
		t.Errorf("problems %v", problems)
	}
	return records(&table), stats
}

var ra8 = mem(sframe.CFA, -8)

func amd64(start uint32, cfa, fp sframe.Rule) sframe.Row {
	return sframe.Row{Start: start, CFA: cfa, RA: ra8, FP: fp}
}

func TestAppendCFI(t *testing.T) {
	none := sframe.Rule{}
	undefined := sframe.Rule{Kind: sframe.Undefined}
	for _, c := range []struct {
		name string
		abi  sframe.ABI
		f    sframe.Func
		want string
	}{
		{"frame pointer", sframe.AMD64, sframe.Func{Size: 0x20, Rows: []sframe.Row{
			amd64(0, val(7, 8), none), amd64(1, val(7, 16), mem(sframe.CFA, -16)), amd64(4, val(6, 16), mem(sframe.CFA, -16)), amd64(0x1f, val(7, 8), none),
		}}, `
INIT 0 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
1 .cfa: $rsp 16 + $rbp: .cfa -16 + ^
4 .cfa: $rbp 16 +
1f .cfa: $rsp 8 + $rbp: $rbp
`},
		{"flexible", sframe.AMD64, sframe.Func{Size: 0x20, Rows: []sframe.Row{
			amd64(0, val(7, 8), none), amd64(1, val(10, 0), none), amd64(2, val(10, 0), mem(6, 0)), amd64(3, mem(6, -8), mem(6, 0)),
			amd64(4, val(7, 8), val(0, 0)), {Start: 5, CFA: val(7, 8), RA: val(11, 0)}, {Start: 6, CFA: val(7, 8), RA: mem(sframe.CFA, -24), FP: mem(6, 8)},
		}}, `
INIT 0 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
1 .cfa: $r10 0 +
2 $rbp: $rbp ^
3 .cfa: $rbp -8 + ^
4 .cfa: $rsp 8 + $rbp: $rax
5 .ra: $r11 $rbp: $rbp
6 .ra: .cfa -24 + ^ $rbp: $rbp 8 + ^
`},
		{"outermost", sframe.AMD64, sframe.Func{Size: 0x20, Rows: []sframe.Row{{RA: undefined}}}, `
INIT 0 20 .cfa: $rsp 8 + .ra: 1
`},
		{"outermost for a while", sframe.AMD64, sframe.Func{Size: 0x20, Rows: []sframe.Row{
			amd64(0, val(7, 16), mem(sframe.CFA, -16)), {Start: 4, RA: undefined}, amd64(8, val(7, 16), mem(sframe.CFA, -16)),
		}}, `
INIT 0 20 .cfa: $rsp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^
4 .ra: 1
8 .ra: .cfa -8 + ^
`},
		{"no row at the start, one at the end", sframe.AMD64, sframe.Func{Size: 0x20, Rows: []sframe.Row{
			amd64(4, val(7, 8), none), amd64(0x10, val(7, 16), none),
		}}, `
INIT 4 1c .cfa: $rsp 8 + .ra: .cfa -8 + ^
10 .cfa: $rsp 16 +
`},
		{"blocks", sframe.AMD64, sframe.Func{Size: 0x28, Block: 0x10, Rows: []sframe.Row{
			amd64(0, val(7, 8), none), amd64(11, val(7, 16), none),
		}}, `
INIT 0 28 .cfa: $rsp 8 + .ra: .cfa -8 + ^
b .cfa: $rsp 16 +
10 .cfa: $rsp 8 +
1b .cfa: $rsp 16 +
20 .cfa: $rsp 8 +
`},
		{"blocks of one row", sframe.AMD64, sframe.Func{Size: 0x40, Block: 8, Rows: []sframe.Row{amd64(0, val(7, 8), none)}}, `
INIT 0 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^
`},
		{"blocks with gaps", sframe.AMD64, sframe.Func{Size: 0x20, Block: 0x10, Rows: []sframe.Row{amd64(12, val(7, 8), none)}}, `
INIT c 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^
INIT 1c 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^
`},
		{"leaf", sframe.AArch64LE, sframe.Func{Size: 0x20, Rows: []sframe.Row{
			{CFA: val(31, 0)}, {Start: 4, CFA: val(31, 16), RA: ra8, FP: mem(sframe.CFA, -16)}, {Start: 8, CFA: val(31, 16), RA: ra8, FP: mem(sframe.CFA, -16), Signed: true},
			{Start: 0x1c, CFA: val(31, 0)},
		}}, `
INIT 0 20 .cfa: sp 0 + .ra: x30
4 .cfa: sp 16 + .ra: .cfa -8 + ^ x29: .cfa -16 + ^
8 |s
1c .cfa: sp 0 + .ra: x30 x29: x29
`},
		{"stack pointer", sframe.S390X, sframe.Func{Size: 0x20, Rows: []sframe.Row{
			{CFA: val(15, 160)}, {Start: 4, CFA: val(15, 160), RA: mem(sframe.CFA, -48), FP: mem(sframe.CFA, -72)},
			{Start: 8, CFA: val(11, 320), RA: val(16, 0), FP: mem(sframe.CFA, -72)},
		}}, `
INIT 0 20 .cfa: r15 160 + .ra: r14 r15: .cfa -160 +
4 .ra: .cfa -48 + ^ r11: .cfa -72 + ^
8 .cfa: r11 320 + .ra: f0
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.f.Start = 0x1000
			got, stats := convert(t, encode(t, c.abi, 3, c.f), ToOptions{Base: 0x1000})
			if got != c.want[1:] {
				t.Errorf("got\n%swant%s", got, c.want)
			}
			if stats != (ToStats{}) {
				t.Errorf("%+v", stats)
			}
		})
	}
}

func simple(start uint64, size uint32, offset int64) sframe.Func {
	return sframe.Func{Start: start, Size: size, Rows: []sframe.Row{amd64(0, val(7, offset), sframe.Rule{})}}
}

// Functions that are not there, that are empty, and signal frames.
func TestAppendCFICounts(t *testing.T) {
	signal := simple(0x3000, 0x10, 8)
	signal.Signal = true
	s := encode(t, sframe.AMD64, 3, simple(0x800, 8, 8), simple(0x1000, 0x10, 8), simple(0x2000, 0x10, 8), signal,
		sframe.Func{Start: 0x4000, Size: 4, Signal: true})
	got, stats := convert(t, s, ToOptions{Base: 0x1000, Code: func(addr uint64) bool { return addr != 0x2000 }})
	want := "INIT 0 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nINIT 2000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^|S\n"
	if got != want {
		t.Errorf("got\n%s", got)
	}
	if stats.Dead != 2 || stats.Signal != 1 {
		t.Errorf("%+v", stats)
	}
}

// Where functions overlap, the table says at each address what Find says.
func TestAppendCFIOverlaps(t *testing.T) {
	s := encode(t, sframe.AMD64, 3,
		simple(0x1000, 0x100, 8), simple(0x1010, 0x20, 16), simple(0x1018, 4, 24), simple(0x1028, 0x40, 32), simple(0x10f0, 0x40, 40), simple(0x1100, 8, 48))
	got, _ := convert(t, s, ToOptions{})
	var want strings.Builder
	last, start := int64(0), uint64(0)
	for pc := uint64(0x1000); pc <= 0x1200; pc++ {
		offset := int64(0)
		if _, row, err := s.Find(pc); err == nil {
			offset = row.CFA.Offset
		}
		if offset != last && last != 0 {
			fmt.Fprintf(&want, "INIT %x %x .cfa: $rsp %d + .ra: .cfa -8 + ^\n", start, pc-start, last)
		}
		if offset != last {
			last, start = offset, pc
		}
	}
	if got != want.String() || strings.Count(got, "INIT") != 9 {
		t.Errorf("got\n%swant\n%s", got, want.String())
	}
}

// A function of no code hides nothing.
func TestAppendCFIEmpty(t *testing.T) {
	s := encode(t, sframe.AMD64, 3, simple(0x1000, 0x10, 8), simple(0x1008, 4, 16))
	s.FDEs[1].Size = 0
	got, stats := convert(t, s, ToOptions{})
	if got != "INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n" || stats.Empty != 1 {
		t.Errorf("%+v\n%s", stats, got)
	}
}

// v3Row is where the data of version 3 are in a section of one function.
const (
	v3Attr = 28 + 16
	v3Row0 = v3Attr + 5
)

// Damage costs the rows whose extent is unknown.
func TestAppendCFIDamage(t *testing.T) {
	three := sframe.Func{Start: 0x1000, Size: 0x20, Rows: []sframe.Row{
		amd64(0, val(7, 8), sframe.Rule{}), amd64(4, val(7, 16), sframe.Rule{}), amd64(8, val(7, 24), sframe.Rule{})}}
	for _, c := range []struct {
		name   string
		damage func(b []byte)
		want   string
		lost   string
	}{
		{"size of words", func(b []byte) { b[v3Row0+2*3+1] |= 0x60 }, "INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "size code 3 (lost: FDE 0 for 0x1000, from 0x1004 on)"},
		{"first row", func(b []byte) { b[v3Row0+1] |= 0x60 }, "", "size code 3 (lost: FDE 0 for 0x1000)"},
		{"rows past the end", func(b []byte) { b[v3Attr] = 4 }, "INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1004 .cfa: $rsp 16 +\n", "from 0x1008 on)"},
		{"order", func(b []byte) { b[v3Row0+2*3] = 2 }, "INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", "row for 0x2 after one for 0x4 (lost: FDE 0 for 0x1000, from 0x1004 on)"},
		{"order of blocks", func(b []byte) { b[v3Row0+2*3] = 2; b[v3Attr+2] |= 0x10; b[v3Attr+4] = 16 }, "", "row for 0x2 after one for 0x4 (lost: FDE 0 for 0x1000)"},
		{"block of nothing", func(b []byte) { b[v3Attr+2] |= 0x10 }, "", "PCMASK with a block of size 0 (lost: FDE 0 for 0x1000)"},
		{"address space", func(b []byte) { binary.LittleEndian.PutUint64(b[28:], ^uint64(0x400+28)-4) }, "", "pass the end of the address space"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data, _, err := sframe.Encode([]sframe.Func{three}, sframe.Target{Version: 3, ABI: sframe.AMD64, Addr: 0x400})
			if err != nil {
				t.Fatal(err)
			}
			c.damage(data)
			var table symfmt.CFITable
			_, problems := AppendCFI(&table, decode(t, data), ToOptions{})
			if got := records(&table); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
			if len(problems) != 1 || !strings.Contains(problems[0].String(), c.lost) {
				t.Errorf("%v", problems)
			}
		})
	}
}

// A register that STACK CFI has no name for costs its rule, or the row.
func TestAppendCFIUnnamed(t *testing.T) {
	s := encode(t, sframe.AMD64, 3, sframe.Func{Start: 0x1000, Size: 0x20, Rows: []sframe.Row{
		amd64(0, val(7, 8), sframe.Rule{}), amd64(4, val(7, 8), val(15000, 0)), amd64(8, val(15001, 0), sframe.Rule{}), amd64(12, val(7, 8), sframe.Rule{})}})
	var table symfmt.CFITable
	_, problems := AppendCFI(&table, s, ToOptions{})
	want := "INIT 1000 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n1004 $rbp: .undef\nINIT 100c 14 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
	if got := records(&table); got != want {
		t.Errorf("got\n%s", got)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].String(), "DWARF register 15000 has no name (lost: FDE 0 for 0x1000: a rule)") {
		t.Errorf("%v", problems)
	}
}

// The work that a section of a few bytes can cause is bounded: blocks that repeat,
// and rows that all functions share.
func TestAppendCFIBounds(t *testing.T) {
	plt := sframe.Func{Start: 0x1000, Size: 1<<32 - 1, Block: 2, Rows: []sframe.Row{amd64(0, val(7, 8), sframe.Rule{}), amd64(1, val(7, 16), sframe.Rule{})}}
	var table symfmt.CFITable
	_, problems := AppendCFI(&table, encode(t, sframe.AMD64, 3, plt), ToOptions{})
	if len(table.Rows) > maxRepeated || len(problems) != 1 || !strings.Contains(problems[0].String(), "of PCMASK functions") {
		t.Errorf("%d rows, %v", len(table.Rows), problems)
	}

	const rows, funcs = 4000, 2000
	many := sframe.Func{Start: 0x10000, Size: rows}
	for i := range uint32(rows) {
		many.Rows = append(many.Rows, amd64(i, val(7, int64(8+i%2*8)), sframe.Rule{}))
	}
	all := []sframe.Func{many}
	for i := range funcs {
		all = append(all, simple(uint64(0x20000+rows*i), rows, 8))
	}
	data, _, _ := sframe.Encode(all, sframe.Target{Version: 2, ABI: sframe.AMD64, Addr: 0x400})
	first := bytes.Clone(data[28+8 : 28+17])
	for i := range funcs { // each has all rows of the first
		copy(data[28+20*(i+1)+8:], first)
	}
	table = symfmt.CFITable{}
	_, problems = AppendCFI(&table, decode(t, data), ToOptions{})
	// The last block lost a part of its rows.
	if most := freeRows + len(data); len(table.Rows) > most || len(problems) != maxProblems+1 || !strings.HasSuffix(problems[maxProblems].String(), fmt.Sprintf("and %d more problems", funcs+1-(len(table.Blocks)-1)-maxProblems)) {
		t.Errorf("%d rows of %d functions and %d problems, want %d at most", len(table.Rows), len(table.Blocks), len(problems), most)
	}
}
