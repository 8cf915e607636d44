package sframe_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/damage"
)

// errDamage stands for any damage.
var errDamage = errors.New("damage")

// linearFind is a slow Section.Find: it searches all functions, and all rows of the
// function that it finds. sure is false if a later row is damaged, which look-ups need
// not notice.
func linearFind(s *sframe.Section, pc uint64) (fde int, row sframe.Row, err error, sure bool) {
	fde = linearFDE(s, pc)
	if fde < 0 {
		return fde, row, sframe.ErrNoFDE, true
	}
	f := &s.FDEs[fde]
	off := uint32(pc - f.Start)
	if f.Mask && f.Block == 0 {
		return fde, row, errDamage, true
	} else if f.Mask {
		off %= f.Block
	}
	rows := s.Rows(fde)
	err = sframe.ErrNoRow
	n := 0
	for ; rows.Next() && rows.Row.Start <= off; n++ {
		row, err = rows.Row, nil
	}
	if rows.Err() != nil {
		return fde, sframe.Row{}, errDamage, false
	}
	if n == 0 && f.NumRows == 0 && s.Header(fde).Version == 3 && !f.Signal && !lost(s, fde) {
		return fde, sframe.Row{RA: sframe.Rule{Kind: sframe.Undefined}}, nil, true
	}
	if lost(s, fde) {
		return fde, sframe.Row{}, errDamage, true
	}
	return fde, row, err, true
}

// linearFDE returns the function that starts last; if there are several, the
// last one in the section.
func linearFDE(s *sframe.Section, pc uint64) int {
	best := -1
	for i := range s.FDEs {
		f := &s.FDEs[i]
		if f.Start <= pc && pc-f.Start < uint64(f.Size) && (best < 0 || f.Start >= s.FDEs[best].Start) {
			best = i
		}
	}
	return best
}

// lost reports whether a Problem says that a function's rows are lost.
func lost(s *sframe.Section, fde int) bool {
	for _, p := range s.Problems {
		if p.Lost == fmt.Sprintf("rows of FDE %d", fde) {
			return true
		}
	}
	return false
}

// checkFind compares a look-up with linearFind.
func checkFind(t testing.TB, s *sframe.Section, pc uint64) {
	t.Helper()
	wantFDE, wantRow, wantErr, sure := linearFind(s, pc)
	fde, row, err := s.Find(pc)
	if fde != wantFDE || s.FindFDE(pc) != wantFDE {
		t.Fatalf("%#x: FDE %d and %d, want %d", pc, fde, s.FindFDE(pc), wantFDE)
	}
	if !sure {
		return
	}
	if wantErr == errDamage {
		if at := new(damage.Error); !errors.As(err, &at) {
			t.Fatalf("%#x: %v, want damage", pc, err)
		}
	} else if err != wantErr || row != wantRow {
		t.Fatalf("%#x: %v, %v, want %v, %v", pc, row, err, wantRow, wantErr)
	}
}

// The test looks up every address of every function, and the addresses around it.
func TestFindLinear(t *testing.T) {
	n := 0
	for _, sample := range append(elfSamples(t), synthSamples(t, "ok-*")...) {
		s := sample.decode(t)
		for i := range s.FDEs {
			f := &s.FDEs[i]
			for k := range uint64(min(f.Size, 3000)) + 2 {
				checkFind(t, s, f.Start+k-1)
				n++
			}
			checkFind(t, s, f.Start+uint64(f.Size)-1)
			checkFind(t, s, f.Start+uint64(f.Size))
		}
		checkFind(t, s, 0)
		checkFind(t, s, ^uint64(0))
	}
	t.Logf("%d addresses", n)
}

// A function that lost rows is not an outermost frame.
func TestFindLost(t *testing.T) {
	for name, data := range map[string][]byte{
		"attributes outside": patch(v3, 0x39, 1),
		"unknown type":       patch(v3, 0x53, 2),
		"rows outside":       patch(v2, 0x39, 1),
	} {
		s, err := sframe.Decode(data, sframe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		at := new(damage.Error)
		if i, row, err := s.Find(0x1020); i != 1 || !errors.As(err, &at) {
			t.Errorf("%s: FDE %d, %v, %v", name, i, row, err)
		}
		if i, _, err := s.Find(0x1000); i != 0 || err != nil && name != "unknown type" {
			t.Errorf("%s: the other function: FDE %d, %v", name, i, err)
		}
	}
}

// A function that damage extends beyond the address space ends with it.
func TestFindAddressEnd(t *testing.T) {
	data := patch(v3, 0x2c, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff)
	s, err := sframe.Decode(data, sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pc := range []uint64{0, 5, 0x1000, ^uint64(0) - 6, ^uint64(0) - 3, ^uint64(0)} {
		checkFind(t, s, pc)
	}
	// A function that starts before another extends beyond it.
	s, err = sframe.Decode(raw(3, 4, 3, rawFunc{start: -16 - 28, size: 16}, rawFunc{start: -8 - 44, size: 2}), sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for pc := ^uint64(0); pc > ^uint64(0)-20; pc-- {
		checkFind(t, s, pc)
	}
	if i := s.FindFDE(^uint64(0)); i != 0 {
		t.Errorf("the last address: FDE %d", i)
	}
}

// Damage in very many functions is reported a limited number of times.
func TestProblemsBounded(t *testing.T) {
	funcs := make([]rawFunc, 5000)
	for i := range funcs {
		funcs[i] = rawFunc{info2: 2}
	}
	s, err := sframe.Decode(raw(3, 4, 3, funcs...), sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n := len(s.Problems); n > 1000 {
		t.Errorf("%d problems", n)
	}
	if last := s.Problems[len(s.Problems)-1].String(); !strings.Contains(last, "and the following ones") {
		t.Errorf("the last problem is %s", last)
	}
}

func TestFindAllocs(t *testing.T) {
	for _, data := range [][]byte{v1, v2, v3} {
		s, err := sframe.Decode(data, sframe.Options{})
		if err != nil {
			t.Fatal(err)
		}
		n := testenv.Allocations(100, func() {
			for pc := uint64(0xff0); pc < 0x1040; pc++ {
				s.Find(pc)
			}
		})
		if n != 0 {
			t.Errorf("version %d: %v allocations", data[2], n)
		}
	}
}

// listing is the output of objdump --sframe for a function.
type listing struct {
	start uint64
	size  uint32
	mask  bool
	rows  []listedRow
}

type listedRow struct {
	start   uint64
	outer   bool
	cfa, fp string
	ra      string
	signed  bool
}

var (
	funcLine = regexp.MustCompile(`^    func idx \[\d+\]: pc = 0x([0-9a-f]+), size = (\d+) bytes`)
	rowLine  = regexp.MustCompile(`^    ([0-9a-f]{16})  (?:(RA undefined)|` + term + ` *` + term + ` *` + term + `(\[s\])?)`)
)

const term = `([uUf]|\(?(?:c|sp|fp|r\d+)[-+]\d+\)?)`

func readListing(t *testing.T, path string) (out []listing) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string, base int) uint64 {
		n, err := strconv.ParseUint(s, base, 64)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return n
	}
	for line := range strings.Lines(string(text)) {
		if m := funcLine.FindStringSubmatch(line); m != nil {
			out = append(out, listing{start: number(m[1], 16), size: uint32(number(m[2], 10))})
		} else if strings.Contains(line, "Assertion") {
			return out[:len(out)-1] // up to 2.44 it aborts at a row where the function ends
		} else if strings.HasPrefix(line, "    STARTPC") {
			out[len(out)-1].mask = strings.Contains(line, "[m]")
		} else if m := rowLine.FindStringSubmatch(line); m != nil {
			f := &out[len(out)-1]
			start := number(m[1], 16)
			if !f.mask {
				start -= f.start
			}
			f.rows = append(f.rows, listedRow{start, m[2] != "", m[3], m[4], m[5], m[6] != ""})
		} else if len(line) > 20 && line[4] == '0' {
			t.Errorf("%s: cannot read %q", path, line)
		}
	}
	return out
}

// listed returns a row as objdump prints it. The letter "u" stands for the
// header's or the ABI's rule.
func listed(h *sframe.Header, row sframe.Row) listedRow {
	ra := row.RA
	if h.FixedRA != 0 && ra == (sframe.Rule{Kind: sframe.Memory, Reg: sframe.CFA, Offset: int64(h.FixedRA)}) {
		ra = sframe.Rule{}
	}
	return listedRow{uint64(row.Start), row.Outermost(), listedRule(h, row.CFA), listedRule(h, row.FP), listedRule(h, ra), row.Signed}
}

func listedRule(h *sframe.Header, r sframe.Rule) string {
	if r.Kind == sframe.Same {
		return "u"
	}
	base := fmt.Sprintf("r%d", r.Reg)
	switch r.Reg {
	case sframe.CFA:
		return fmt.Sprintf("c%+d", r.Offset)
	case h.ABI.SP():
		base = "sp"
	case h.ABI.FP():
		base = "fp"
	}
	if base += fmt.Sprintf("%+d", r.Offset); r.Kind == sframe.Memory {
		return "(" + base + ")"
	}
	return base
}

// at returns the row at an offset in the function or block.
func (f *listing) at(off uint64) *listedRow {
	var at *listedRow
	for i := range f.rows {
		if f.rows[i].start <= off {
			at = &f.rows[i]
		}
	}
	return at
}

// agree compares rows; the letters for rules that are not in the row say why
// they are missing.
func (want *listedRow) agree(got listedRow) bool {
	if want.outer || got.outer {
		return want.outer == got.outer && want.start == got.start
	}
	w := *want
	for _, s := range []*string{&w.fp, &w.ra} {
		if *s == "U" || *s == "f" {
			*s = "u"
		}
	}
	return w == got
}

// unlisted lists files that objdump misreads, and why.
var unlisted = map[string]string{
	"amd64-v1-reloc.o": "ld -r", "amd64-v2-reloc.o": "ld -r", "aarch64-v1-reloc.o": "ld -r", "aarch64-v2-reloc.o": "ld -r",
}

// aborted names the listings that are incomplete.
var aborted = map[string]bool{"amd64-v1-unrep.o.objdump-2.40.txt": true, "amd64-v2-unrep.o.objdump-2.44.txt": true}

// At every address of every function that objdump lists, Find returns objdump's row.
func TestFindObjdump(t *testing.T) {
	files, functions, addresses := 0, 0, 0
	for _, sample := range elfSamples(t) {
		paths, err := filepath.Glob(filepath.Join(testenv.Shared(t, "data", "sframe", "expect"), sample.name+".objdump-2.4?.txt"))
		if err != nil || unlisted[sample.name] != "" {
			continue
		}
		s := sample.decode(t)
		for _, path := range paths {
			list := readListing(t, path)
			if len(list) == 0 {
				continue // rejected: version 1, or a section without functions
			}
			files++
			if n := s.Headers[0].Count; len(list) != n && !aborted[filepath.Base(path)] || len(list) > n {
				t.Errorf("%s: %d functions, want %d", filepath.Base(path), n, len(list))
				continue
			}
			for i := range list {
				functions++
				addresses += compareListing(t, filepath.Base(path), s, i, &list[i], !sample.ctx.Object && !s.Headers[0].FieldRelative)
			}
		}
	}
	if files < 100 {
		t.Errorf("only %d files", files)
	}
	t.Logf("%d listings, %d functions, %d addresses", files, functions, addresses)
}

// compareListing looks up every address of a function and returns the number
// of addresses. objdump's starts are right only in linked files.
func compareListing(t *testing.T, name string, s *sframe.Section, i int, want *listing, linked bool) (n int) {
	f := &s.FDEs[i]
	if f.Size != want.size || f.Mask != want.mask || int(f.NumRows) != len(want.rows) || linked && f.Start != want.start {
		t.Errorf("%s: FDE %d: %+v, want %+v", name, i, *f, *want)
		return 0
	}
	for pc := f.Start; f.Contains(pc); pc++ {
		fde, row, err := s.Find(pc)
		if fde != i {
			continue // overlaps
		}
		n++
		off := pc - f.Start
		if f.Mask {
			off %= uint64(cmp.Or(f.Block, 1))
		}
		switch w := want.at(off); {
		case err == sframe.ErrNoRow && w == nil, err == nil && row.Outermost() && w == nil && f.NumRows == 0:
		case err != nil || w == nil || !w.agree(listed(s.Header(i), row)):
			t.Errorf("%s: FDE %d, %#x: %+v, %v, want %+v", name, i, pc, row, err, w)
			return n
		}
	}
	return n
}
