package code

import (
	"context"
	"debug/elf"
	"encoding/binary"
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

// removed are the counts of a file whose table was taken away: bytes by verdict, and those without rules.
type removed struct {
	count   [wrong + 1]uint64
	missing uint64 // of code that the table describes, without padding
}

func (r *removed) total() (n uint64) {
	for _, c := range r.count {
		n += c
	}
	return n + r.missing
}

// tableOf reads the rows of .eh_frame.
func tableOf(t *testing.T, f *object.File) (rows []truth, begins []uint64) {
	t.Helper()
	s := f.Section(".eh_frame")
	if s == nil || !s.HasData() {
		return nil, nil
	}
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	read, err := unwind.Read(context.Background(), &unwind.Input{
		Arch: f.Arch, Order: binary.ByteOrder(f.Order), PtrSize: f.AddrSize, Base: f.Base,
		Sections: []unwind.Section{{Name: s.Name, Addr: s.Addr, Data: data, EH: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	table := &read.CFI
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
	arch.X86_64: ".cfa: $rsp 8 + .ra: .cfa -8 + ^",
	arch.ARM64:  ".cfa: sp 0 + .ra: x30",
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

// subject returns what is known about a file whose table was taken away. The starts of functions are those of FDEs, as
// most files have no symbols of static functions.
func subject(t *testing.T, f *object.File) (d *deriver, rows []truth) {
	t.Helper()
	d = &deriver{file: f, in: input{cpu: cpus[f.Arch], data: bytesOf(f), pointer: f.Pointer}}
	d.starts([]object.Companion{{File: f}})
	d.imports()
	rows, begins := tableOf(t, f)
	d.in.unnamed = false
	d.in.begins, d.in.colds = nil, nil
	d.stubs()
	for _, a := range begins {
		if code := d.in.data(a); len(code) == 0 || code[0] != 0xf3 && d.in.cpu.skip(code) > 0 {
			continue // a cold part that begins with padding
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
	return d, rows
}

// remove derives the rules of a file as if it had no table, and compares them with the table at each instruction. The
// starts of functions are those of FDEs, as most files have no symbols of static functions.
func remove(t *testing.T, path string, show int) (r removed) {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	j := newJudge(f.Arch)
	d, rows := subject(t, f)
	described := uint64(0)
	for _, row := range rows {
		described += row.hi - row.lo
	}
	var before struct {
		hi      uint64
		state   state
		verdict verdict
	}
	followAll(&d.in, func(lo, hi uint64, s *state) {
		i, found := slices.BinarySearchFunc(rows, lo, func(r truth, a uint64) int {
			if r.hi <= a {
				return -1
			}
			return 1
		})
		if found || i == len(rows) || rows[i].lo > lo {
			return
		}
		v := j.verdict(s, rows[i].rules, rows[i].marks)
		if v == wrong && before.hi == lo && (before.verdict == late || j.eval(&before.state, rows[i].rules[".cfa"]) == (value{base: cfa})) && before.state.regs[j.sp] != s.regs[j.sp] {
			v = late
		}
		if v == wrong && before.hi == lo && before.verdict == late {
			v = late
		}
		if v == wrong && show > 0 {
			show--
			t.Logf("%s: %#x: %v, derived %v", filepath.Base(path), lo, rows[i].rules, s.slots)
		}
		r.count[v] += hi - lo
		described -= min(hi-lo, described)
		before.hi, before.state, before.verdict = hi, *s, v
	})
	r.missing = described
	return r
}

// notOfCode is a fixture whose table is for readers of tables: it does not describe the code.
const notOfCode = "eh.elf"

// cpuOf returns the CPU of a file, if its code is followed.
func cpuOf(e *elf.File) *cpu {
	return map[elf.Machine]*cpu{elf.EM_X86_64: &cpuAMD64, elf.EM_AARCH64: &cpuARM64}[e.Machine]
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
		if cpuOf(e) == nil || e.Type == elf.ET_REL || e.Class != elf.ELFCLASS64 || filepath.Base(path) == notOfCode {
			continue
		}
		r := remove(t, path, 3)
		for i, n := range r.count {
			all.count[i] += n
		}
		all.missing += r.missing
		compared++
	}
	t.Logf("%d files: %d bytes right, %d wrong, %d late, %d loose, %d uncertain, %d missing", compared, all.count[right], all.count[wrong], all.count[late], all.count[loose], all.count[uncertain], all.missing)
	if all.count[wrong] > 0 || all.count[right] < 10_000 {
		t.Errorf("%d bytes wrong, %d right", all.count[wrong], all.count[right])
	}
}

// TestOracleRemoval does the same with the libraries and programs of this machine that have a table. Of the rows that
// are written, two in 10,000 may differ from a table without an
// explanation: some tables are wrong.
func TestOracleRemoval(t *testing.T) {
	testenv.Oracle(t)
	var all removed
	n := 0
	const libs = "/usr/lib/x86_64-linux-gnu/"
	patterns := strings.Fields(os.Getenv("KA"))
	if len(patterns) == 0 {
		patterns = []string{libs + "libc.so.6", libs + "libm.so.6", libs + "libstdc++.so.*", libs + "libcrypto.so.*", libs + "libxml2.so.*", libs + "libgcc_s.so.*", "/usr/bin/python3*", "/usr/bin/bash", "/usr/bin/git", "/usr/bin/x86_64-linux-gnu-readelf"}
	}
	if testenv.OracleFull() {
		patterns = []string{libs + "*.so*", "/usr/bin/*"}
	}
	for _, pattern := range patterns {
		paths, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if !comparable(path) {
				continue
			}
			r := remove(t, path, 2)
			if r.total() == 0 {
				continue
			}
			n++
			for i, c := range r.count {
				all.count[i] += c
			}
			all.missing += r.missing
			t.Logf("%-36s %9d bytes: right %6.2f %%, wrong %.4f %%, late %.3f %%, loose %.3f %%, unproven %.3f %%, without rules %5.2f %%", filepath.Base(path), r.total(),
				r.share(right), r.share(wrong), r.share(late), r.share(loose), r.share(unproven), 100*float64(r.missing+r.count[uncertain])/float64(r.total()))
		}
	}
	t.Logf("%d files, %d bytes: right %.3f %%, wrong %.5f %%, late %.3f %%, loose %.3f %%, unproven %.3f %%, missing %.3f %%", n, all.total(),
		all.share(right), all.share(wrong), all.share(late), all.share(loose), all.share(unproven), 100*float64(all.missing+all.count[uncertain])/float64(all.total()))
	if n < 5 || all.share(wrong) > 0.02 {
		t.Errorf("%d files, %.4f %% wrong", n, all.share(wrong))
	}
}

func (r *removed) share(v verdict) float64 {
	return 100 * float64(r.count[v]) / float64(max(r.total(), 1))
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
	return cpuOf(f) != nil && f.Class == elf.ELFCLASS64 && f.Type != elf.ET_REL && f.Section(".eh_frame") != nil && f.Section(".gopclntab") == nil
}
