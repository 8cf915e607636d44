package demangle

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Unresolved names as clang and GCC mangle unresolvedSource. Names whose types depend on
// which of the two it was stay as they are.
func TestUnresolvedNames(t *testing.T) {
	for raw, want := range map[string]string{
		"_Z2f1I1SEN1EIXsr1GIT_EE1vEE4typeES2_PS2_P1GIS2_E":                                                      "E<G<S>::v>::type f1<S>(S, S*, G<S>*)",
		"_Z2f2I1SEN1EIXsr2ns1HIT_EE1vEE4typeES2_PS2_PN2ns1HIS2_EE":                                              "E<ns::H<S>::v>::type f2<S>(S, S*, ns::H<S>*)",
		"_Z2f3I1SEN1EIXsrNT_1KIS2_EE1nEE4typeES2_PS2_PS5_":                                                      "",
		"_Z2f4I1SEN1EIXsrNT_1KIS2_E1LIS2_EE1nEE4typeES2_PS2_PS5_":                                               "",
		"_Z2f5I1SEDTclsrNT_1KIS1_EE1gIS1_EcvS1__EEES1_PS1_PS3_":                                                 "",
		"_Z2f6I1SiEN1EIXsr2ns1PI1GIT_EN2ns1HIT0_EEEE1vEE4typeEPS3_PS7_PSB_PSC_":                                 "E<ns::P<G<S>, ns::H<int> >::v>::type f6<S, int>(S*, int*, S**, int**)",
		"_Z2f7I1SEN1EIXsr2ns1HIT_E1KIS2_EE1mEE4typeES2_PS2_PN2ns1HIS2_EE":                                       "E<ns::H<S>::K<S>::m>::type f7<S>(S, S*, ns::H<S>*)",
		"_Z2f9I1SEN1EIXgssr2ns1HIT_EE1vEE4typeES2_PS2_PN2ns1HIS2_EE":                                            "E<::ns::H<S>::v>::type f9<S>(S, S*, ns::H<S>*)",
		"_Z2faI1SEN1EIXaaaasr1GIT_EE1vsr1GIPS2_EE1vsr2ns1HIS3_EE1vEE4typeES2_S3_P1GIS2_EPS6_IS3_EPN2ns1HIS3_EE": "E<(G<S>::v&&G<S*>::v)&&ns::H<S*>::v>::type fa<S>(S, S*, G<S>*, G<S*>*, ns::H<S*>*)",
		"_Z2f1I1SEN1EIXsr1GIT_E1vEE4typeES3_PS3_PS4_":                                                           "E<G<S>::v>::type f1<S>(S, S*, G<S>*)",
		"_Z2f2I1SEN1EIXsrN2ns1HIT_EE1vEE4typeES4_PS4_PS5_":                                                      "E<ns::H<S>::v>::type f2<S>(S, S*, ns::H<S>*)",
		"_Z2f3I1SEN1EIXsrNT_1KIS2_EE1nEE4typeES2_PS2_PS7_":                                                      "E<S::K<S>::n>::type f3<S>(S, S*, S**)",
		"_Z2f4I1SEN1EIXsrNT_1KIS2_E1LIS2_EE1nEE4typeES2_PS2_PS9_":                                               "E<S::K<S>::L<S>::n>::type f4<S>(S, S*, S**)",
		"_Z2f5I1SEDTclsrNT_1KIS1_EE1gIS1_EcvS1__EEES1_PS1_PS5_":                                                 "decltype (S::K<S>::g<S>((S)())) f5<S>(S, S*, S**)",
		"_Z2f6I1SiEN1EIXsrN2ns1PI1GIT_ENS2_1HIT0_EEEE1vEE4typeEPS5_PS8_PSD_PSE_":                                "E<ns::P<G<S>, ns::H<int> >::v>::type f6<S, int>(S*, int*, S**, int**)",
		"_Z2f7I1SEN1EIXsrN2ns1HIT_E1KIS4_EE1mEE4typeES4_PS4_PS5_":                                               "E<ns::H<S>::K<S>::m>::type f7<S>(S, S*, ns::H<S>*)",
		"_Z2f9I1SEN1EIXsrN2ns1HIT_EE1vEE4typeES4_PS4_PS5_":                                                      "E<ns::H<S>::v>::type f9<S>(S, S*, ns::H<S>*)",
		"_Z2faI1SEN1EIXaaaasr1GIT_E1vsrS2_IPS3_E1vsrN2ns1HIS5_EE1vEE4typeES3_S5_PS4_PS6_PS9_":                   "E<(G<S>::v&&G<S*>::v)&&ns::H<S*>::v>::type fa<S>(S, S*, G<S>*, G<S*>*, ns::H<S*>*)",
		// sr within identifiers, behind literals, lambdas and discriminators
		"_Z8sr1AsrN1v": "sr1AsrN1()",
		"_Z5sr1ABI1SEN1EIXsr1GIT_EE1vEE4typeES2_":         "E<G<S>::v>::type sr1AB<S>(S)",
		"_Z2f1I1SLi10EEN1EIXsr1GIT_EE1vEE4typeES2_":       "E<G<S>::v>::type f1<S, 10>(S)",
		"_Z2f1I1SL5color5EEN1EIXsr1GIT_EE1vEE4typeES3_":   "E<G<S>::v>::type f1<S, (color)5>(S)",
		"_Z2f1IZ4mainEUlvE1_EN1EIXsr1GIT_EE1vEE4typeES2_": "E<G<main::{lambda()#3}>::v>::type f1<main::{lambda()#3}>(main::{lambda()#3})",
		"_Z2f1IZ4mainE1s_0EN1EIXsr1GIT_EE1vEE4typeES2_":   "E<G<main::s>::v>::type f1<main::s>(main::s)",
	} {
		if want == "" {
			want = raw
		}
		if got := source(raw); got != want {
			t.Errorf("%s\n  got  %s\n  want %s", raw, got, want)
		}
	}
}

// Where c++filt and llvm-cxxfilt agree about a name of either compiler, they are right.
func TestOracleUnresolvedNames(t *testing.T) {
	testenv.Oracle(t)
	for _, compiler := range []string{"g++", "clang++-22"} {
		t.Run(compiler, func(t *testing.T) {
			compareBoth(t, symbolNames(t, testenv.Compile(t, compiler, unresolvedSource, ".cc", "-O0")))
		})
	}
}

// All names of large libraries, demangled by c++filt and by llvm-cxxfilt. The two print
// nested templates and more in their own ways; what both print is right.
func TestOracleBothDemanglers(t *testing.T) {
	testenv.Oracle(t)
	var files []string
	for _, pattern := range []string{
		"/usr/lib/llvm-*/lib/libclang-cpp.so*", "/usr/lib/x86_64-linux-gnu/libclang-cpp.so*", "/usr/lib/x86_64-linux-gnu/libLLVM*.so*",
		"/usr/lib/llvm-*/lib/liblldb.so*", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/usr/lib/x86_64-linux-gnu/libboost_*.so.*",
	} {
		found, _ := filepath.Glob(pattern)
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Skip("no large library is here")
	}
	var names []string
	for _, path := range files {
		names = append(names, symbolNames(t, path)...)
	}
	compareBoth(t, names)
}

// compareBoth compares names with what both demanglers print.
func compareBoth(t *testing.T, names []string) {
	t.Helper()
	gnu, llvm := filtered(t, names, "c++filt"), filtered(t, names, "llvm-cxxfilt-22")
	both, bad := 0, 0
	for i, raw := range names {
		want := closedUp(gnu[i])
		if want != closedUp(llvm[i]) || want == raw {
			continue
		}
		both++
		if got := closedUp(source(raw)); got != want {
			if bad++; bad < 20 {
				t.Errorf("%s\n  got  %s\n  want %s", raw, got, want)
			}
		}
	}
	t.Logf("%d names, of %d both agree, %d differ", len(names), both, bad)
	if both == 0 {
		t.Error("no name of which both demanglers agree")
	}
}

// closedUp removes the blanks between angle brackets, which are a matter of style.
func closedUp(name string) string {
	for strings.Contains(name, "> >") {
		name = strings.ReplaceAll(name, "> >", ">>")
	}
	return name
}

const unresolvedSource = `
namespace ns {
template <class T> struct H { static const bool v = true; template <class U> struct K { static const int n = 1; template <class V> static int g(V); static const int m = 2; }; };
template <class T, class U> struct P { static const int v = 1; };
}
template <class T> struct G { static const bool v = true; };
template <int> struct E { using type = int; };
struct S { template <class U> struct K { static const int n = 1; template <class V> static int g(V) { return 1; } template <class V> struct L { static const int n = 1; }; }; };
template <class T> typename E<G<T>::v>::type f1(T, T *, G<T> *) { return 1; }
template <class T> typename E<ns::H<T>::v>::type f2(T, T *, ns::H<T> *) { return 1; }
template <class T> typename E<(T::template K<T>::n)>::type f3(T, T *, T **) { return 1; }
template <class T> typename E<(T::template K<T>::template L<T>::n)>::type f4(T, T *, T **) { return 1; }
template <class T> decltype(T::template K<T>::template g<T>(T())) f5(T, T *, T **) { return 1; }
template <class T, class U> typename E<ns::P<G<T>, ns::H<U>>::v>::type f6(T *, U *, T **, U **) { return 1; }
template <class T> typename E<(ns::H<T>::template K<T>::m)>::type f7(T, T *, ns::H<T> *) { return 1; }
template <class T> typename E<sizeof(typename T::template K<T>)>::type f8(T, T *, T **) { return 1; }
template <class T> typename E<(::ns::H<T>::v)>::type f9(T, T *, ns::H<T> *) { return 1; }
template <class T> typename E<(G<T>::v && G<T *>::v && ns::H<T *>::v)>::type fa(T, T *, G<T> *, G<T *> *, ns::H<T *> *) { return 1; }
int main() {
  S s, *p = &s, **q = &p;
  return f1(s, p, (G<S> *)0) + f2(s, p, (ns::H<S> *)0) + f3(s, p, q) + f4(s, p, q) + f5(s, p, q) + f6(p, (int *)0, q, (int **)0) + f7(s, p, (ns::H<S> *)0) + f8(s, p, q) + f9(s, p, (ns::H<S> *)0) + fa(s, p, (G<S> *)0, (G<S *> *)0, (ns::H<S *> *)0);
}`
