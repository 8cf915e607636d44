package symbolizer

import "testing"

// TestDemangleSuffix checks that names are demangled as by llvm-symbolizer 22, together with what compilers add to
// them. Older names of Rust contain dots themselves.
func TestDemangleSuffix(t *testing.T) {
	s := &Symbolizer{}
	for name, want := range map[string]string{
		"_ZN1a1fEv.cold":     "a::f() (.cold)",
		"_ZN1a1fEv.llvm.123": "a::f() (.llvm.123)",
		"_ZN4core3ptr25drop_in_place$LT$a..b$GT$17hba7bba49e5551062E.llvm.95": "core::ptr::drop_in_place$LT$a..b$GT$::hba7bba49e5551062 (.llvm.95)",
		"_ZN1.llvm.5": "_ZN1.llvm.5",
		"main":        "main",
	} {
		if got := s.demangle(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
