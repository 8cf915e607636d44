package walk

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// verified walks a dump and judges the symbols.
func verified(t testing.TB, path string, s *Sources, limits Thresholds) (*Result, *Verdict) {
	t.Helper()
	d := opened(t.(*testing.T), path)
	w := NewWalker(s, Config{})
	r, err := w.Walk(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	v, err := w.Verify(context.Background(), r, limits)
	if err != nil {
		t.Fatal(err)
	}
	return r, v
}

func verdictText(t testing.TB, v *Verdict) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteVerdict(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// bothSources are a store's symbols and binaries beside it.
func bothSources(t testing.TB, store string, binaries ...string) *Sources {
	t.Helper()
	return &Sources{Symbols: symbolSources(t, store).Symbols, Binaries: binarySources(t, binaries...).Binaries}
}

// The symbols of every crash case hold: nothing disagrees with the binaries.
func TestVerifyCrashes(t *testing.T) {
	crashes := testenv.Shared(t, "data", "crashes")
	sources := bothSources(t, crashStore(t), crashes)
	for _, name := range crashCases {
		for _, kind := range []string{"dump.dmp", "core"} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				_, v := verified(t, filepath.Join(crashes, name, kind), sources, DefaultThresholds())
				text := verdictText(t, v)
				if !v.Holds || strings.Contains(text, "rules-") || v.Compared < 3 || v.Calls == 0 || v.UnknownCalls > 0 {
					t.Error(text)
				}
				t.Log(v.Conclusion, "-", v.Compared, "pairs,", v.Calls, "calls,", len(v.Findings), "findings")
			})
		}
	}
}
