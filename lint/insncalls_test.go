package lint

import (
	"bytes"
	"os"
	"slices"
	"testing"
)

// goldenCalls are return addresses of test binaries, those with call frame
// information first.
var goldenCalls = map[string]Share{
	"gcc-O0": {5, 5}, "cpu-i686": {15, 15}, "cpu-arm64-pac": {7, 7}, "cpu-arm": {6, 6}, "cpu-thumb": {6, 6}, "exidx-lld": {74, 76}, "dwz4": {25, 25},
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
		f := openELF(t, elfPath)
		if c := lintBinary(t, text, f, Options{Rules: []*Rule{}}).Coverage; c.Calls == nil || *c.Calls != want {
			t.Errorf("%v, want %v", c.Calls, want)
		}
		// Without STACK CFI there is none, and another CPU's file is of another binary.
		bare := bytes.Join(slices.DeleteFunc(bytes.SplitAfter(text, []byte("\n")), func(l []byte) bool { return bytes.HasPrefix(l, []byte("STACK")) }), nil)
		if c := lintBinary(t, bare, f, Options{Rules: []*Rule{}}).Coverage; c.Calls == nil || *c.Calls != (Share{0, want.Total}) {
			t.Errorf("without STACK CFI: %v, want 0 of %d", c.Calls, want.Total)
		}
		if c := lintBinary(t, []byte(Head+"PUBLIC 1000 0 f\n"), f, Options{Rules: []*Rule{}}).Coverage; c.Calls != nil {
			t.Errorf("of another binary: %v", c.Calls)
		}
	})
	if seen != len(goldenCalls) {
		t.Errorf("%d of %d files", seen, len(goldenCalls))
	}
}
