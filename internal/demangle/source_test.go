package demangle

import (
	"strings"
	"testing"
)

// sourceName returns a name as a symbol file has it.
func sourceName(raw string, full bool) string {
	name, _ := AppendSource(nil, raw, full)
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
	if got, costly := AppendSource([]byte("x\n"), "_Z3a\nbv", true); string(got) != "x\na?b()" || costly {
		t.Errorf("behind other bytes: %q", got)
	}
}

func FuzzAppendSource(f *testing.F) {
	for _, raw := range []string{"f<int, , >", "_Z3a\nbv", "a\u2028\xffb", "operator<<, int>"} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		name, costly := AppendSource(nil, raw, true)
		if _, err := Append(nil, raw); costly != (err == ErrCostly) {
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
