package lint

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
)

// counts returns the findings of the families cfi and coverage, by rule.
func counts(r *finding.Report) map[string]int {
	n := maps.Clone(r.Counts)
	maps.DeleteFunc(n, func(id string, n int) bool { return n == 0 || id[3] != '4' && id[3] != '7' })
	return n
}

// The output of "symtool dump" has no errors, and only these notes and warnings:
//
//	SYM418   6  stacks that compilers align: .cfa by $r10 or $ecx for an instruction or two
//	SYM420 108 the PLT, padding of ARM that .ARM.exidx covers, and what BOLT left of the code that it moved
//	SYM701   7  inputs without .eh_frame: for other CPUs, made by hand, or for BPF
//	SYM704   3  inputs without a line table, one of them damaged
//	SYM705   3  inputs of .sframe alone, and one that is stripped
//	SYM706  31 functions of ARM marked cantunwind, stubs of linkers
func TestGoldenFindings(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), "golden", "dwarf2sym", "*.sym"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]int{}
	for _, path := range files {
		r := lintFile(t, path)
		for id, n := range counts(r) {
			got[id] += n
			if RuleByID(id).Severity == finding.Error {
				t.Errorf("%s: %d of %s", filepath.Base(path), n, id)
			}
		}
	}
	want := map[string]int{"SYM418": 6, "SYM420": 108, "SYM701": 7, "SYM704": 3, "SYM705": 3, "SYM706": 31}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func lintFile(t *testing.T, path string) *finding.Report {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return lintText(t, string(text))
}

// FuzzCFI checks any records: nothing panics, and no share exceeds its total.
func FuzzCFI(f *testing.F) {
	for _, text := range examples() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := lintText(t, text)
		c := r.Coverage
		for _, s := range []coverage.Share{c.Code, c.Entries, c.Public, c.LineEnds.Share, c.Lines, c.WithLines} {
			if s.Covered > s.Total {
				t.Errorf("%d of %d", s.Covered, s.Total)
			}
		}
		if c.LineEnds.Unsure > c.LineEnds.Total-c.LineEnds.Covered {
			t.Errorf("%+v", c.LineEnds)
		}
		for i := range r.Findings {
			if fd := &r.Findings[i]; fd.Line > r.Lines+1 || strings.ContainsFunc(fd.Message, func(c rune) bool { return c < ' ' || 0x7f <= c && c < 0xa0 }) {
				t.Errorf("finding %q", fd.String())
			}
		}
	})
}
