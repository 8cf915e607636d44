package demangle

import (
	"bufio"
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/testenv"
)

func TestDemangleName(t *testing.T) {
	for raw, want := range map[string]string{
		"":     "",
		"main": "main",
		"_Z":   "_Z", "_R": "_R", "_": "_", "__": "__", "_ZN": "_ZN", ".": ".", "._": "._",
		// C++
		"_Z3foov":                  "foo()",
		"_ZNSs6appendEPKc":         "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::append(char const*)",
		"_Z3fooi.cold":             "foo(int) [clone .cold]",
		"_Z3fooi.isra.0.part.1":    "foo(int) [clone .isra.0] [clone .part.1]",
		"_Z3fooi.constprop.0.cold": "foo(int) [clone .constprop.0] [clone .cold]",
		"_Z3fooi.llvm.123":         "foo(int) [clone .llvm.123]",
		"._Z3foov":                 ".foo()",
		"_GLOBAL__I_foo":           "global constructors keyed to foo",
		"_GLOBAL__D__Z3foov":       "global destructors keyed to foo()",
		"_GLOBAL__sub_I__Z3foov":   "_GLOBAL__sub_I__Z3foov",
		"_GLOBAL_OFFSET_TABLE_":    "_GLOBAL_OFFSET_TABLE_",
		"_GLOBAL__I__Zjunk":        "_GLOBAL__I__Zjunk",

		"___Z3foov_block_invoke":           "invocation function for block in foo()",
		"___ZL3fooi_block_invoke_2":        "invocation function for block in foo(int)",
		"___ZN1A1fEv_block_invoke.12":      "invocation function for block in A::f()",
		"___Z3foov_block_invoke_2.llvm.12": "invocation function for block in foo()",
		"___Z3foov_block_invoke_":          "___Z3foov_block_invoke_",
		"___Z3foov_block_invoke_x":         "___Z3foov_block_invoke_x",
		"___Z3foo_block_invoke_2_3":        "___Z3foo_block_invoke_2_3",
		"___Z3foov":                        "___Z3foov",
		"__main_block_invoke":              "__main_block_invoke",
		"_ZTV3foo":                         "vtable for foo",
		"_ZZ3foovENKUlvE_clEv":             "foo()::{lambda()#1}::operator()() const",
		"_Z3fooILi3EEvv":                   "void foo<3>()",
		"_Z3fooi junk":                     "_Z3fooi junk",
		"_Z3fooi@@V1":                      "_Z3fooi@@V1",
		"_ZSt4endlIcSt11char_traits":       "_ZSt4endlIcSt11char_traits",
		// Rust
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE":                                                     "core::fmt::Write::write_fmt",
		"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE.llvm.1234":                                           "core::fmt::Write::write_fmt",
		"_ZN38_$LT$sizes..SIZE..T$u20$as$u20$Fmt$GT$3fmt17h0123456789abcdefE":                                  "<sizes::SIZE::T as Fmt>::fmt",
		"_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE": "<Test + 'static as foo::Bar<Test>>::bar",
		"_RNvC6_123foo3bar":                                   "123foo::bar",
		"_RNvNtCs1234_7mycrate3foo3bar":                       "mycrate::foo::bar",
		"_RNvNtCs1234_7mycrate3foo3bar.llvm.5":                "mycrate::foo::bar",
		"_RNCNvCsgStHSCytQ6I_7mycrate4main0B3_":               "mycrate::main::{closure#0}",
		"_RNvC6_123foo3ba":                                    "_RNvC6_123foo3ba",
		"_RNCNCNvCs1_1a4main00B5_":                            "a::main::{closure#0}::{closure#0}",
		"_RNCNCNvCs1_1a4main0s_0":                             "a::main::{closure#0}::{closure#1}",
		"_RINvC1a1fRL_hQL_tPlOxFUKCjEudE":                     "a::f::<&u8, &mut u16, *const i32, *mut i64, unsafe extern \"C\" fn(usize), f64>",
		"_RINvC1a1fAhj4_SlbTETaETabEE":                        "a::f::<[u8; 4], [i32], bool, (), (i8,), (i8, bool)>",
		"_RINvC1a1fKj10000000000000000_Kan5_Kb1_Kc41_KcA_KpE": "",
		"_RINvC1a1fKo10000000000000000_Kan5_Kb1_Kc41_Kca_KpE": `a::f::<0x10000000000000000, -5, true, 'A', '\n', _>`,
		"_RNvMs_C1aNtB2_1S1f":                                 "",
		"_RNvMs_C1aNtB4_1S1f":                                 "<a::S>::f",
		"_RNvXCs_1aNtB2_1SNtB2_1T1f":                          "<a::S as a::T>::f",
		"_RNvC1au4ete_9qbad":                                  "",
		"_RNvC1au8caf_dma":                                    "",
		"_RNvC1au7caf_dma":                                    "a::café",
		"_RNvC1au8gdel_5qa":                                   "a::gödel",
		"_RNSC1a1f":                                           "a::{shim:f#0}",
		"_RINvC1a1fB_E":                                       "",
		"_RINvC1a1fB8_E":                                      "",
		"_ZN3std3sys9backtrace28__rust_begin_short_backtrace17h9ce328fb477b4d13E": "std::sys::backtrace::__rust_begin_short_backtrace",
		"_ZN3foo14_$LT$$u7e$$GT$17h9ce328fb477b4d13E.cold":                        "foo::<~>",
		"_ZN3foo15_$LT$$u7e$$GT$17h9ce328fb477b4d13E.cold":                        "",
		"_ZN3foo5$XX$a17h9ce328fb477b4d13E":                                       "foo::$XX$a",
		"_ZN3foo3bar17h1111111111111111E":                                         "foo::bar::h1111111111111111",
		// others
		"$s4main3fooyyF":           "$s4main3fooyyF",
		"_$s4main3fooyyF":          "_$s4main3fooyyF",
		"_D3foo3barFZv":            "_D3foo3barFZv",
		"camlStdlib__List__map_12": "camlStdlib__List__map_12",
		"main.(*T).Run-fm":         "main.(*T).Run-fm",
		"type:.eq.[2]string":       "type:.eq.[2]string",
		"__Z3foov":                 "__Z3foov",
		"__alloc_token__Z3foov":    "__alloc_token__Z3foov",
		"foo.cold":                 "foo.cold",
	} {
		got := source(raw)
		if want == "" {
			want = raw
		}
		if got != want {
			t.Errorf("%q: %q, want %q", raw, got, want)
		}
		if again := source(got); again != got {
			t.Errorf("%q: demangled twice: %q, then %q", raw, got, again)
		}
	}
}

// source returns the source form of a name, or the name.
func source(name string) string {
	out, err := Append(nil, name)
	if err != nil {
		return name
	}
	return string(out)
}

// costly is a name that would take far more than its length allows.
var costly = "_Z1f" + strings.Repeat("A5_", 3000) + "i"

// What is before the name stays, whatever the name is.
func TestAppend(t *testing.T) {
	for name, want := range map[string]error{
		"_Z3foov": nil, "._Z3foov": nil, "_GLOBAL__I_foo": nil, "_RNvC6_123foo3bar": nil, "_ZN3foo3bar17h0123456789abcdefE": nil, "main": ErrNotMangled,
		"_Z3foov junk": ErrNotMangled, "_RNvC6_123foo3ba": ErrNotMangled, "_RC0": ErrNotMangled, "_GLOBAL__I__Zjunk": ErrNotMangled, costly: ErrCostly, "." + costly: ErrCostly, "_GLOBAL__I_" + costly: ErrCostly,
	} {
		out, err := Append([]byte("f: "), name)
		if err != want {
			t.Errorf("%.40s: %v, want %v", name, err, want)
		}
		if text := "f: " + source(name); err == nil && string(out) != text || err != nil && string(out) != "f: " {
			t.Errorf("%.40s: %q, want %q", name, out, text)
		}
	}
}

// TestDemangleIsBounded: names that stand for huge ones, or nest deeply, or are
// long, neither hang nor grow.
func TestDemangleIsBounded(t *testing.T) {
	subst := "_Z1f1AIiiE" // S_ = A, S0_ = A<int, int>
	seq := "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for i := 0; i < 30; i++ {
		subst += "S_IS" + string(seq[i]) + "_S" + string(seq[i]) + "_E"
	}
	for name, raw := range map[string]string{
		"doubling":    subst,
		"pointers":    "_Z1f" + strings.Repeat("P", mangled.MaxMangled-10) + "i",
		"nested":      "_Z1f" + strings.Repeat("1AI", mangled.MaxMangled/4) + "i" + strings.Repeat("E", mangled.MaxMangled/4),
		"functions":   "_Z1f" + strings.Repeat("PF", mangled.MaxMangled/4) + "i" + strings.Repeat("vE", mangled.MaxMangled/4),
		"expressions": "_Z1fIXsz" + strings.Repeat("ng", mangled.MaxMangled/3) + "Li0EEEvv",
		"clones":      "_Z1fi" + strings.Repeat(".a", mangled.MaxMangled/2-10),
		"rust refs":   "_RINvC1a1f" + strings.Repeat("R", mangled.MaxMangled-100) + "uE",
		"rust tuples": "_RINvC1a1f" + strings.Repeat("TB_", mangled.MaxMangled/3-10) + "E",
		"too long":    "_Z" + fmt.Sprint(mangled.MaxMangled) + strings.Repeat("a", mangled.MaxMangled) + "v",
		"closures":    "_R" + strings.Repeat("NC", mangled.MaxMangled/3) + "C1a" + strings.Repeat("0", mangled.MaxMangled/3),
	} {
		t.Run(name, func(t *testing.T) {
			watch := testenv.StartWatch()
			got := source(raw)
			if len(got) > mangled.MaxDemangled && got != raw {
				t.Errorf("%d bytes", len(got))
			}
			took := watch.Took()
			t.Logf("%d bytes to %d in %v: %.60q", len(raw), len(got), took, got)
			if took > 2*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

// symbolNames returns the names in both symbol tables of a file, sorted.
func symbolNames(t testing.TB, path string) []string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, _ := f.Symbols() // libraries of Debian have the other one only
	dynamic, err := f.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, s := range append(table, dynamic...) {
		if name, _, _ := strings.Cut(s.Name, "@"); name != "" && !strings.ContainsAny(name, " \n") {
			out = append(out, name)
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
		got := source(raw)
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
	compareDemangled(t, names, filtered(t, names, "c++filt"), libraryRules)
}

// TestDemangleBigLibraries compares some hundred thousand names.
func TestDemangleBigLibraries(t *testing.T) {
	testenv.Oracle(t)
	files, _ := filepath.Glob("/usr/lib/x86_64-linux-gnu/libclang-cpp.so*")
	sysroot, err := exec.Command(testenv.Tool(t, "rustc"), "--print", "sysroot").Output()
	if err != nil {
		t.Fatal(err)
	}
	rust, _ := filepath.Glob(filepath.Join(strings.TrimSpace(string(sysroot)), "lib/librustc_driver-*.so"))
	if len(files)+len(rust) == 0 {
		t.Skip("neither libclang-cpp nor librustc_driver is here")
	}
	for _, path := range append(files, rust...) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			names := symbolNames(t, path)
			tool := "c++filt"
			if slices.Contains(rust, path) {
				tool = "llvm-cxxfilt-22"
				names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasPrefix(n, "_R") })
			}
			compareDemangled(t, names, filtered(t, names, tool), libraryRules)
		})
	}
}

// libraryRules are where the library differs from c++filt 2.40.
var libraryRules = []demangleRule{{
	why:   "c++filt does not know the manglings of newer compilers (Tn, ...)",
	match: func(raw, got, want string) bool { return want == raw && strings.HasPrefix(raw, "_Z") },
}, {
	why: "c++filt prints >> after an empty pack, where it prints > > otherwise",
	match: func(raw, got, want string) bool {
		return strings.Contains(raw, "JE") && withoutSpaces(got) == withoutSpaces(want)
	},
}, {
	why: "c++filt prints an empty pack as an empty parameter",
	match: func(raw, got, want string) bool {
		return strings.Contains(raw, "JE") && got == strings.ReplaceAll(want, ", , ", ", ")
	},
}, {
	why: "c++filt prints an unresolved name with template arguments as an operand in parentheses",
	match: func(raw, got, want string) bool {
		return strings.Contains(raw, "sr") && withoutParens(got) == withoutParens(want)
	},
}, {
	why: "a template function as template argument (L_Z...I...E): the package omits its return type and parameters",
	match: func(raw, got, want string) bool {
		return strings.Contains(raw, "L_Z") && len(got) < len(want) && strings.Contains(got, "&(")
	},
}, {
	why: "LLVM prints what follows a Rust name, \" (.llvm.1)\"; c++filt and rustc-demangle do not",
	match: func(raw, got, want string) bool {
		_, suffix, _ := strings.Cut(raw, ".")
		return strings.HasPrefix(raw, "_R") && want == got+" (."+suffix+")"
	},
}}

func withoutSpaces(s string) string { return strings.ReplaceAll(s, " ", "") }

func withoutParens(s string) string { return strings.NewReplacer("(", "", ")", "").Replace(s) }

// TestDemangleTemplates uses names that are deeper than the library's.
func TestDemangleTemplates(t *testing.T) {
	names := symbolNames(t, testenv.Compile(t, "g++", templateSource, ".cc", "-O1", "-std=c++20"))
	compareDemangled(t, names, filtered(t, names, "c++filt"), libraryRules)
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
template <auto N> struct constant { operator int() const { return int(N); } };
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

// crateHash is c++filt's form of a crate's disambiguator. Array lengths come
// with a type there, [u8; 4usize], so that they cannot be taken for one.
var crateHash = regexp.MustCompile(`(\w)\[[0-9a-f]+\]`)

var constType = regexp.MustCompile(`(\d): [iu](?:8|16|32|64|128|size)\b`)

func TestDemangleRustLegacy(t *testing.T) {
	names := symbolNames(t, testenv.Compile(t, "rustc", rustSource, ".rs", "-Copt-level=1", "-Zunstable-options", "-Csymbol-mangling-version=legacy"))
	want := filtered(t, names, "c++filt")
	for i := range want {
		if strings.HasPrefix(names[i], "_ZN") {
			want[i] = withoutHash(want[i])
		} else {
			want[i] = crateHash.ReplaceAllString(want[i], "$1") // of the standard library
		}
	}
	compareDemangled(t, names, want, []demangleRule{{
		why: "c++filt shows the type of a constant, <10: usize>",
		match: func(raw, got, want string) bool {
			return strings.HasPrefix(raw, "_R") && constType.ReplaceAllString(want, "$1") == got
		},
	}, {
		why: "c++filt does not know escapes of characters outside of ASCII, $uc9$",
		match: func(raw, got, want string) bool {
			return strings.HasPrefix(raw, "_ZN") && strings.Contains(want, "$uc9$") && strings.Contains(got, "É")
		},
	}})
}

func TestDemangleRustV0(t *testing.T) {
	names := symbolNames(t, testenv.Compile(t, "rustc", rustSource, ".rs", "-Copt-level=1", "-Csymbol-mangling-version=v0"))
	// The standard library's names are of the legacy kind, whose escapes llvm-cxxfilt
	// leaves as they are; the test above covers them.
	names = slices.DeleteFunc(names, func(name string) bool { return strings.HasPrefix(name, "_ZN") })
	compareDemangled(t, names, filtered(t, names, "llvm-cxxfilt-22"), libraryRules)
}

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
				source(set.names[i%len(set.names)])
			}
		})
	}
}
