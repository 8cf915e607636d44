package itanium

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/testenv"
)

// costlyNames are shapes of names that would take far more than their length, by
// how often a piece is repeated.
var costlyNames = map[string]func(n int) string{
	"pointers":            func(n int) string { return "_Z1f" + strings.Repeat("P", n) + "i" },
	"arrays":              func(n int) string { return "_Z1f" + strings.Repeat("A5_", n) + "i" },
	"pointers to members": func(n int) string { return "_Z1f" + strings.Repeat("M1a", n) + "i" },
	"vendor's qualifiers": func(n int) string { return "_Z1f" + strings.Repeat("U1aP", n) + "i" },
	"casts":               func(n int) string { return "_Z1fIXng" + strings.Repeat("cv1a", n) + "Li1EEEvv" },
	"operators":           func(n int) string { return "_Z1fIXng" + strings.Repeat("ng", n) + "Li1EEEvv" },
	"templates":           func(n int) string { return "_Z1f" + strings.Repeat("1AI", n) + "i" + strings.Repeat("E", n) },
	"scopes":              func(n int) string { return "_ZN" + strings.Repeat("1a", n) + "Ev" },
	"doubling": func(n int) string {
		name := "_Z1f1AIiiE"
		for i := range min(n, 30) {
			name += fmt.Sprintf("S_IS%c_S%[1]c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i])
		}
		return name
	},
}

// longNames are shapes of names that are long, and take no more than their length.
var longNames = map[string]func(n int) string{
	"references":        func(n int) string { return "_Z1f1AI" + strings.Repeat("1b", n) + "E" + strings.Repeat("S0_", n) },
	"references to all": func(n int) string { return "_Z1f1aPS_" + strings.Repeat("PKS0_", n) },
	// As iterators of nested containers: the worst of Ceph's names becomes 55 times as long.
	"references to a long one": func(n int) string {
		return fmt.Sprintf("_Z1f%d%s%s", n/10, strings.Repeat("a", n/10), strings.Repeat("S_", n/14))
	},
	"parameters": func(n int) string { return "_Z1f" + strings.Repeat("i", n) },
	"arguments":  func(n int) string { return "_Z1fI" + strings.Repeat("i", n) + "EvT_" },
	"pack":       func(n int) string { return "_Z1fIJ" + strings.Repeat("i", n) + "EEvDpT_" },
	"clones":     func(n int) string { return "_Z1fv" + strings.Repeat(".a", n) },
}

func TestLongNames(t *testing.T) {
	for shape, name := range longNames {
		raw := name(2000)
		watch := testenv.StartWatch()
		if _, err := Append(nil, raw); err != nil {
			t.Errorf("%s: %v", shape, err)
		}
		if took := watch.Took(); took > time.Second {
			t.Errorf("%s: %d bytes took %v", shape, len(raw), took)
		}
	}
}

// TestTemplatesArePrintedOnce: a name that refers to a template again and again takes a few steps
// more for each reference, and repeats the text of the first.
func TestTemplatesArePrintedOnce(t *testing.T) {
	const args, times = 25, 100
	template := "1AI1B" + strings.Repeat("S0_", args-1) + "E"
	text := "A<" + strings.Repeat("B, ", args-1) + "B>"
	for _, c := range []struct{ again, text string }{
		{"S1_", text},
		{"PFRKS1_S1_E", text + " const& (*)(" + text + ")"},
	} {
		raw := "_Z1f" + template + strings.Repeat(c.again, times)
		var d decoder
		got, v := d.appendName(nil, raw)
		if want := "f(" + text + strings.Repeat(", "+c.text, times) + ")"; v != decoded || string(got) != want {
			t.Errorf("%s: verdict %d, %s\nwant %s", raw, v, got, want)
		}
		if steps := mangled.StepsAllowed(raw) - d.Steps; steps > 4*len(raw) {
			t.Errorf("%s: %d steps, want at most %d", raw, steps, 4*len(raw))
		}
	}
}

// TestCost: a name that would take more than its length allows stays
// mangled, and that is reported; small ones of its shape are demangled.
func TestCost(t *testing.T) {
	for shape, name := range costlyNames {
		t.Run(shape, func(t *testing.T) {
			if raw := name(4); source(raw) == raw {
				t.Errorf("%s stays mangled", raw)
			}
			n := 3000
			for len(name(n)) > mangled.MaxMangled {
				n -= 100
			}
			raw := name(n)
			watch := testenv.StartWatch()
			_, err := Append(nil, raw)
			took := watch.Took()
			t.Logf("%d bytes: %v, %.2f MB/s", len(raw), took, float64(len(raw))/1e6/took.Seconds())
			if err != mangled.ErrCostly {
				t.Errorf("%.60s...: %v, want ErrCostly", raw, err)
			}
			if took > time.Second {
				t.Errorf("%d bytes took %v", len(raw), took)
			}
		})
	}
}
