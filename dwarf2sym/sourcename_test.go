package dwarf2sym

import (
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle"
)

// sourceName returns a name as a symbol file has it.
func sourceName(raw string, full bool) string {
	name, _ := appendSource(nil, raw, full)
	return string(name)
}

func TestAppendSource(t *testing.T) {
	for raw, want := range map[string]string{
		"": "", "_": "_", "main": "main", "_Z3foov": "foo()", "._Z3foov": ".foo()", "_RNvC6_123foo3bar": "123foo::bar", "_Z3fooi junk": "_Z3fooi junk",
		// names with empty packs, as in GCC's DIEs
		"f<int, >": "f<int>", "two<, int>": "two<int>", "mid<int, , char>": "mid<int, char>", "all<, >": "all<>", "three<, , >": "three<>",
		"f<g<int, >, >": "f<g<int>>", "f<g<int, > >": "f<g<int> >", "f<int, , , x, >::g<, >": "f<int, x>::g<>",
		"f<',', '>'>": "f<',', '>'>", "f<(&operator<), int>": "f<(&operator<), int>", "f<&operator<, int>": "f<&operator<, int>",
		"f<&operator<<, int>": "f<&operator<<, int>", "operator,<int, >": "operator,<int>", "operator-><int>": "operator-><int>", "f(int, char)": "f(int, char)",
		// not lines of their own
		"a\nFUNC 0 1 0 b": "a?FUNC 0 1 0 b",
		"a\r\tb\x7f\x1b":  "a??b??",
		"a\u0085\u2028b":  "a??b",
		"名\xff":           "名\xff",
		"_Z3a\nbv":        "a?b()",
	} {
		if got := sourceName(raw, true); got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
		if again := sourceName(want, true); again != want {
			t.Errorf("%q: %q, and then %q", raw, want, again)
		}
		if !strings.ContainsAny(raw, "\n\r\t\x7f\x1b\u0085\u2028") && sourceName(raw, false) != raw {
			t.Errorf("%q changes without full", raw)
		}
	}
	if got := sourceName("_Z3a\nbv", false); got != "_Z3a?bv" {
		t.Errorf("without full: %q", got)
	}
	if got, costly := appendSource([]byte("x\n"), "_Z3a\nbv", true); string(got) != "x\na?b()" || costly {
		t.Errorf("behind other bytes: %q", got)
	}
}

// costlyName stands for so many types within each other that it is not demangled.
var costlyName = "_Z1f" + strings.Repeat("A5_", 3000) + "i"

// TestCostlyNamesAreReported: what stays mangled is reported once, also where it is
// only the beginning of other names.
func TestCostlyNamesAreReported(t *testing.T) {
	const unit = "\t.debug_info\n\tunit 4\n\t\tcompile_unit language/data1=4\n"
	costly := costlyName
	for _, c := range []struct {
		name, in string
		want     bool
	}{
		{"a function", unit + "\t\t\tsubprogram linkage_name/string=\"" + costly + "\" low_pc/addr=0x1000 high_pc/data4=1\n", true},
		{"a function around others", unit + "\t\t\tsubprogram linkage_name/string=\"" + costly + "\"\n\t\t\t\tstructure_type name/string=\"s\"\n" +
			"\t\t\t\t\tsubprogram name/string=\"g\" low_pc/addr=0x1000 high_pc/data4=1\n", true},
		{"of its shape", unit + "\t\t\tsubprogram linkage_name/string=\"" + costlyName[:len("_Z1f")+30*len("A5_")] + "i\" low_pc/addr=0x1000 high_pc/data4=1\n", false},
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

func FuzzAppendSource(f *testing.F) {
	for _, raw := range []string{"f<int, , >", "_Z3a\nbv", "a\u2028\xffb", "operator<<, int>"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, costly := appendSource(nil, raw, true)
		if _, err := demangle.Append(nil, raw); costly != (err == demangle.ErrCostly) {
			t.Errorf("%q: costly is %v, in spite of %v", raw, costly, err)
		}
		if costly && string(name) != sourceName(raw, false) {
			t.Errorf("%q is costly, and becomes %q", raw, name)
		}
		if strings.ContainsAny(string(name), "\n\r\x00\x1b\u2028") {
			t.Errorf("control character in %q", name)
		}
		if raw != "" && len(name) == 0 && strings.Trim(raw, ", ") != "" {
			t.Errorf("%q has become empty", raw)
		}
		if plain := sourceName(raw, false); len(plain) > len(raw) {
			t.Errorf("%q grows to %q", raw, plain)
		}
	})
}
