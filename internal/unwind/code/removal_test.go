package code

import (
	"cmp"
	"context"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/unwind"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// truth is a row of a file's own table.
type truth struct {
	lo, hi uint64
	rules  map[string][]string
	marks  symfmt.CFIMarks
}

// removed are the counts of bytes of a file whose table was taken away: of what has rules by verdict, and by class.
type removed struct {
	verdicts  [wrong + 1]uint64
	explained uint64 // different, where the table is wrong
	classes   [dead + 1]uint64
}

// add adds the counts of another file.
func (r *removed) add(o *removed) {
	for i, n := range o.verdicts {
		r.verdicts[i] += n
	}
	for i, n := range o.classes {
		r.classes[i] += n
	}
	r.explained += o.explained
}

// reached returns the size of the code that control reaches.
func (r *removed) reached() uint64 { return r.classes[covered] + r.classes[unknownCode] }

// rows returns the size of the code whose rows were compared.
func (r *removed) rows() uint64 {
	n := r.explained
	for _, c := range r.verdicts {
		n += c
	}
	return n - r.verdicts[uncertain]
}

// missing returns how much of it has no rules.
func (r *removed) missing() uint64 { return r.classes[unknownCode] + r.verdicts[uncertain] }

// total returns the size of the code that the table describes.
func (r *removed) total() (n uint64) {
	for _, c := range r.classes {
		n += c
	}
	return n
}

// frameTable reads .eh_frame, or .debug_frame if there is none.
func frameTable(t *testing.T, f *object.File) *symfmt.CFITable {
	t.Helper()
	s := f.Section(".eh_frame")
	if f.Arch == arch.ARM { // its .eh_frame has a part of the functions
		s = f.Section(".debug_frame")
	}
	if s == nil || !s.HasData() {
		return new(symfmt.CFITable)
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	read, err := unwind.Read(context.Background(), &unwind.Input{
		Arch: f.Arch, Order: binary.ByteOrder(f.Order), PtrSize: f.AddrSize, Base: f.Base,
		Sections: []unwind.Section{{Name: s.Name, Addr: s.Addr, Data: data, EH: s.Name == ".eh_frame"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return &read.CFI
}

// tableOf reads the rows of a file's table.
func tableOf(t *testing.T, f *object.File) (rows []truth, begins []uint64) {
	t.Helper()
	table := frameTable(t, f)
	for _, b := range table.Blocks {
		if !strings.HasSuffix(table.Rules.Text(b.Init), ".ra: 1") {
			rows = append(rows, rowsOf(table, &b, f.Base)...)
		}
		if strings.Contains(table.Rules.Text(b.Init), firstRules[f.Arch]) {
			begins = append(begins, uint64(b.RVA)+f.Base)
		}
	}
	return rows, begins
}

// firstRules are the rules at the start of a function.
var firstRules = map[*arch.Arch]string{
	arch.X86_64:  ".cfa: $rsp 8 + .ra: .cfa -8 + ^",
	arch.ARM64:   ".cfa: sp 0 + .ra: x30",
	arch.RISCV64: ".cfa: sp 0 + .ra: ra",
	arch.ARM:     ".cfa: sp 0 + .ra: lr",
}

// rowsOf returns the rows of a block, each with all of its rules.
func rowsOf(table *symfmt.CFITable, b *symfmt.CFIBlock, base uint64) (rows []truth) {
	now := rulesOf(table.Rules.Text(b.Init))
	at, m := uint64(b.RVA)+base, b.Marks
	add := func(end uint64) {
		rules := map[string][]string{}
		for reg, rule := range now {
			if len(rule) != 1 || rule[0] != reg {
				rules[reg] = rule
			}
		}
		if m &^= symfmt.MarkSignal; m&symfmt.MarkSigned == 0 {
			m = 0
		}
		rows = append(rows, truth{at, end, rules, m})
		at = end
	}
	for _, r := range table.Rows[b.First:][:b.Count] {
		add(uint64(r.RVA) + base)
		m = r.Marks
		for reg, rule := range rulesOf(table.Rules.Text(r.Rules)) {
			now[reg] = rule
		}
	}
	add(uint64(b.RVA) + base + b.Size)
	return rows
}

// subject returns what is known about a file whose table was taken away. Of files without symbols of static functions, the
// starts of functions are those of FDEs, as if they had them.
func subject(t *testing.T, f *object.File) (d *deriver, stripped bool) {
	t.Helper()
	d = bare(f)
	if stripped = d.in.unnamed; !stripped {
		return d, false
	}
	_, begins := tableOf(t, f)
	d.in.unnamed = false
	d.in.begins, d.in.colds = nil, nil
	d.stubs()
	for _, a := range begins {
		if code := d.in.data(a); len(code) == 0 || f.Arch == arch.X86_64 && code[0] != 0xf3 && d.in.cpu.skip(code) > 0 {
			continue // a cold part that begins with padding
		}
		if a == f.Entry {
			continue // it has no caller
		}
		d.in.begins = append(d.in.begins, a)
	}
	d.in.begins = sorted(d.in.begins)
	for _, fn := range ehFuncs(t, f) {
		if !d.in.starts(fn.lo) {
			d.in.colds = append(d.in.colds, fn.lo)
		}
	}
	d.in.colds = sorted(d.in.colds)
	return d, true
}

// bare returns what a file says itself.
func bare(f *object.File) *deriver {
	d := newDeriver(f)
	d.starts([]object.Companion{{File: f}})
	d.imports()
	return d
}

// remove derives the rules of a file as if it had no table, and compares them with the table at each instruction.
func remove(t *testing.T, path string, show int) (r removed) {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, _ := subject(t, f)
	return d.compare(t, path, show)
}

// removeAlone does the same, and returns how much of the code has rules if the file is used as it is, most having symbols of
// exported functions only, and how much of that is wrong.
func removeAlone(t *testing.T, path string, show int) (r removed, alone, astray uint64) {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, stripped := subject(t, f)
	if r = d.compare(t, path, show); !stripped {
		return r, r.reached() - r.missing(), 0
	}
	o := bare(f).compare(t, path, show)
	return r, o.reached() - o.missing(), o.verdicts[wrong]
}

// compare compares the rules derived from what is known about a file with its table.
func (d *deriver) compare(t *testing.T, path string, show int) (r removed) {
	t.Helper()
	rows, _ := tableOf(t, d.file)
	funcs := described(t, d.file)
	e := followAll(&d.in)
	c := comparer{judge: newJudge(d.file.Arch), rows: rows}
	e.each(func(lo, hi uint64, s *state) {
		row := c.at(lo)
		if row == nil {
			return
		}
		v := c.compare(lo, hi, s, row)
		if v == wrong {
			fn := funcAt(funcs, lo)
			if code := d.in.data(fn.lo); tableIsWrong(path, code) {
				r.explained += hi - lo
				return
			}
			if show > 0 {
				show--
				t.Logf("%s: %#x in %#x (%x): %v, derived %v", filepath.Base(path), lo, fn.lo, d.in.data(fn.lo)[:12], row.rules, s.slots)
			}
		}
		r.verdicts[v] += hi - lo
	})
	for _, p := range classify(e, d.file, funcs).parts {
		for _, k := range p {
			if k != outside {
				r.classes[k]++
			}
		}
	}
	return r
}

// comparer compares states with a table, in order of address.
type comparer struct {
	*judge
	rows   []truth
	hi     uint64 // of the instruction before
	state  state
	before verdict
	late   uint64 // where it began to be so
}

// at returns the row of an address.
func (c *comparer) at(a uint64) *truth {
	i, _ := slices.BinarySearchFunc(c.rows, a, func(r truth, a uint64) int {
		if r.hi <= a {
			return -1
		}
		return 1
	})
	if i == len(c.rows) || c.rows[i].lo > a {
		return nil
	}
	return &c.rows[i]
}

// maxLate is how many bytes of a function the table of an epilogue may be late for.
const maxLate = 64

// compare compares the state before an instruction with its row. A table that has the rules of an instruction shortly before
// is late, not wrong.
func (c *comparer) compare(lo, hi uint64, s *state, row *truth) verdict {
	v := c.verdict(s, row.rules, row.marks)
	if v == wrong && c.hi == lo {
		held := c.eval(&c.state, row.rules[".cfa"]) == (value{base: cfa}) && (c.state.regs[c.sp] != s.regs[c.sp] || c.isa != 0) // GCC describes two additions to r7 at the second
		if held || c.before == late {
			v = late
		}
	}
	if v == late && c.before != late {
		c.late = lo
	}
	if v == late && hi-c.late > maxLate {
		v = wrong
	}
	c.hi, c.state, c.before = hi, *s, v
	return v
}

// described returns the FDEs of functions that have a caller, in order.
func described(t *testing.T, f *object.File) []ehFunc {
	t.Helper()
	all := ehFuncs(t, f)
	if f.Arch == arch.ARM {
		all = nil
		for _, b := range frameTable(t, f).Blocks {
			all = append(all, ehFunc{lo: uint64(b.RVA) + f.Base, hi: uint64(b.RVA) + f.Base + b.Size})
		}
	}
	funcs := slices.DeleteFunc(all, func(fn ehFunc) bool {
		return fn.lo == f.Entry || fn.hi <= fn.lo || !f.Executable(fn.lo) || !f.Executable(fn.hi-1)
	})
	slices.SortFunc(funcs, func(a, b ehFunc) int { return cmp.Compare(a.lo, b.lo) })
	return funcs
}

// funcAt returns the FDE of an address that has one.
func funcAt(funcs []ehFunc, a uint64) ehFunc {
	i, _ := slices.BinarySearchFunc(funcs, a+1, func(fn ehFunc, a uint64) int { return cmp.Compare(fn.lo, a) })
	return funcs[max(i-1, 0)]
}

// notOfCode are fixtures whose tables are for readers of tables: they do not describe the code.
var notOfCode = map[string]bool{"eh.elf": true, "eh-encodings.elf": true}

// cpuOf returns the CPU of a file, if its code is followed.
func cpuOf(e *elf.File) *cpu {
	return map[elf.Machine]*cpu{elf.EM_X86_64: &cpuAMD64, elf.EM_AARCH64: &cpuARM64, elf.EM_RISCV: &cpuRISCV64, elf.EM_ARM: &cpuARM}[e.Machine]
}

// TestRemoval compares the rules derived for each linked fixture with its own table.
func TestRemoval(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Input(t), "*.elf"))
	if err != nil {
		t.Fatal(err)
	}
	var all removed
	compared := 0
	for _, path := range files {
		e, err := elf.Open(path)
		if err != nil {
			continue
		}
		e.Close()
		if cpuOf(e) == nil || e.Type == elf.ET_REL || e.Class == elf.ELFCLASS32 && e.Machine != elf.EM_ARM || notOfCode[filepath.Base(path)] {
			continue
		}
		r := remove(t, path, 3)
		all.add(&r)
		compared++
	}
	t.Logf("%d files: %v", compared, &all)
	if all.verdicts[wrong] > 0 || all.verdicts[right] < 10_000 {
		t.Errorf("%d bytes wrong, %d right", all.verdicts[wrong], all.verdicts[right])
	}
}

// String returns the figures of a table.
func (r *removed) String() string {
	share := func(n, of uint64) float64 { return 100 * float64(n) / float64(max(of, 1)) }
	rows := r.rows()
	return fmt.Sprintf("%d bytes, %d reached; of rows: right %.3f %%, wrong %.4f %%, late %.3f %%, loose %.3f %%, unproven %.4f %%, table wrong %.4f %%; without rules %.3f %%; landing %.2f %%, dead %.2f %%, padding %.2f %%",
		r.total(), r.reached(), share(r.verdicts[right], rows), share(r.verdicts[wrong], rows), share(r.verdicts[late], rows), share(r.verdicts[loose], rows), share(r.verdicts[unproven], rows), share(r.explained, rows),
		share(r.missing(), r.reached()), share(r.classes[landing], r.total()), share(r.classes[dead], r.total()), share(r.classes[padding], r.total()))
}

// TestOracleRemoval does the same with the libraries and programs of this machine that have a table.
func TestOracleRemoval(t *testing.T) {
	testenv.Oracle(t)
	const libs = "/usr/lib/x86_64-linux-gnu/"
	patterns := []string{libs + "libc.so.6", libs + "libm.so.6", libs + "libstdc++.so.*", libs + "libcrypto.so.*", libs + "libxml2.so.*", libs + "libgcc_s.so.*", "/usr/bin/python3*", "/usr/bin/bash", "/usr/bin/git", "/usr/bin/x86_64-linux-gnu-readelf"}
	if testenv.OracleFull() {
		patterns = []string{libs + "*.so*", "/usr/bin/*"}
	}
	removeAll(t, patterns, 5)
}

// TestOracleRemovalARM64 does so with the libraries that come with cross compilers and, if they were downloaded, Debian's.
func TestOracleRemovalARM64(t *testing.T) {
	testenv.Tool(t, "aarch64-linux-gnu-gcc")
	patterns := []string{"/usr/aarch64-linux-gnu/lib/*.so*", filepath.Join(testenv.Root(t), "build/cpus/arm64/*/*/*.so*")}
	removeAll(t, patterns, 5)
}

// TestOracleRemovalRISCV64 does so with those for RISC-V.
func TestOracleRemovalRISCV64(t *testing.T) {
	testenv.Tool(t, "riscv64-linux-gnu-gcc")
	removeAll(t, []string{"/usr/riscv64-linux-gnu/lib/*.so*", "/usr/lib/gcc-cross/riscv64-linux-gnu/*/*.so*"}, 2)
}

// TestOracleRemovalARM does so with the libraries of GCC for ARM that have .debug_frame.
func TestOracleRemovalARM(t *testing.T) {
	testenv.Tool(t, "arm-linux-gnueabihf-gcc")
	removeAll(t, []string{"/usr/arm-linux-gnueabihf/lib/*.so*"}, 2)
}

// removeAll compares the files of patterns, of which there are some at least. No row may differ from a table that is not known to be wrong.
func removeAll(t *testing.T, patterns []string, least int) {
	t.Helper()
	var all removed
	n := 0
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if !comparable(path) {
				continue
			}
			r := remove(t, path, 100)
			if r.total() == 0 {
				continue
			}
			n++
			all.add(&r)
			t.Logf("%-30s %v", filepath.Base(path), &r)
		}
	}
	t.Logf("%d files: %v", n, &all)
	if n < least || all.verdicts[wrong] > 0 {
		t.Errorf("%d files, %d bytes wrong", n, all.verdicts[wrong])
	}
}

// comparable reports whether a path is a binary of a size that does not take long.
func comparable(path string) bool {
	const least, most = 100 << 10, 8 << 20
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() < least || info.Size() > most {
		return false
	}
	f, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return cpuOf(f) != nil && (f.Class == elf.ELFCLASS64 && f.Section(".eh_frame") != nil || f.Machine == elf.EM_ARM && f.Section(".debug_frame") != nil) && f.Type != elf.ET_REL && f.Section(".gopclntab") == nil
}
