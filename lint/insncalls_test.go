package lint

import (
	"bytes"
	"os"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/finding"
	"github.com/symtool/symtool/lint/internal/check"
)

// goldenCalls are return addresses of test binaries: those with call frame information, and all.
var goldenCalls = map[string]coverage.Share{
	"gcc-O0": {Covered: 5, Total: 5}, "cpu-i686": {Covered: 15, Total: 15}, "cpu-arm64-pac": {Covered: 7, Total: 7}, "cpu-arm": {Covered: 6, Total: 6}, "cpu-thumb": {Covered: 6, Total: 6}, "exidx-lld": {Covered: 75, Total: 76}, "dwz4": {Covered: 25, Total: 25},
}

func TestCallsGoldens(t *testing.T) {
	seen := 0
	goldenPairs(t, func(t *testing.T, name, elfPath, symPath string) {
		want, ok := goldenCalls[name]
		if !ok {
			return
		}
		seen++
		text, err := os.ReadFile(symPath)
		if err != nil {
			t.Fatal(err)
		}
		f := symtest.Open(t, elfPath)
		if c := lintBinary(t, text, f, Options{Rules: []*finding.Rule{}}).Coverage; c.Calls == nil || *c.Calls != want {
			t.Errorf("%v, want %v", c.Calls, want)
		}
		// Without STACK CFI, no return address has call frame information. A file for another CPU
		// is not compared.
		bare := bytes.Join(slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(l []byte) bool { return bytes.HasPrefix(l, []byte("STACK")) }), nil)
		if c := lintBinary(t, bare, f, Options{Rules: []*finding.Rule{}}).Coverage; c.Calls == nil || *c.Calls != (coverage.Share{Covered: 0, Total: want.Total}) {
			t.Errorf("without STACK CFI: %v, want 0 of %d", c.Calls, want.Total)
		}
		if c := lintBinary(t, []byte(check.Head+"PUBLIC 1000 0 f\n"), f, Options{Rules: []*finding.Rule{}}).Coverage; c.Calls != nil {
			t.Errorf("of another binary: %v", c.Calls)
		}
	})
	if seen != len(goldenCalls) {
		t.Errorf("%d of %d files", seen, len(goldenCalls))
	}
}
