package srcmap

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Any rule and path give an error, or a name according to the rule.
func FuzzMap(f *testing.F) {
	for _, rule := range []string{"rust", `^/a/(?P<x>.*)$=hg:{x}:{rev}`, `(a)?(.*)={1}{2}`, `.={{{0}}}`, `(=`, `a={`, `a=}`, `((a{50}){50})=x`, `^/a/b|^c=x`, `(?i)^/A=x`, `(?m)^/a=x`, "^\ufffd=x"} {
		f.Add(rule, "/a/../a//b.c", "0123456789abcdef")
		f.Add(rule, `C:\a\.\aaaa`, "")
	}
	f.Fuzz(func(t *testing.T, rule, path, md5 string) {
		if strings.Contains(rule, "igest") || strings.Contains(rule, "DIGEST") {
			t.Skip() // reads files
		}
		r, err := ParseRule(rule, map[string]string{"rev": "abc"})
		if err != nil {
			return
		}
		m := &Mapping{Rules: []Rule{r}}
		got := m.Map([]Prefix{{"/b", "/c"}}, path, md5)
		clean := cleanPath(ReplacePrefix([]Prefix{{"/b", "/c"}}, path))
		if again := cleanPath(clean); again != clean {
			t.Errorf("%q: clean is %q, and then %q", path, clean, again)
		}
		if a, b := r.match(clean), r.expr.FindStringSubmatchIndex(clean); !slices.Equal(a, b) {
			t.Errorf("%q %q: %v behind the prefix %q, %v without", rule, path, a, r.prefix, b)
		}
		switch {
		case got.Name == "" && path != "" && got.Err == nil:
			t.Errorf("%q %q: no name", rule, path)
		case got.Err != nil && got.Name != ReplacePrefix([]Prefix{{"/b", "/c"}}, path):
			t.Errorf("%q %q: %q in spite of %v", rule, path, got.Name, got.Err)
		case got.Err == nil && len(path) <= maxPath && !r.expr.MatchString(clean) && got.Name != ReplacePrefix([]Prefix{{"/b", "/c"}}, path):
			t.Errorf("%q %q: %q without a match", rule, path, got.Name)
		}
		if got.Lost(); got != m.Map([]Prefix{{"/b", "/c"}}, path, md5) && len(path) <= maxPath {
			t.Errorf("%q: mapped twice", path)
		}
	})
}

// Any manifest gives an error with its line, or origins from its records.
func FuzzManifest(f *testing.F) {
	f.Add(manifestText("5", "1|a.h|/src/a.h", "5|k|/src|**/*.idl|x", "8|t|\"\"", "-1|"), "a.h")
	f.Add(manifestText("1", "2|a/../b.h|c", "7|p|q|d"), "x/b.idl")
	f.Add(manifestText("3", "6|k|b|*|"), "y")
	place := regexp.MustCompile(`^m:\d+: |^m: empty`)
	f.Fuzz(func(t *testing.T, text, path string) {
		m, err := ReadManifest(strings.NewReader(text), "m", "/obj")
		if err != nil {
			if !place.MatchString(err.Error()) {
				t.Errorf("no place: %v", err)
			}
			return
		}
		for name, from := range m.files {
			if got, ok := m.Origin("/obj/" + name); ok && got != from && cleanPath("/obj/"+name) == "/obj/"+name {
				t.Errorf("%q: %q, want %q", name, got, from)
			}
		}
		if from, ok := m.Origin("/obj/" + path); ok && !strings.Contains(text, "\n") {
			t.Errorf("%q from a manifest without records", from)
		}
	})
}
