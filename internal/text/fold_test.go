package text

import "testing"

func TestFold(t *testing.T) {
	for _, c := range []struct {
		name      string
		arguments bool
		want      string
	}{
		{"main", true, "main"},
		{"std::map<std::string, std::vector<int> >::operator[](A<int> const&)", true, "std::map<...>::operator[](A<...> const&)"},
		{"std::map<std::string, std::vector<int> >::operator[](A<int> const&)", false, "std::map<...>::operator[]"},
		{"A::operator<<(B<int>)", true, "A::operator<<(B<...>)"},
		{"bool operator< <int>(A<int>)", true, "bool operator< <...>(A<...>)"},
		{"A::operator()(int) const", false, "A::operator() const"},
		{"(anonymous namespace)::f<3>(int)", false, "(anonymous namespace)::f<...>"},
		{"<alloc::vec::Vec<T> as Drop>::drop", true, "<alloc::vec::Vec<T> as Drop>::drop"},
		{"f<a", true, "f<...>"},
		{"main.Map[...].Get", true, "main.Map[...].Get"},
	} {
		if got := Fold(c.name, "<...>", c.arguments); got != c.want {
			t.Errorf("%q, arguments %v: got %q, want %q", c.name, c.arguments, got, c.want)
		}
	}
}
