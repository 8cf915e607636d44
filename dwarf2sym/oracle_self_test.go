package dwarf2sym_test

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// The comparison finds one wrong record of each kind.
func TestOracleFindsDamage(t *testing.T) {
	testenv.Oracle(t)
	file := testenv.Input(t, "hotcold-gcc5.elf")
	text := dumpText(t, fixture{name: "hotcold-gcc5", file: file}, 1)
	if found, why := disagrees(t, text, file); found {
		t.Fatalf("before any damage: %s", why)
	}
	const line = `(?m)^([0-9a-f]+) ([0-9a-f]+) (\d+) (\d+)$`
	const inline = `(?m)^INLINE (\d+) (\d+) (\d+) (\d+) ([0-9a-f]+) ([0-9a-f]+)`
	for _, c := range []struct{ name, record, damaged string }{
		{"line number", line, "$1 $2 1${3} $4"},
		{"line without a file", line, "$1 $2 $3 99"},
		{"line of another file", line, "$1 $2 $3 1"},
		{"line too short", line, "$1 1 $3 $4"},
		{"line missing", line + `\n`, ""},
		{"file name", `(?m)^FILE 0 (.*)$`, "FILE 0 ${1}x"},
		{"function name", `(?m)^FUNC (\S+ \S+ \S+) (.*)$`, "FUNC $1 ${2}x"},
		{"function missing", `(?m)^FUNC .*\n([^F].*\n)*`, ""},
		{"function too short", `(?m)^FUNC (\S+) \S+ (.*)\n([^F].*\n)*`, "FUNC $1 1 $2\n"},
		{"function that is none", `(?m)^FUNC`, "FUNC 100 10 0 none\nFUNC"},
		{"inline missing", inline + `.*\n`, ""},
		{"inline's call line", inline, "INLINE $1 1$2 $3 $4 $5 $6"},
		{"inline's call file", inline, "INLINE $1 $2 1 $4 $5 $6"},
		{"inline's origin", `(?m)^INLINE_ORIGIN 0 (.*)$`, "INLINE_ORIGIN 0 ${1}x"},
		{"inline too short", inline, "INLINE $1 $2 $3 $4 $5 1"},
		{"inline too deep", inline, "INLINE 1 $2 $3 $4 $5 $6"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := replaceFirst(t, text, c.record, c.damaged)
			if found, _ := disagrees(t, bad, file); !found {
				t.Error("not found")
			}
		})
	}
}

// disagrees reports whether the comparison finds a difference, and returns it.
func disagrees(t *testing.T, text []byte, file string) (bool, string) {
	t.Helper()
	c, err := compareText(t, text, subject{file: file})
	if err != nil {
		return true, err.Error()
	}
	return c.unexplained > 0, fmt.Sprintf("%d of %d addresses: %q", c.unexplained, c.addresses, c.examples)
}

// replaceFirst replaces the first match of a pattern.
func replaceFirst(t *testing.T, text []byte, pattern, by string) []byte {
	t.Helper()
	re := regexp.MustCompile(pattern)
	at := re.FindSubmatchIndex(text)
	if at == nil {
		t.Fatalf("no record like %s", pattern)
	}
	out := re.Expand(bytes.Clone(text[:at[0]]), []byte(by), text, at)
	out = append(out, text[at[1]:]...)
	if bytes.Equal(out, text) {
		t.Fatal("nothing is changed")
	}
	return out
}

// The rules for names accept only symtool's form of a name.
func TestOracleNameRules(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct{ raw, ours, wrong, rule string }{
		{"_ZN1AC1Ei", "A::A(int)", "A::A(long)", ""},
		{"_ZN1BCI21AEi", "B::B(int)", "", "inherited-constructor"},
		{
			"_ZNSt8__detail5__modImTnT_Lm4294967296ETnS1_Lm1ETnS1_Lm0EEES1_S1_",
			"unsigned long std::__detail::__mod<unsigned long, 4294967296ul, 1ul, 0ul>(unsigned long)",
			"unsigned long std::__detail::__mod<unsigned long, 4294967296ul, 1ul, 0ul>(unsigned int)", "llvm-cxxfilt",
		},
		{
			"_ZNKSt6ranges9take_viewI1AE4baseEvQ18copy_constructibleIT_E",
			"std::ranges::take_view<A>::base() const requires copy_constructible<T>", "std::ranges::take_view<A>::base() requires copy_constructible<T>", "llvm-cxxfilt",
		},
		{
			"_ZSt14__relocate_a_1IccENSt9enable_ifIXsr3std24__is_bitwise_relocatableIT_EE5valueEPS1_E4typeES2_S2_S2_RSaIT0_E",
			"std::enable_if<std::__is_bitwise_relocatable<char>::value, __is_bitwise_relocatable*>::type std::__relocate_a_1<char, char>(char, char, char, std::allocator<char>&)",
			"std::enable_if<std::__is_bitwise_relocatable<char>::value, char*>::type std::__relocate_b_1<char, char>(char*, char*, char*, std::allocator<char>&)",
			"dependent-name",
		},
	} {
		n := readNames(t, []string{c.raw})[c.raw]
		if rule, same := sameName(c.ours, n); c.ours != "" && (!same || rule != c.rule) {
			t.Errorf("%s: rule %q, %v, want %q", c.ours, rule, same, c.rule)
		}
		if rule, same := sameName(c.wrong, n); c.wrong != "" && same {
			t.Errorf("%s: taken for %s, by rule %s", c.wrong, c.raw, rule)
		}
	}
}
