package pattern

import (
	"runtime"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for expr, want := range map[string]string{
		`^/home/worker/(.*)$`:                         "",
		`a{1,900}`:                                    "",
		strings.Repeat("a", 9000):                     "",
		strings.Repeat("a{1,900}", 2500):              "expression too large",
		strings.Repeat("a{1,900}", 6):                 "has 10796 instructions, want at most 10000: use smaller repetition counts",
		"(" + strings.Repeat(`\pL{1,900}`, 900) + ")": "instructions, want at most 10000",
		"(":           "missing closing )",
		"a{1001}":     "invalid repeat count",
		"(?:a{9}){9}": "",
	} {
		var c Compiler
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		re, err := c.Compile(expr)
		runtime.ReadMemStats(&after)
		if want == "" && (err != nil || re == nil) || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.40s: %v, want %q", expr, err, want)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%.40s: %d bytes were allocated", expr, used)
		}
	}
}

// Many small expressions share a limit, which grows with their text.
func TestSizesOfAll(t *testing.T) {
	var c Compiler
	for i := range 100_000 {
		if err := c.Check(`^/home/worker/(.*)$`); err != nil {
			t.Fatalf("expression %d: %v", i, err)
		}
	}
	c = Compiler{}
	n := 0
	for n < 1000 && c.Check(`a{1,900}`) == nil {
		n++
	}
	if n < 30 || n > 60 {
		t.Errorf("%d expressions of 1,800 instructions in 8 bytes each, want some 40", n)
	}
}
