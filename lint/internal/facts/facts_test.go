package facts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt/arch"
)

// Text from the file appears in messages unchanged, up to a maximum length.
func TestQuote(t *testing.T) {
	long := strings.Repeat("x", MaxQuoted)
	for text, want := range map[string]string{
		"$rsp": "$rsp", long: long, long + "y": `"` + long + `"...`, "a b": `"a b"`, "a\x7f": `"a\x7f"`, "~!": "~!", "": "",
	} {
		if got := quote(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Numbers inside and beyond the bitsets.
func TestIDs(t *testing.T) {
	for _, id := range []uint32{0, 1, 63, 64, maxDense - 1, maxDense, maxDense + 1, 1<<32 - 1} {
		var s IDs
		if s.Use(id); s.Has(id) || s.Count != 0 {
			t.Errorf("%d is declared by a use", id)
		}
		if s.declare(id) || !s.Has(id) || s.Has(id^1) || !s.declare(id) || s.Count != 1 {
			t.Errorf("%d is not declared once", id)
		}
		if s.Use(id); !s.Used(id) || s.Used(id^1) {
			t.Errorf("%d is not used", id)
		}
		if dense := id < maxDense; dense != (len(s.declared) > 0) || dense == (len(s.far) > 0) {
			t.Errorf("%d: %d words of bits, %d far numbers", id, len(s.declared), len(s.far))
		}
	}
}

// The table of rule sets is bounded, whatever the texts are.
func TestRuleSetsBound(t *testing.T) {
	var s ruleSets
	for i := range 3 * maxSets / 2 {
		s.fresh(arch.X86_64)
		s.of(fmt.Appendf(nil, ".cfa: $rsp %d +", i))
	}
	if n := len(s.known); n == 0 || n > maxSets {
		t.Errorf("%d texts are kept, want at most %d", n, maxSets)
	}
}
