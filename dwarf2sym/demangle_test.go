package dwarf2sym

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/internal/testenv"
)

func TestDemangleName(t *testing.T) {
	for raw, want := range map[string]string{
		"":     "",
		"main": "main",
		"_Z":   "_Z", "_R": "_R", "_": "_", "__": "__", "_ZN": "_ZN", ".": ".", "._": "._",
		// C++
		"_Z3foov":                    "foo()",
		"_ZNSs6appendEPKc":           "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
		"_Z3fooi.cold":               "foo(int) [clone .cold]",
		"_Z3fooi.isra.0.part.1":      "foo(int) [clone .isra.0] [clone .part.1]",
		"_Z3fooi.constprop.0.cold":   "foo(int) [clone .constprop.0] [clone .cold]",
		"_Z3fooi.llvm.123":           "foo(int) [clone .llvm.123]",
		"._Z3foov":                   ".foo()",
		"_GLOBAL__I_foo":             "global constructors keyed to foo",
		"_GLOBAL__D__Z3foov":         "global destructors keyed to foo()",
		"_GLOBAL__sub_I__Z3foov":     "_GLOBAL__sub_I__Z3foov",
		"_GLOBAL_OFFSET_TABLE_":      "_GLOBAL_OFFSET_TABLE_",
		"_GLOBAL__I__Zjunk":          "_GLOBAL__I__Zjunk",
		"_ZTV3foo":                   "vtable for foo",
		"_ZZ3foovENKUlvE_clEv":       "foo()::{lambda()#1}::operator()() const",
		"_Z3fooILi3EEvv":             "void foo<3>()",
		"_Z3fooi junk":               "_Z3fooi junk",
		"_Z3fooi@@V1":                "_Z3fooi@@V1",
		"_ZSt4endlIcSt11char_traits": "_ZSt4endlIcSt11char_traits",
		// Rust
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE":                                                     "core::fmt::Write::write_fmt",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.1234":                                           "core::fmt::Write::write_fmt",
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE": "<Test + 'static as foo::Bar<Test>>::bar",
		"_RNvC6_123foo3bar":                     "123foo::bar",
		"_RNvNtCs1234_7mycrate3foo3bar":         "mycrate::foo::bar",
		"_RNvNtCs1234_7mycrate3foo3bar.llvm.5":  "mycrate::foo::bar",
		"_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_": "mycrate::main::{closure#0}",
		"_RNvC6_123foo3ba":                      "_RNvC6_123foo3ba",
		// others
		"$s4main3fooyyF":           "$s4main3fooyyF",
		"_$s4main3fooyyF":          "_$s4main3fooyyF",
		"_D3foo3barFZv":            "_D3foo3barFZv",
		"camlStdlib__List__map_12": "camlStdlib__List__map_12",
		"main.(*T).Run-fm":         "main.(*T).Run-fm",
		"type:.eq.[2]string":       "type:.eq.[2]string",
		"__Z3foov":                 "__Z3foov",
		"___Z3foov_block_invoke":   "___Z3foov_block_invoke",
		"__alloc_token__Z3foov":    "__alloc_token__Z3foov",
		"foo.cold":                 "foo.cold",
		// not lines of their own
		"a\nFUNC 0 1 0 b": "a?FUNC 0 1 0 b",
		"a\r\tb\x7f\x1b":  "a??b??",
		"a\u0085\u2028b":  "a??b",
		"名\xff":           "名\xff",
		"_Z3a\nbv":        "a?b()",
	} {
		got := demangleName(raw, true)
		if got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
		if again := demangleName(got, true); again != got {
			t.Errorf("%q: demangled twice: %q, then %q", raw, got, again)
		}
		if raw != "" && !strings.ContainsAny(raw, "\n\r\t\x7f\x1b\u0085\u2028") && demangleName(raw, false) != raw {
			t.Errorf("%q changes without full", raw)
		}
	}
	if got := demangleName("_Z3a\nbv", false); got != "_Z3a?bv" {
		t.Errorf("without full: %q", got)
	}
}

// TestDemangleIsBounded: names that stand for huge ones, or nest deeply, or are
// long, neither hang nor grow.
func TestDemangleIsBounded(t *testing.T) {
	doubling := "_Z1fI1aE"
	for i := range 60 { // each type argument holds the one before twice
		doubling = strings.Replace(doubling, "1a", fmt.Sprintf("1aI%s%s E", "1b", "1c"), 0)
		_ = i
	}
	subst := "_Z1f1AIiiE" // S_ = A, S0_ = A<int, int>
	seq := "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for i := 0; i < 30; i++ {
		subst += "S_IS" + string(seq[i]) + "_S" + string(seq[i]) + "_E"
	}
	for name, raw := range map[string]string{
		"doubling":    subst,
		"pointers":    "_Z1f" + strings.Repeat("P", maxMangled-10) + "i",
		"nested":      "_Z1f" + strings.Repeat("1AI", maxMangled/4) + "i" + strings.Repeat("E", maxMangled/4),
		"functions":   "_Z1f" + strings.Repeat("PF", maxMangled/4) + "i" + strings.Repeat("vE", maxMangled/4),
		"expressions": "_Z1fIXsz" + strings.Repeat("ng", maxMangled/3) + "Li0EEEvv",
		"clones":      "_Z1fi" + strings.Repeat(".a", maxMangled/2-10),
		"rust refs":   "_RINvC1a1f" + strings.Repeat("R", maxMangled-100) + "uE",
		"rust tuples": "_RINvC1a1f" + strings.Repeat("TB_", maxMangled/3-10) + "E",
		"too long":    "_Z" + fmt.Sprint(maxMangled) + strings.Repeat("a", maxMangled) + "v",
		"closures":    "_R" + strings.Repeat("NC", maxMangled/3) + "C1a" + strings.Repeat("0", maxMangled/3),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			got := demangleName(raw, true)
			if len(got) > maxDemangled && got != raw {
				t.Errorf("%d bytes", len(got))
			}
			took := time.Since(start)
			t.Logf("%d bytes to %d in %v: %.60q", len(raw), len(got), took, got)
			if took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// symbolNames returns the names in both symbol tables of a file, sorted,
// without versions.
func symbolNames(t testing.TB, path string) []string {
	t.Helper()
	f, err := elfobj.Open(path, elfobj.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	for _, table := range []elfobj.SymTable{elfobj.SymTab, elfobj.DynSym} {
		if err := f.Symbols(table, func(s *elfobj.Symbol) {
			if name := string(stripVersion(s.Name)); name != "" && !strings.ContainsAny(name, " \n") {
				out = append(out, name)
			}
		}); err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// filtered runs names through a filter program, one a line.
func filtered(t *testing.T, names []string, tool string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, tool), args...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	var lines []string
	for sc := bufio.NewScanner(bytes.NewReader(out)); sc.Scan(); {
		lines = append(lines, sc.Text())
	}
	if len(lines) != len(names) {
		t.Fatalf("%s: %d lines for %d names", tool, len(lines), len(names))
	}
	return lines
}

// demangleRule explains a class of names that differ from an oracle's.
type demangleRule struct {
	why   string
	match func(raw, got, want string) bool
}

// compareDemangled compares each name with the oracle's and counts the
// differences by rule; one without a rule is an error.
func compareDemangled(t *testing.T, names, want []string, rules []demangleRule) {
	t.Helper()
	counts, mangled, bad := map[string]int{}, 0, 0
	for i, raw := range names {
		got := demangleName(raw, true)
		if want[i] != raw {
			mangled++
		}
		if got == want[i] {
			continue
		}
		why := ""
		for _, r := range rules {
			if r.match(raw, got, want[i]) {
				why = r.why
				break
			}
		}
		if why == "" {
			if bad++; bad < 20 {
				t.Errorf("%s\n  got  %s\n  want %s", raw, got, want[i])
			}
			continue
		}
		counts[why]++
	}
	t.Logf("%d names, %d mangled, %d differ without a rule", len(names), mangled, bad)
	for why, n := range counts {
		t.Logf("%6d %s", n, why)
	}
	if mangled == 0 {
		t.Error("no mangled name among them")
	}
}

func TestDemangleLikeCxxfilt(t *testing.T) {
	lib := testenv.File(t, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")
	names := symbolNames(t, lib)
	compareDemangled(t, names, filtered(t, names, "c++filt"), nil)
}

// TestDemangleTemplates uses names that are deeper than the library's.
func TestDemangleTemplates(t *testing.T) {
	names := symbolNames(t, compiled(t, "g++", templateSource, ".cc", "-O1", "-std=c++20"))
	compareDemangled(t, names, filtered(t, names, "c++filt"), nil)
}

const templateSource = `
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <ranges>
#include <string>
#include <tuple>
#include <variant>
#include <vector>
namespace {
template <class... T> struct pack {
  template <class F> auto each(F f) const -> decltype((f(T{}) + ...)) { return (f(T{}) + ...); }
};
template <auto N> struct constant { operator int() const { return N; } };
enum class colour { red, green };
}
template <class T> requires std::integral<T> __attribute__((noinline)) T twice(T t) { return 2 * t; }
struct S { virtual ~S(); virtual void f() &&; operator bool() const; int operator()(int, ...) const volatile; };
S::~S() {} void S::f() && {} S::operator bool() const { return true; }
int S::operator()(int a, ...) const volatile { return a; }
__attribute__((noinline)) int use(std::function<int(std::map<std::string, std::vector<std::unique_ptr<S>>> &)> f, int (*(*p)(int))[3], int S::*m, void (S::*g)() &&) {
  std::map<std::string, std::vector<std::unique_ptr<S>>> m2;
  return f(m2) + (p != nullptr) + (m != nullptr) + (g != nullptr);
}
int main(int c, char **v) {
  std::vector<std::tuple<int, std::string>> list{{c, v[0]}};
  auto r = list | std::views::filter([](auto &&t) { return std::get<0>(t) > 0; }) | std::views::transform([c](auto &t) { return std::get<0>(t) + c; });
  int sum = 0;
  std::ranges::for_each(r, [&](int i) { sum += i; });
  std::variant<int, double, std::string> any{v[0]};
  sum += std::visit([](auto const &x) { return int(sizeof x); }, any);
  sum += pack<int, long, char>{}.each([](auto a) { return a + constant<3>{} + constant<colour::green>{}; });
  return sum + twice(c) + use([](auto &m) { return int(m.size()); }, nullptr, nullptr, nullptr);
}`

// compiled builds a program and returns its path.
func compiled(t testing.TB, tool, source, ext string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	src, out := filepath.Join(dir, "prog"+ext), filepath.Join(dir, "prog")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	args := append(slices.Clone(flags), "-o", out, src)
	if msg, err := exec.Command(testenv.Tool(t, tool), args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", tool, args, err, msg)
	}
	return out
}

const rustSource = `
use std::collections::HashMap;
use std::fmt::Display;
struct Été<T>(T);
trait Show { fn show(&self) -> String; }
impl<T: Display + 'static> Show for Été<T> { #[inline(never)] fn show(&self) -> String { format!("{}", self.0) } }
impl<const N: usize> Show for [u8; N] { #[inline(never)] fn show(&self) -> String { format!("{}", N) } }
#[inline(never)] fn apply<F: for<'a> Fn(&'a str) -> Option<&'a str>>(f: F) -> usize { f("abc").map_or(0, |s| s.len()) }
mod inner { pub mod deep { #[inline(never)] pub fn generic<A, B: Default>(_: A) -> B { B::default() } } }
fn main() {
    let mut m: HashMap<String, Vec<Box<dyn Show + Send>>> = HashMap::new();
    m.entry("a".into()).or_default().push(Box::new(Été(3i32)));
    m.entry("b".into()).or_default().push(Box::new([1u8; 4]));
    let n: (u8, i64) = inner::deep::generic::<&'static str, (u8, i64)>("x");
    let g: extern "C" fn(i32) -> ! = { extern "C" fn never(_: i32) -> ! { panic!() } never };
    println!("{} {:?} {} {}", apply(|s| s.get(1..)), n, m["a"][0].show(), m["b"][0].show().len() + g as usize);
}`

// withoutHash removes the hash of c++filt's legacy names.
func withoutHash(s string) string {
	if i := strings.LastIndex(s, "::h"); i >= 0 && len(s)-i == 19 {
		return s[:i]
	}
	return s
}

func TestDemangleRustLegacy(t *testing.T) {
	names := symbolNames(t, compiled(t, "rustc", rustSource, ".rs", "-Copt-level=1", "-Csymbol-mangling-version=legacy"))
	want := filtered(t, names, "c++filt")
	for i := range want {
		if strings.HasPrefix(names[i], "_ZN") {
			want[i] = withoutHash(want[i])
		}
	}
	compareDemangled(t, names, want, rustV0Rules())
}

func TestDemangleRustV0(t *testing.T) {
	names := symbolNames(t, compiled(t, "rustc", rustSource, ".rs", "-Copt-level=1", "-Csymbol-mangling-version=v0"))
	want := filtered(t, names, "llvm-cxxfilt-22")
	for i := range want {
		if strings.HasPrefix(names[i], "_ZN") {
			want[i] = withoutHash(want[i])
		}
	}
	compareDemangled(t, names, want, rustV0Rules())
}

func rustV0Rules() []demangleRule { return nil }

func BenchmarkDemangle(b *testing.B) {
	lib := testenv.File(b, "/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "libstdc++6")
	var cxx, plain []string
	for _, n := range symbolNames(b, lib) {
		if strings.HasPrefix(n, "_Z") {
			cxx = append(cxx, n)
		} else {
			plain = append(plain, n)
		}
	}
	for _, set := range []struct {
		name  string
		names []string
	}{{"cxx", cxx}, {"plain", plain}} {
		b.Run(set.name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				demangleName(set.names[i%len(set.names)], true)
			}
		})
	}
}
