package dwarf2sym

import (
	"fmt"
	"strings"
	"testing"
)

// pairUnit is a unit with a function at an address whose parameter is a structure with the given
// members, followed by base types that nothing uses. In each such unit, the structure has the same
// name, size and place in the source.
func pairUnit(label string, addr int, members []string, unused int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\tunit 4\n\t\tcompile_unit language/data1=0x0c\n")
	fmt.Fprintf(&b, "\t\t\t%si: base_type name/string=\"int\" byte_size/data1=4 encoding/data1=5\n", label)
	fmt.Fprintf(&b, "\t\t\t%ss: structure_type name/string=\"pair\" byte_size/data1=8 decl_file/data1=1 decl_line/data1=7\n", label)
	for i, name := range members {
		fmt.Fprintf(&b, "\t\t\t\tmember name/string=%q type/ref_addr=&%si data_member_location/data1=%d\n", name, label, 4*i)
	}
	fmt.Fprintf(&b, "\t\t\tsubprogram name/string=\"f%s\" low_pc/addr=%d high_pc/data1=0x10\n", label, addr)
	fmt.Fprintf(&b, "\t\t\t\tformal_parameter name/string=\"p%s\" type/ref_addr=&%ss location/exprloc=<91 00>\n", label, label)
	for i := range unused {
		fmt.Fprintf(&b, "\t\t\tbase_type name/string=\"unused%d\" byte_size/data1=4 encoding/data1=5\n", i)
	}
	return b.String()
}

// If two units declare structures alike but with different members, the members of the first unit are
// used, in whatever order the units are read: a worker that reads units one by one begins with the
// largest, and several workers read them at the same time.
func TestVarsAreThoseOfTheFirstUnit(t *testing.T) {
	var in strings.Builder
	in.WriteString("\t.debug_info\n")
	const units = 6
	for i := range units {
		members := []string{"first", "second"}
		if i > 0 {
			members = []string{"second", fmt.Sprint("member", i)}
		}
		in.WriteString(pairUnit(string(rune('a'+i)), 0x1000+0x10*i, members, 10*i))
	}
	c := coreOf(t, in.String())
	o := Options{Vars: VarOptions{Params: true, Locals: true, FullTypes: true}}
	want := c.text(t, o, coreRun{jobs: 1})
	for _, run := range append(coreRuns, coreRun{jobs: 1, batch: 1}, coreRun{jobs: 2, batch: 1}, coreRun{jobs: 4, batch: 1}) {
		if got := c.text(t, o, run); got != want {
			t.Errorf("%+v:\n%s\nwant:\n%s", run, got, want)
		}
	}
	if strings.Count(want, "pair") != 1 || !strings.Contains(want, "first") || strings.Contains(want, "member") {
		t.Errorf("types are not those of the first unit:\n%s", want)
	}
}
