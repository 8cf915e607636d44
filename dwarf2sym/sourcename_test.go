package dwarf2sym

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle"
)

// sourceName returns a name in the form used in symbol files.
func sourceName(raw string, full bool) string {
	name, _ := demangle.AppendSource(nil, raw, full)
	return string(name)
}

// costlyName contains so many nested types that it is not demangled.
var costlyName = "_Z1f" + strings.Repeat("A5_", 3000) + "i"

// TestCostlyNamesAreReported checks that names that stay mangled are reported once, even
// if one is only the beginning of other names.
func TestCostlyNamesAreReported(t *testing.T) {
	const unit = "\t.debug_info\n\tunit 4\n\t\tcompile_unit language/data1=4\n"
	costly := costlyName
	inlined := func(code string) string {
		return "\t\t\tsubprogram name/string=\"g\" low_pc/addr=0x1000 high_pc/data4=1\n" +
			"\t\t\t\tinlined_subroutine linkage_name/string=\"" + costly + "\" " + code + "\n"
	}
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"a function", unit + "\t\t\tsubprogram linkage_name/string=\"" + costly + "\" low_pc/addr=0x1000 high_pc/data4=1\n", true},
		{"a function around others", unit + "\t\t\tsubprogram linkage_name/string=\"" + costly + "\"\n\t\t\t\tstructure_type name/string=\"s\"\n" +
			"\t\t\t\t\tsubprogram name/string=\"g\" low_pc/addr=0x1000 high_pc/data4=1\n", true},
		{"an inlined function", unit + inlined("low_pc/addr=0x1000 high_pc/data4=1"), true},
		{"an inlined function without code", unit + inlined("low_pc/addr=0x1000 high_pc/data4=0"), false},
		{"of its shape", unit + "\t\t\tsubprogram linkage_name/string=\"" + costlyName[:len("_Z1f")+30*len("A5_")] + "i\" low_pc/addr=0x1000 high_pc/data4=1\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, run := range []coreRun{{jobs: 1}, {jobs: 2}, {jobs: 1, late: true}} {
				got := coreOf(t, c.in).text(t, Options{Demangle: true}, run)
				const message = "they stay mangled (lost: names in source form)"
				if n := strings.Count(got, message); n != oneIf(c.want) {
					t.Errorf("%+v: %d messages, want %d: %.300s", run, n, oneIf(c.want), got)
				}
				if strings.Contains(got, costly[:100]) != c.want {
					t.Errorf("%+v: the mangled name is written: %v, want %v: %.300s", run, !c.want, c.want, got)
				}
			}
		})
	}
}
