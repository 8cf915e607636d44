package lint

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// counts are the findings of the families cfi and coverage, by rule.
func counts(r *Report) map[string]int {
	n := maps.Clone(r.Counts)
	maps.DeleteFunc(n, func(id string, n int) bool { return n == 0 || id[3] != '4' && id[3] != '7' })
	return n
}

// What "symtool dump" writes has no errors, and these notes and warnings:
//
//	SYM418  6  stacks that compilers align: .cfa by $r10 or $ecx for an instruction or two
//	SYM420 53  the PLT, padding of ARM that .ARM.exidx covers, and what BOLT left of the code that it moved
//	SYM701 12  inputs without .eh_frame: made by hand, or by compilers of other languages without it
//	SYM704  3  inputs without a line table, one of them damaged
//	SYM705  2  inputs of .sframe alone
//	SYM706 10  assembly without .cfi directives, beside functions that have them
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
			if RuleByID(id).Severity == Error {
				t.Errorf("%s: %d of %s", filepath.Base(path), n, id)
			}
		}
	}
	want := map[string]int{"SYM418": 6, "SYM420": 53, "SYM701": 12, "SYM704": 3, "SYM705": 2, "SYM706": 10}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func lintFile(t *testing.T, path string) *Report {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return lintText(t, string(text))
}

// Findings in files of the peers, each kind looked at in the files:
//
//	SYM402  Mozilla's dump_syms wrote .eh_frame and .debug_frame both: ca10 to ca50
//	        of the one is ca10 to ca15 and three more of the other
//	SYM405  Breakpad's dump_syms writes in the order of .eh_frame
//	SYM410  __restore_rt, of whose .cfa Breakpad's dump_syms writes nothing
//	SYM418  longjmp, setcontext and the like, by $rdi and $rcx
//	SYM420  the PLT, and functions of ld.so without a symbol
//	SYM433  so in the PDB: 19be7 to 19c15 beside 19be6 to 19c00
//	SYM436  the example of the specification, without the variable of its first assignment
//	SYM438  destructors: FUNC 42d1 has 0 bytes, STACK WIN 4
//	SYM701  files without STACK records
//	SYM706  memcpy, strcspn: assembly of Microsoft's library
var peerCFIFindings = map[string]struct {
	verdict Verdict
	counts  map[string]int
}{
	"kernel32.sym":         {GoodForUnwinding, map[string]int{"SYM433": 503}},
	"ld-2.13.so.sym":       {GoodForUnwinding, map[string]int{"SYM410": 1, "SYM418": 1, "SYM420": 38}},
	"libc-2.13.so.sym":     {GoodForUnwinding, map[string]int{"SYM405": 1, "SYM410": 1, "SYM418": 3, "SYM420": 1}},
	"libgcc_s.so.1.sym":    {GoodForUnwinding, map[string]int{"SYM405": 1, "SYM418": 4, "SYM420": 2}},
	"linux_inline.new.sym": {SymbolicationOnly, map[string]int{"SYM701": 1}},
	"linux_inline.old.sym": {SymbolicationOnly, map[string]int{"SYM701": 1}},
	"null_read_av.sym":     {GoodForUnwinding, map[string]int{"SYM405": 1, "SYM420": 3}},
	"overflow.sym":         {GoodForUnwinding, map[string]int{"SYM405": 1, "SYM420": 3}},
	"test_app.sym":         {GoodForUnwinding, map[string]int{"SYM433": 2, "SYM438": 70, "SYM706": 24}},
	"crash-client.sym":     {GoodForUnwinding, map[string]int{"SYM402": 5, "SYM405": 1}},
	"module1.sym":          {SymbolicationOnly, map[string]int{"SYM436": 4, "SYM706": 5}},
	"module2.sym":          {SymbolicationOnly, map[string]int{"SYM436": 2, "SYM706": 2}},
}

func TestPeerFindings(t *testing.T) {
	root := testenv.Shared(t, "data")
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || filepath.Ext(path) != ".sym" || seen[name] {
			return err
		}
		seen[name] = true
		r := lintFile(t, path)
		want := peerCFIFindings[name]
		if got := counts(r); !maps.Equal(got, want.counts) || r.Coverage.Verdict != want.verdict {
			t.Errorf("%s: %v %v, want %v %v", name, r.Coverage.Verdict, got, want.verdict, want.counts)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != len(peerCFIFindings) {
		t.Errorf("%d files, want %d", len(seen), len(peerCFIFindings))
	}
}

// FuzzCFI checks any records: nothing panics, and shares are shares.
func FuzzCFI(f *testing.F) {
	for _, text := range examples() {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := lintText(t, text)
		c := r.Coverage
		for _, s := range []Share{c.Code, c.Entries, c.Public, c.LineEnds.Share, c.Lines, c.WithLines} {
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
		if err := WriteVerdict(&strings.Builder{}, r); err != nil {
			t.Error(err)
		}
	})
}
