package unwind

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt/arch"
)

// exidxCase has tables as words. The index is at 0x8000, the tables are at
// 0x9000, and code is at 0x1000 to 0x1fff and 0x3000 to 0x30ff.
type exidxCase struct {
	order binary.ByteOrder // little-endian if nil
	index []exidxWords
	table []uint32
	extra []byte // bytes after the index
	debug string // .debug_frame, in the syntax of asmEntries
}

// exidxWords is an entry: the start of a function, and a word that is written
// as it is, or the address of a table.
type exidxWords struct {
	lo    uint32
	word  uint32
	table uint32
}

const (
	exidxTestIndex = 0x8000
	exidxTestTable = 0x9000
)

func (c exidxCase) input(t testing.TB) *Input {
	if c.order == nil {
		c.order = binary.LittleEndian
	}
	var index, table []byte
	word := func(b []byte, w uint32) []byte {
		if c.order == binary.ByteOrder(binary.BigEndian) {
			return binary.BigEndian.AppendUint32(b, w)
		}
		return binary.LittleEndian.AppendUint32(b, w)
	}
	relative := func(b []byte, to uint32) []byte {
		return word(b, (to-exidxTestIndex-uint32(len(b)))&(1<<31-1))
	}
	for _, e := range c.index {
		index = relative(index, e.lo)
		if e.table != 0 {
			index = relative(index, e.table)
		} else {
			index = word(index, e.word)
		}
	}
	for _, w := range c.table {
		table = word(table, w)
	}
	in := &Input{Arch: arch.ARM, Order: c.order, PtrSize: 4,
		Index: []Section{{Name: ".ARM.exidx", Addr: exidxTestIndex, Data: append(index, c.extra...), File: "f"}},
		Tables: func(addr uint64) (Section, bool) {
			return Section{Name: ".ARM.extab", Addr: exidxTestTable, Data: table, File: "f"}, addr >= exidxTestTable && addr < exidxTestTable+uint64(len(table))
		},
		CodeEnd: func(addr uint64) (uint64, bool) {
			switch {
			case addr >= 0x1000 && addr < 0x2000:
				return 0x2000, true
			case addr >= 0x3000 && addr < 0x3100:
				return 0x3100, true
			}
			return 0, false
		}}
	if c.debug != "" {
		x := asmCase{arch: arch.ARM, order: c.order}
		in.Sections = []Section{{Name: ".debug_frame", Data: x.assemble(t, c.debug), File: "f"}}
	}
	return in
}

func (c exidxCase) read(t testing.TB) (string, Stats) {
	table, stats, problems := readTable(c.input(t))
	if err := checkTable(arch.ARM, &table); err != nil {
		t.Error(err)
	}
	out := symtest.CFI(&table)
	for _, p := range problems {
		out += fmt.Sprintf("problem: %s\n", p)
	}
	return out, stats
}

// exidxLeaf has instructions that do nothing, exidxPush those for push {r4, lr}.
const (
	exidxLeaf = 0x80b0b0b0
	exidxPush = 0x80a8b0b0
)

const (
	exidxLeafText = " .cfa: sp 0 + .ra: lr\n"
	exidxPushText = " .cfa: sp 8 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^\n"
)

// TestExidx has tables of all forms.
func TestExidx(t *testing.T) {
	type words = []exidxWords
	for _, c := range []struct {
		name string
		in   exidxCase
		want string
	}{
		{"no entry", exidxCase{}, ""},
		{"to the next one and to the end", exidxCase{index: words{{0x1100, exidxLeaf, 0}, {0x1200, exidxPush, 0}}},
			"STACK CFI INIT 1100 100" + exidxLeafText + "STACK CFI INIT 1200 e00" + exidxPushText},
		{"not beyond the section", exidxCase{index: words{{0x1f00, exidxLeaf, 0}, {0x3000, exidxPush, 0}}},
			"STACK CFI INIT 1f00 100" + exidxLeafText + "STACK CFI INIT 3000 100" + exidxPushText},
		{"not sorted", exidxCase{index: words{{0x3010, exidxLeaf, 0}, {0x3000, exidxPush, 0}, {0x3080, 1, 0}}},
			"STACK CFI INIT 3000 10" + exidxPushText + "STACK CFI INIT 3010 70" + exidxLeafText},
		{"equal start", exidxCase{index: words{{0x3000, exidxLeaf, 0}, {0x3000, exidxPush, 0}, {0x3080, 1, 0}}},
			"STACK CFI INIT 3000 80" + exidxPushText},
		{"Thumb bit", exidxCase{index: words{{0x3001, exidxLeaf, 0}, {0x3011, 1, 0}}}, "STACK CFI INIT 3000 10" + exidxLeafText},
		{"cantunwind", exidxCase{index: words{{0x3000, 1, 0}, {0x3010, exidxLeaf, 0}, {0x3020, 1, 0}, {0x3100, 1, 0}}},
			"STACK CFI INIT 3010 10" + exidxLeafText},
		{"refused", exidxCase{index: words{{0x3000, 0x80a88000, 0}}}, ""},
		{"outside of code", exidxCase{index: words{{0, exidxLeaf, 0}, {0x2000, exidxLeaf, 0}, {0x3100, exidxLeaf, 0}}}, ""},
		{"big-endian", exidxCase{order: binary.BigEndian, index: words{{0x3000, exidxPush, 0}, {0x3010, 0, 0x9004}, {0x3020, 1, 0}}, table: []uint32{0, 0x8001a8b0}},
			"STACK CFI INIT 3000 10" + exidxPushText + "STACK CFI INIT 3010 10 .cfa: sp 16 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^\n"},
		{"pr0 in a table", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{exidxPush}}, "STACK CFI INIT 3000 100" + exidxPushText},
		{"pr1", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x8100a8b0}}, "STACK CFI INIT 3000 100" + exidxPushText},
		{"pr1 with a word", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x81010001, 0x02a8b0b0}},
			"STACK CFI INIT 3000 100 .cfa: sp 32 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^\n"},
		{"pr2 with two words", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x82020001, 0x02030405, 0xa8b0b0b0}},
			"STACK CFI INIT 3000 100 .cfa: sp 92 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^\n"},
		{"pr1 in the index", exidxCase{index: words{{0x3000, 0x8100a8b0, 0}}}, "STACK CFI INIT 3000 100" + exidxPushText},
		{"pr1 in the index, with a word", exidxCase{index: words{{0x3000, 0x8101a8b0, 0}}},
			"problem: f: .ARM.exidx+0x8: need 4 bytes, 0 left (lost: entry at 0x0 for 0x3000)\n"},
		{"generic", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x100, 0x00a8b0b0, 0xffffffff}}, "STACK CFI INIT 3000 100" + exidxPushText},
		{"generic with two words", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x7fffff00, 0x02010203, 0x04050607, 0xa8b0b0b0}},
			"STACK CFI INIT 3000 100 .cfa: sp 148 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^\n"},
		{"generic, cut short", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x100}},
			"problem: f: .ARM.extab+0x4: need 4 bytes, 0 left (lost: entry at 0x0 for 0x3000)\n"},
		{"words past the end", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x81020001, 0x02a8b0b0}},
			"problem: f: .ARM.extab+0x8: need 4 bytes, 0 left (lost: entry at 0x0 for 0x3000)\n"},
		{"no table there", exidxCase{index: words{{0x3000, 0, 0x9004}, {0x3010, exidxLeaf, 0}}, table: []uint32{exidxPush}},
			"STACK CFI INIT 3010 f0" + exidxLeafText +
				"problem: f: .ARM.exidx+0x4: unwind instructions at 0x9004, where the file has no data (lost: entry at 0x0 for 0x3000)\n"},
		{"reserved personality routine", exidxCase{index: words{{0x3000, 0x83b0b0b0, 0}, {0x3010, 0xf0b0b0b0, 0}}},
			"problem: f: .ARM.exidx+0x4: personality routine 0x3 is reserved (lost: entry at 0x0 for 0x3000)\n" +
				"problem: f: .ARM.exidx+0xc: personality routine 0x70 is reserved (lost: entry at 0x8 for 0x3010)\n"},
		{"reserved instruction in the second word", exidxCase{index: words{{0x3000, 0, 0x9000}}, table: []uint32{0x8101a8a8, 0xa8a8a8ff}},
			"problem: f: .ARM.extab+0x4: unwind instruction 0xff is reserved (lost: entry at 0x0 for 0x3000)\n"},
		{"bytes at the end", exidxCase{index: words{{0x3000, exidxLeaf, 0}}, extra: []byte{1, 2, 3}},
			"STACK CFI INIT 3000 100" + exidxLeafText + "problem: f: .ARM.exidx+0x8: 3 bytes after the last entry\n"},
		{"start with bit 31", exidxCase{index: words{{0x3000, exidxLeaf, 0}}, extra: []byte{0, 0, 0, 0x80, 1, 0, 0, 0}},
			"STACK CFI INIT 3000 100" + exidxLeafText +
				"problem: f: .ARM.exidx+0x8: word 0x80000000 for a function's start, whose highest bit must be 0 (lost: entry at 0x8)\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := c.in.read(t); got != c.want {
				t.Errorf("got\n%swant\n%s", got, c.want)
			}
		})
	}
}

// TestExidxInstructions has the instructions that no fixture has, because compilers do
// not write them, and the limits of operands.
func TestExidxInstructions(t *testing.T) {
	for _, c := range []struct{ ops, want string }{
		{"b2ffffffff03", ".cfa: sp 512 + .ra: lr"}, // the largest: 0x204 + (2^30 - 1) * 4, modulo 2^32
		{"b28080808004", "unwind instruction 0xb2 0x80 is reserved"},
		{"b2ff", "unwind instruction 0xb2 lacks its operand"},
		{"b3ff", "unwind instruction 0xb3 0xff is reserved"},
		{"b3f0", ".cfa: sp 12 + .ra: lr d15: .cfa -12 + ^"},
		{"b3e2", "unwind instruction 0xb3 0xe2 is reserved"},
		{"b8", ".cfa: sp 12 + .ra: lr d8: .cfa -12 + ^"},
		{"c9e2", ".cfa: sp 24 + .ra: lr d14: .cfa -24 + ^ d15: .cfa -16 + ^ d16: .cfa -8 + ^"},
		{"c8f1", "unwind instruction 0xc8 0xf1 is reserved"},
		{"c6f1", "unwind instruction 0xc6 0xf1 is reserved"},
		{"c0", ".cfa: sp 8 + .ra: lr"},
		{"c700", "unwind instruction 0xc7 0x0 is reserved"},
		{"c70f", ".cfa: sp 16 + .ra: lr"},
		{"84", "unwind instruction 0x84 lacks its operand"},
		{"8200", ".cfa: sp ^ .ra: lr"},
		{"8800", ".cfa: sp 4 + .ra: .cfa -4 + ^"},
		{"a9a9", ".cfa: sp 24 + .ra: .cfa -4 + ^ r4: .cfa -12 + ^ r5: .cfa -8 + ^"},
		{"979d", "unwind instruction 0x9d is reserved"},
		{"97a8", ".cfa: r7 8 + .ra: .cfa -4 + ^ r4: .cfa -8 + ^"},
		{"a097", ".cfa: r7 0 + .ra: lr r4: sp ^"},
		{"a094a094", ".cfa: sp ^ ^ .ra: lr r4: sp ^ ^"},
		{"97b0ff", ".cfa: r7 0 + .ra: lr"},
		{"ca", "unwind instruction 0xca is reserved"},
		{"cf", "unwind instruction 0xcf is reserved"},
		{"e0", "unwind instruction 0xe0 is reserved"},
		{strings.Repeat("a094", 200), "CFA no postfix: more than 128 terms or 64 deep"},
	} {
		ops, err := hex.DecodeString(c.ops)
		if err != nil {
			t.Fatal(err)
		}
		b := ops // a missing operand is missing after the last word
		for len(b)%4 != 2 {
			if len(b)%2 == 0 {
				b = append([]byte{0x00, 0x40}, b...) // vsp += 4, vsp -= 4
			} else {
				b = append([]byte{0x00, 0x00, 0x41}, b...)
			}
		}
		b = append([]byte{0x81, byte(len(b) / 4)}, b...)
		in := exidxCase{index: []exidxWords{{0x3000, 0, 0x9000}}}
		for ; len(b) > 0; b = b[4:] {
			in.table = append(in.table, binary.BigEndian.Uint32(b))
		}
		got, _ := in.read(t)
		lines := strings.Split(got, "\n")
		text, block := strings.CutPrefix(lines[0], "STACK CFI INIT 3000 100 ")
		switch {
		case block && text == c.want:
		case !block && strings.Contains(c.want, "postfix") && strings.Contains(lines[0], "no postfix: more than 128 terms"):
		case !block && strings.Contains(lines[0], c.want+" (lost: entry at 0x0 for 0x3000)"):
		default:
			t.Errorf("%s: got %q, want %q", c.ops, got, c.want)
		}
	}
}

// TestExidxBehindDWARF checks that DWARF takes precedence, address by address.
func TestExidxBehindDWARF(t *testing.T) {
	in := exidxCase{
		index: []exidxWords{{0x1000, exidxPush, 0}, {0x1100, exidxLeaf, 0}, {0x1200, exidxPush, 0}, {0x1300, 0x80ffb0b0, 0}, {0x1400, 1, 0}},
		debug: "cie v=1 code=2 data=-4 ra=14\n def_cfa 13 0\nfde 0x1000 0x80\nfde 0x1100 0x100\nfde 0x1240 0x20\nfde 0x1300 0x100\nfde 0x1480 0x10\n",
	}
	got, stats := in.read(t)
	const dwarf = exidxLeafText
	want := "STACK CFI INIT 1000 80" + dwarf +
		"STACK CFI INIT 1080 80" + exidxPushText +
		"STACK CFI INIT 1100 100" + dwarf +
		"STACK CFI INIT 1200 40" + exidxPushText +
		"STACK CFI INIT 1240 20" + dwarf +
		"STACK CFI INIT 1260 a0" + exidxPushText +
		"STACK CFI INIT 1300 100" + dwarf +
		"STACK CFI INIT 1480 10" + dwarf
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if stats.IndexEntries != 5 || stats.CantUnwind != 1 || stats.Duplicates != 2 || stats.Cut != 2 || stats.FDEs != 5 {
		t.Errorf("%+v", stats)
	}
}

// TestExidxStats counts.
func TestExidxStats(t *testing.T) {
	in := exidxCase{index: []exidxWords{
		{0x100, exidxLeaf, 0}, {0x200, 1, 0}, {0x3000, exidxPush, 0}, {0x3000, 0x80c5b0b0, 0}, {0x3010, 0x80c5b0b0, 0}, {0x3020, 0x808000b0, 0},
	}}
	_, got := in.read(t)
	if got.IndexEntries != 6 || got.Dead != 1 || got.CantUnwind != 2 || got.Empty != 1 || got.Blocks != 2 || got.Unnamed != 12 {
		t.Errorf("%+v", got)
	}
}

// TestExidxBounds has entries that all use the longest table, overlapping
// entries, and a cancelled context.
func TestExidxBounds(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	const entries = 40000
	var in exidxCase
	for i := range uint32(entries) {
		in.index = append(in.index, exidxWords{0x1000 + i%0x800*2, 0, 0x9000 + i%1000*4})
	}
	for range 1300 {
		in.table = append(in.table, 0x81ffa8a8)
	}
	input := in.input(t)
	input.CodeEnd = func(addr uint64) (uint64, bool) { return 1 << 32, true }
	watch := testenv.StartWatch()
	table, _, problems := readTable(input)
	if took := watch.Took(); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if err := checkTable(arch.ARM, &table); err != nil {
		t.Error(err)
	}
	if len(table.Blocks) == 0 || len(table.Blocks) > 0x800 || len(problems) > maxProblems+1 {
		t.Errorf("%d blocks, %d problems", len(table.Blocks), len(problems))
	}
	for i := range in.index {
		in.index[i].lo = 0x1000 + uint32(i)*2
	}
	input = in.input(t)
	input.CodeEnd = func(addr uint64) (uint64, bool) { return 1 << 32, true }
	_, _, problems = readTable(input)
	const want = "entries share tables so often that they have too many instructions"
	if n := len(problems); n != maxProblems+1 || !strings.Contains(problems[0].String(), want) {
		t.Errorf("%d problems, want %s: %.300v", n, want, problems)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Read(ctx, input); !errors.Is(err, context.Canceled) {
		t.Errorf("went on after being cancelled: %v", err)
	}
}
