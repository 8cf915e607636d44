package filter

import "testing"

func TestGlobs(t *testing.T) {
	for _, c := range []struct {
		glob, file string
		want       bool
	}{
		{"a.sym", "a.sym", true},
		{"a.sym", "x/a.sym", true},
		{"a.sym", "xa.sym", false},
		{"a.sym", "a.symx", false},
		{"a.sym", "axsym", false},
		{"*.sym", "x/a.sym", true},
		{"x/*.sym", "x/y/a.sym", false},
		{"x/**/*.sym", "x/y/z/a.sym", true},
		{"x/**/*.sym", "x/a.sym", true},
		{"x/**", "x/y/z/a.sym", true},
		{"x/**", "y/a.sym", false},
		{"lib?.sym", "liba.sym", true},
		{"lib?.sym", "lib/.sym", false},
		{"x/a.sym", `C:\x\a.sym`, true},
		{`x\a.sym`, "x/a.sym", true},
		{"/x/a.sym", "/x/a.sym", true},
		{"[a].sym", "[a].sym", true},
		{"[a].sym", "a.sym", false},
		{"a+(b).sym", "a+(b).sym", true},
		{"*", "any\nthing", true},
		{"./x/*.sym", "x/a.sym", true},
		{"./x/*.sym", "./x/a.sym", true},
		{"././a.sym", "a.sym", true},
		{"x/", "x/y/a.sym", true},
		{"x/", "y/x/a.sym", true},
		{"x/", "x.sym", false},
	} {
		s := Suppression{glob: globRegexp(c.glob)}
		if got := s.matchesFile(c.file); got != c.want {
			t.Errorf("%q of %q: %v", c.glob, c.file, got)
		}
	}
}
