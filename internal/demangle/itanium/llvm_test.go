package itanium

import (
	"bytes"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Names are printed as llvm-cxxfilt prints them.
func TestAppendLLVM(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"_Z1fI1AIS0_IS0_IiEEEEvv", "void f<A<A<A<int>>>>()"},
		{"_ZltIcEbT_S0_", "bool operator<<char>(char, char)"},
		{"_Z1fIiJEEvv", "void f<int>()"},
		{"_Z1fIiTpTnmJEEvv", "void f<int>()"},
		{"_Z1fi.cold.1", "f(int) (.cold.1)"},
		{"_ZNSsC1EPKc", "std::basic_string<char, std::char_traits<char>, std::allocator<char>>::basic_string(char const*)"},
		{"_ZNSs6appendERKSs", "std::string::append(std::string const&)"},
		{"_ZNSoD0Ev", "std::basic_ostream<char, std::char_traits<char>>::~basic_ostream()"},
		{"_ZNSolsEi", "std::ostream::operator<<(int)"},
		{"_ZNSscvSt17basic_string_viewIcSt11char_traitsIcEEEv", "std::string::operator std::basic_string_view<char, std::char_traits<char>>()"},
		{"_Z1fDn", "f(std::nullptr_t)"},
		{"_ZZZ4mainENKUlvE_clEvENKUliE0_clEi", "main::'lambda'()::operator()() const::'lambda0'(int)::operator()(int) const"},
		{"_ZZ1fIiEiT_ENKUliE1_clEi", "int f<int>(int)::'lambda1'(int)::operator()(int) const"},
		{"_ZZ1fvENKUlT_E_clIiEEDaS_", "auto f()::'lambda'(auto)::operator()<int>(int) const"},
		{"_ZN1AUt1_E", "A::'unnamed1'"},
		{"_ZTW1x", "thread-local wrapper routine for x"},
		{"_ZTHN2ns1yE", "thread-local initialization routine for ns::y"},
		{"_ZTC3Foo0_3Bar", "construction vtable for Bar-in-Foo"},
		{"_ZGVZ1fvE1x", "guard variable for f()::x"},
		{"_ZTcv0_n24_v0_n32_N3Foo3barEv", "covariant return thunk to Foo::bar()"},
		{"_Z1fDv4_f", "f(float vector[4])"},
		{"_Z1fIiEDTcl1gfp_EET_", "decltype(g(fp)) f<int>(int)"},
		{"_Z1fIiiEDTcl1gfp_fp0_fpTEET_T0_", "decltype(g(fp, fp0, this)) f<int, int>(int, int)"},
	} {
		out, err := AppendLLVM(nil, c.name)
		if err != nil || string(out) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.name, out, err, c.want)
		}
	}
	for _, name := range []string{"_ZGTtNKSt9exception4whatEv", "_ZGA1fv", "_ZTF1x", "_ZTJ1x"} {
		if out, err := AppendLLVM(nil, name); err == nil {
			t.Errorf("%s, a name that LLVM does not know: %s", name, out)
		}
	}
}

// All names of the C++ library equal llvm-cxxfilt's, and all but 1 in 100 and 2 of each other library: in the rest, LLVM gives
// names of template arguments to others, or writes expressions in its own way.
func TestOracleLLVMNames(t *testing.T) {
	testenv.Oracle(t)
	patterns := []string{"/usr/lib/x86_64-linux-gnu/libstdc++.so.6"}
	if testenv.OracleFull() {
		patterns = libraries[:4]
	}
	for _, pattern := range patterns {
		found, _ := filepath.Glob(pattern)
		for _, path := range found {
			names := map[string]bool{}
			addNames(names, path)
			allowed := len(names)/100 + 2
			if pattern == patterns[0] && len(patterns) == 1 || strings.Contains(path, "libstdc++") {
				allowed = 0
			}
			compareWithLLVM(t, path, slices.Sorted(maps.Keys(names)), allowed)
		}
	}
}

// compareWithLLVM compares names with llvm-cxxfilt's.
func compareWithLLVM(t *testing.T, path string, names []string, allowed int) {
	cmd := exec.Command(testenv.Tool(t, "llvm-cxxfilt-22"))
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	want := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err != nil || len(want) != len(names) {
		t.Fatalf("%s: %d names of %d: %v", path, len(want), len(names), err)
	}
	differ := 0
	for i, raw := range names {
		got, err := AppendLLVM(nil, raw)
		if err != nil {
			got = []byte(raw)
		}
		if !bytes.Equal(got, want[i]) {
			if differ++; differ <= 3 {
				t.Logf("%s: %s, want %s", raw, got, want[i])
			}
		}
	}
	t.Logf("%s: %d names, %d differ", path, len(names), differ)
	if len(names) == 0 || differ > allowed {
		t.Errorf("%s: %d of %d names differ, want at most %d", path, differ, len(names), allowed)
	}
}
