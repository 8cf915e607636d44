package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"
	"time"

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
	"references":          func(n int) string { return "_Z1f1AI" + strings.Repeat("1b", n) + "E" + strings.Repeat("S0_", n) },
	"references to all":   func(n int) string { return "_Z1f1aPS_" + strings.Repeat("PKS0_", n) },
	"doubling": func(n int) string {
		name := "_Z1f1AIiiE"
		for i := range min(n, 30) {
			name += fmt.Sprintf("S_IS%c_S%[1]c_E", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i])
		}
		return name
	},
	"Rust's references": func(n int) string {
		name, at := "INvC1a1f", 8
		name += "TuuE"
		for range min(n, 30) {
			next := len(name)
			name += "TB" + base62(at) + "B" + base62(at) + "E"
			at = next
		}
		return "_R" + name + "E"
	},
}

// base62 returns a number in the base 62 of Rust's mangling.
func base62(n int) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	if n == 0 {
		return "_"
	}
	text := "_"
	for n--; ; n /= 62 {
		text = digits[n%62:n%62+1] + text
		if n < 62 {
			return text
		}
	}
}

// TestDemangleCost: a name that would take more than its length allows stays
// mangled, and that is reported; small ones of its shape are demangled.
func TestDemangleCost(t *testing.T) {
	for shape, name := range costlyNames {
		t.Run(shape, func(t *testing.T) {
			if raw := name(4); demangleName(raw, true) == raw {
				t.Errorf("%s stays mangled", raw)
			}
			n := 3000
			for len(name(n)) > maxMangled {
				n -= 100
			}
			raw := name(n)
			watch := testenv.StartWatch()
			got, costly := demangleWithin(raw, true)
			took := watch.Took()
			t.Logf("%d bytes: %v, %.2f MB/s", len(raw), took, float64(len(raw))/1e6/took.Seconds())
			if !costly || got != raw {
				t.Errorf("%.60s... becomes %.60s..., costly %v", raw, got, costly)
			}
			if took > time.Second {
				t.Errorf("%d bytes took %v", len(raw), took)
			}
			for _, raw := range []string{"." + raw, globalKeyed + "_I_" + raw} {
				if _, costly := demangleWithin(raw, true); !costly && raw[1] != '_' == (name(1)[1] == 'Z') {
					t.Errorf("%.60s... is not costly", raw)
				}
			}
		})
	}
}

// TestCostlyNamesAreReported: what stays mangled is reported once, also where it is
// only the beginning of other names.
func TestCostlyNamesAreReported(t *testing.T) {
	const unit = "\t.debug_info\n\tunit 4\n\t\tcompile_unit language/data1=4\n"
	costly := costlyNames["arrays"](3000)
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"a function", unit + "\t\t\tsubprogram linkage_name/string=\"" + costly + "\" low_pc/addr=0x1000 high_pc/data4=1\n", true},
		{"a function around others", unit + "\t\t\tsubprogram linkage_name/string=\"" + costly + "\"\n\t\t\t\tstructure_type name/string=\"s\"\n" +
			"\t\t\t\t\tsubprogram name/string=\"g\" low_pc/addr=0x1000 high_pc/data4=1\n", true},
		{"of its shape", unit + "\t\t\tsubprogram linkage_name/string=\"" + costlyNames["arrays"](30) + "\" low_pc/addr=0x1000 high_pc/data4=1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, jobs := range []int{1, 2} {
				got := coreOf(t, c.in).text(t, Options{Demangle: true}, coreRun{jobs: jobs})
				const message = "they stay mangled (lost: names in source form)"
				if n := strings.Count(got, message); n != btoi(c.want) {
					t.Errorf("%d jobs: %d messages: %.300s", jobs, n, got)
				}
				if strings.Contains(got, costly[:100]) != c.want {
					t.Errorf("%d jobs: %.300s", jobs, got)
				}
			}
		})
	}
}
