package callframe_test

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/callframe/cfitest"
	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// cfiRowAt is what a table says about [lo, hi).
type cfiRowAt struct {
	lo, hi uint64
	row    cfi.Row
	block  int
}

// cfiTableRows returns all rows of a table with the rules in force.
func cfiTableRows(t *testing.T, names *cfi.Names, table *symfmt.CFITable, base uint64) (rows []cfiRowAt) {
	apply := func(row *cfi.Row, id symfmt.RuleID) {
		rules, err := table.Rules.Rules(id)
		if err != nil {
			t.Fatal(err)
		}
		row.Apply(names.Translate(rules))
	}
	for i, b := range table.Blocks {
		at := cfiRowAt{lo: base + uint64(b.RVA), hi: base + uint64(b.RVA) + b.Size, block: i}
		end := at.hi
		apply(&at.row, b.Init)
		for _, r := range table.Rows[b.First : b.First+b.Count] {
			next := at
			next.row.Regs = slices.Clone(at.row.Regs)
			at.hi, next.lo, next.hi = base+uint64(r.RVA), base+uint64(r.RVA), end
			rows = append(rows, at)
			apply(&next.row, r.Rules)
			at = next
		}
		rows = append(rows, at)
	}
	return rows
}

func cfiFindRow(rows []cfiRowAt, addr uint64) *cfiRowAt {
	i, found := slices.BinarySearchFunc(rows, addr, func(r cfiRowAt, addr uint64) int {
		switch {
		case r.hi <= addr:
			return -1
		case r.lo > addr:
			return 1
		}
		return 0
	})
	if !found {
		return nil
	}
	return &rows[i]
}

// TestExidxDWARF compares the two descriptions of each function: at each call in it,
// where walkers need it, and for the function as a whole, where one row of .debug_frame
// must say what the entry says. Rules:
//
//   - registers that a caller does not need to be restored do not count (exidxKept);
//   - at a call before the prologue's end (in a block that was moved before it:
//     shrink-wrapping), only DWARF describes the frame at that point.
func TestExidxDWARF(t *testing.T) {
	testenv.Oracle(t)
	compare := func(t *testing.T, path string) {
		all, f := cfitest.Open(t, path)
		if len(all.Sections) == 0 {
			t.Skip("no DWARF")
		}
		names := cfi.NewNames(arch.ARM)
		read := func(in unwind.Input) []cfiRowAt {
			table, _, problems := cfitest.Read(&in)
			for _, p := range problems {
				t.Error(p)
			}
			return cfiTableRows(t, names, &table, in.Base)
		}
		onlyDWARF, onlyIndex := *all, *all
		onlyDWARF.Index, onlyIndex.Sections = nil, nil
		dwarf, index := read(onlyDWARF), read(onlyIndex)
		d := &exidxDiffs{t: t, allowed: map[string]int{}}
		c := newExidxCompare(names, f.Order == binary.ByteOrder(binary.BigEndian))
		d.functions(c, dwarf, index)
		functions := d.entries - d.wrong
		calls := 0
		for _, addr := range exidxCalls(t, path) {
			x, e := cfiFindRow(dwarf, addr), cfiFindRow(index, addr)
			if x == nil || e == nil {
				d.allowed["call described by one side only"]++
				continue
			}
			calls++
			if !c.same(x, e) {
				d.call(c, dwarf, x, e, addr)
			}
		}
		t.Logf("%s: %d functions, %d calls equal or by rule, %d wrong, by rule %v", f.Path, functions, calls, d.wrong, d.allowed)
		if len(index) == 0 {
			t.Skip("all entries forbid unwinding")
		}
		if functions == 0 || calls == 0 && f.Section(".symtab") != nil {
			t.Error("nothing compared")
		}
	}
	for _, name := range []string{"cpu-arm.elf", "cpu-thumb.elf"} {
		t.Run(name, func(t *testing.T) { compare(t, testenv.Input(t, name)) })
	}
	exidxBuilds(t, compare)
	t.Run("shared", func(t *testing.T) {
		dir := testenv.Shared(t, "data", "arm-debug")
		out, err := exec.Command("find", dir, "-type", "f").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(string(out)) {
			t.Run(path[strings.LastIndexByte(path, '/')+1:], func(t *testing.T) { compare(t, path) })
		}
	})
}

// functions compares each FDE with the entry around it.
func (d *exidxDiffs) functions(c *exidxCompare, dwarf, index []cfiRowAt) {
	for i := 0; i < len(dwarf); {
		n := i + 1
		for n < len(dwarf) && dwarf[n].block == dwarf[i].block {
			n++
		}
		rows := dwarf[i:n]
		i = n
		e := cfiFindRow(index, rows[0].lo)
		if e == nil {
			d.allowed["no entry, or one that forbids it"]++
			continue
		}
		d.entries++
		found := false
		for k := range rows {
			found = found || c.same(&rows[k], e)
		}
		if !found {
			d.fail("function at %#x: the entry says %s, no row does; the last is %s", rows[0].lo, e.row.String(), rows[len(rows)-1].row.String())
		}
	}
}

// call explains the difference at a call by a rule, or reports it.
func (d *exidxDiffs) call(c *exidxCompare, dwarf []cfiRowAt, x, e *cfiRowAt, addr uint64) {
	for i := range dwarf {
		r := &dwarf[i]
		if r.block == x.block && r.lo > x.lo && c.same(r, e) {
			d.allowed["call before the prologue's end"]++
			return
		}
	}
	d.fail("call at %#x: the entry says %s, DWARF %s", addr, e.row.String(), x.row.String())
}

// exidxCompare evaluates rows of one file.
type exidxCompare struct {
	names  *cfi.Names
	callee *cfi.Regs
	high   int // 1 if the first word of a double is the second of its halves
	cache  map[*cfiRowAt][exidxKept]uint64
}

// exidxKept is the number of registers that a caller needs restored: pc, sp, r4 to r11,
// d8 to d15.
const exidxKept = 18

func newExidxCompare(names *cfi.Names, big bool) *exidxCompare {
	c := &exidxCompare{names: names, callee: names.NewRegs(), cache: map[*cfiRowAt][exidxKept]uint64{}}
	for i := range 16 {
		c.callee.Set(names.Lookup(exidxName(fmt.Sprintf("r%d", i))), uint64(exidxStart(i)))
	}
	if big {
		c.high = 1
	}
	return c
}

// same reports whether two rows lead to the same caller. DWARF describes a double by its
// halves, for old debuggers. Registers that calls destroy do not count: they are saved to
// align the stack, or as arguments.
func (c *exidxCompare) same(a, b *cfiRowAt) bool { return c.caller(a) == c.caller(b) }

// caller evaluates a row with arbitrary values of registers and memory; 0 is a double
// that is unchanged.
func (c *exidxCompare) caller(r *cfiRowAt) (out [exidxKept]uint64) {
	if known, ok := c.cache[r]; ok {
		return known
	}
	regs := c.names.NewRegs()
	if err := r.row.Caller(c.callee, exidxMemory{}, regs); err != nil {
		return out
	}
	get := func(name string) uint64 {
		v, _ := regs.Get(c.names.Lookup(name))
		return v
	}
	out[0], out[1] = get("pc"), get("sp")
	for i := range 8 {
		out[2+i] = get(fmt.Sprintf("r%d", 4+i))
		out[10+i] = get(fmt.Sprintf("d%d", 8+i)) | get(fmt.Sprintf("s%d", 16+2*i+c.high))
	}
	c.cache[r] = out
	return out
}

// exidxCalls returns the addresses of all calls, as the disassembler sees them.
func exidxCalls(t *testing.T, path string) (calls []uint64) {
	call := regexp.MustCompile(`^\s*([0-9a-f]+):\s+blx?\s`)
	out, err := exec.Command(testenv.Tool(t, "llvm-objdump-22"), "-d", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		if m := call.FindStringSubmatch(line); m != nil {
			calls = append(calls, cfitest.Hex(m[1]))
		}
	}
	return calls
}
