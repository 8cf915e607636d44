package symdiff

import "testing"

func TestBaseName(t *testing.T) {
	for _, c := range [][2]string{
		{"main", "main"},
		{"f(int)", "f"},
		{"f(int, void (*)(char)) const", "f"},
		{"ns::f<int (*)(int)>(a (&) [3]) const &&", "ns::f<int (*)(int)>"},
		{"f(int) [clone .cold]", "f"},
		{"f.isra.0", "f"},
		{"f.part.3.cold", "f"},
		{"text/template.(*Template).Execute", "text/template.(*Template).Execute"},
		{"(anonymous namespace)::f", "(anonymous namespace)::f"},
		{"(anonymous namespace)::f()", "(anonymous namespace)::f"},
		{"operator()", "operator"},
		{"a::operator()(int)", "a::operator()"},
		{"()", "()"},
		{"f(", "f("},
		{"f)", "f)"},
		{"", ""},
	} {
		if got := string(baseName([]byte(c[0]))); got != c[1] {
			t.Errorf("%q: %q, want %q", c[0], got, c[1])
		}
	}
}
