package dwarf2sym

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// badReferences are ways in which a reference, written ATTR, is damaged. self is the DIE that contains it, good is the
// one that it should lead to, and other is in another unit.
var badReferences = []struct{ name, ref string }{
	{"out of the section", "ATTR/ref_addr=0xffffff"},
	{"out of the unit", "ATTR/ref4=0xfffff0"},
	{"to a header", "ATTR/ref_addr=3"},
	{"to the middle of a DIE, which ends siblings", "ATTR/ref4=0x14"},
	{"to the middle of a DIE, which is no abbreviation", "ATTR/ref4=0x11"},
	{"to the middle of a DIE, which is an abbreviation", "ATTR/ref4=0x15"},
	{middleOfKind, "ATTR/ref4=0x15"},
	{"to a DIE of another kind", "ATTR/ref4=&unit"},
	{"to no type unit", "ATTR/ref_sig8=0x1234"},
}

// middleOfKind is damage that only the position of the target reveals.
const middleOfKind = "to the middle of a DIE, which is an abbreviation of the right kind"

// References may lead back to themselves.
func TestReferencesInACircle(t *testing.T) {
	const circle = ": references in a circle, or more than 16 of them (lost: "
	const variable = "subprogram name/string=\"f\" low_pc/addr=0x1000 high_pc/data4=4 frame_base/block1=<9c>\n\t\t\t\t"
	for _, c := range []struct {
		name, dies string
		want       []string // the problems
	}{
		{"a specification to itself", "a: subprogram low_pc/addr=0x1000 high_pc/data4=4 specification/ref4=&a",
			[]string{"0x10" + circle + "what refers to the DIE at 0x10)", "0x10" + circle + "name of the function at 0x10)"}},
		{"an origin to itself, with a name", "a: subprogram name/string=\"f\" low_pc/addr=0x1000 high_pc/data4=4 abstract_origin/ref4=&a",
			[]string{"0x10" + circle + "what refers to the DIE at 0x10)", "0x10" + circle + "name of the function at 0x10)"}},
		{"two functions", "a: subprogram low_pc/addr=0x1000 high_pc/data4=4 specification/ref4=&b\n\t\t\tb: subprogram specification/ref4=&a",
			[]string{"0x10" + circle + "name of the function at 0x10)", "0x21" + circle + "what refers to the DIE at 0x21)"}},
		{"a variable", variable + "a: variable abstract_origin/ref4=&a location/block1=<91 6c>",
			[]string{"0x21" + circle + "what refers to the DIE at 0x21)"}},
		{"a call", variable + "call_site call_return_pc/addr=0x1002 call_origin/ref4=&a\n\t\t\t\t\tcall_site_parameter location/block1=<55> call_value/block1=<31>\n" +
			"\t\t\ta: subprogram specification/ref4=&a", []string{"0x35" + circle + "what refers to the DIE at 0x35)"}},
		{"a type", "t: typedef name/string=\"t\" type/ref4=&t\n\t\t\t" + variable + "variable name/string=\"v\" type/ref4=&t location/block1=<91 6c>",
			[]string{"0x10: a type that is defined as itself (lost: what refers to the DIE at 0x10)"}},
		{"a pointer, as Go has it", "t: pointer_type name/string=\"t\" type/ref4=&t\n\t\t\t" + variable + "variable name/string=\"v\" type/ref4=&t location/block1=<91 6c>", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := coreOf(t, "\t.debug_info\n\tunit 5\n\t\tcompile_unit language/data1=4 name/string=\"u\"\n\t\t\t"+c.dies+"\n")
			got := in.text(t, Options{Vars: VarOptions{Params: true, Locals: true, FullTypes: true}}, coreRun{jobs: 1})
			var problems []string
			for line := range strings.Lines(got) {
				if text, ok := strings.CutPrefix(line, "! test: .debug_info+"); ok {
					problems = append(problems, strings.TrimSpace(text))
				}
			}
			if !slices.Equal(problems, c.want) || !strings.Contains(got, "FUNC 1000 4 0 ") {
				t.Errorf("got:\n%s\nwant %q", got, c.want)
			}
		})
	}
}

// For every attribute that refers to a DIE, and for every kind of damage, the loss is reported with its place, and the
// function around it is kept.
func TestBadReferences(t *testing.T) {
	for _, c := range []struct {
		attr string
		vars bool
		dies string
	}{
		{"specification", false, "self: subprogram low_pc/addr=0x1100 high_pc/data4=4 REF"},
		{"abstract_origin", false, "self: subprogram low_pc/addr=0x1100 high_pc/data4=4 REF"},
		{"type", true, "p: pointer_type byte_size/data1=8 REF\n\t\t\t" + variable("type/ref4=&p")},
		{"type", true, variable("REF")},
		{"containing_type", true, "p: ptr_to_member_type type/ref4=&good REF\n\t\t\t" + variable("type/ref4=&p")},
		{"specification", true, "p: structure_type byte_size/data1=8 REF\n\t\t\t" + variable("type/ref4=&p")},
		{"abstract_origin", true, variable("REF")},
		{"call_origin", true, "subprogram name/string=\"h\" low_pc/addr=0x1100 high_pc/data4=16 frame_base/block1=<9c>\n" +
			"\t\t\t\tcall_site call_return_pc/addr=0x1104 REF\n\t\t\t\t\tcall_site_parameter location/block1=<55> call_value/block1=<31>"},
	} {
		for _, bad := range badReferences {
			t.Run(c.attr+" "+bad.name, func(t *testing.T) {
				ref, code := strings.ReplaceAll(bad.ref, "ATTR", c.attr), "2" // base_type
				if c.vars != (bad.name == middleOfKind) {
					code = "3" // subprogram
				}
				in := coreOf(t, strings.ReplaceAll(`
					.debug_info
					unit 5
						unit: compile_unit language/data1=4 name/string="u"
							good: base_type name/string="int" byte_size/data1=CODE encoding/data1=5
							subprogram name/string="f" low_pc/addr=0x1000 high_pc/data4=16
							`+strings.NewReplacer("REF", ref, "\n", "\n\t\t\t\t").Replace(c.dies)+"\n", "CODE", code))
				got := in.text(t, Options{Vars: VarOptions{Params: c.vars, Locals: c.vars, FullTypes: c.vars}}, coreRun{jobs: 1})
				t.Log(got)
				if !strings.Contains(got, "FUNC 1000 10 0 f\n") {
					t.Error("the other function is lost")
				}
				if !strings.Contains(got, "! test: .debug_info+0x") {
					t.Error("nothing is said")
				}
			})
		}
	}
}

// Names that are found at once, as they are in .debug_str, are not taken from the middle of a DIE, 3 at 0x15 followed
// by the offset of f's name, in any unit of the scan. If a type is passed over, its contents are read before anything
// is reported.
func TestNamesFromTheMiddle(t *testing.T) {
	for _, lang := range []string{"4", "12"} { // C++; C, where types are passed over
		in := coreOf(t, `
			.debug_info
			unit 5
				compile_unit language/data1=`+lang+` name/string="u"
					base_type name/string="int" byte_size/data1=3 encoding/data4=0
					subprogram name/strp="f" low_pc/addr=0x1000 high_pc/data4=16
					subprogram low_pc/addr=0x1100 high_pc/data4=16 abstract_origin/ref4=0x15
						inlined_subroutine low_pc/addr=0x1104 high_pc/data4=4 abstract_origin/ref4=0x15 call_file/data1=1 call_line/data1=1
						inlined_subroutine low_pc/addr=0x1108 high_pc/data4=4 abstract_origin/ref4=&m call_file/data1=1 call_line/data1=1
					structure_type name/strp="s" sibling/ref4=&next
						m: subprogram name/strp="m"
					next: base_type name/string="long" byte_size/data1=8 encoding/data4=0
`)
		got := in.text(t, Options{}, coreRun{jobs: 1})
		for _, want := range []string{
			"FUNC 1100 10 0 <name omitted>\n", "INLINE_ORIGIN 0 <name omitted>\n", "m\n",
			"+0x2b: reference to 0x15, where no DIE of a function can be read (lost: name of the function at 0x2b)\n",
			"+0x3c: reference to 0x15, where no DIE of a function can be read (lost: name of the function at 0x3c)\n",
		} {
			if !strings.Contains(got, want) {
				t.Errorf("language %s: no %q in:\n%s", lang, want, got)
			}
		}
		if strings.Count(got, " f\n") != 1 || strings.Count(got, "lost:") != 2 {
			t.Errorf("language %s: got:\n%s", lang, got)
		}
	}
}

// variable returns a function with a variable.
func variable(attr string) string {
	return "subprogram name/string=\"h\" low_pc/addr=0x1100 high_pc/data4=16 frame_base/block1=<9c>\n" +
		"\t\t\t\tvariable name/string=\"v\" location/block1=<91 6c> " + attr
}

// Type units of a .dwo file refer to each other although each is in its own section.
func TestTypesOfTypeUnits(t *testing.T) {
	r := readVars(t, filepath.Join(testenv.Input(t), "split-types-gcc4.elf"), Options{})
	if len(r.Problems) > 0 {
		t.Error(r.Problems)
	}
}
