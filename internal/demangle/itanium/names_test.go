package itanium

import (
	"math/bits"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"github.com/symtool/symtool/internal/demangle/mangled"
	"github.com/symtool/symtool/internal/testenv"
)

// A namePair is a mangled name and what it is demangled to.
type namePair struct{ raw, text string }

// goldenNames returns the names of golden/internal/demangle/itanium/names.txt.
func goldenNames(t testing.TB) (pairs []namePair) {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(testenv.Root(t), "golden/internal/demangle/itanium/names.txt"))
	if err != nil {
		t.Fatal(err)
	}
	raw := ""
	for line := range strings.Lines(string(file)) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "\t"); ok {
			pairs = append(pairs, namePair{raw, text})
		}
		raw = line
	}
	if len(pairs) < 400 {
		t.Fatalf("%d names", len(pairs))
	}
	return pairs
}

// source returns the source form of a name, or the name.
func source(raw string) string {
	out, err := Append(nil, raw)
	if err != nil {
		return raw
	}
	return string(out)
}

// library returns what the library prints for a name, whose unresolved names it gets in
// another form.
func library(raw string) (text string, err error) {
	defer func() {
		if recover() != nil {
			err = mangled.ErrNotMangled
		}
	}()
	if len(unresolvedPlaces(raw)) == 0 {
		out, err := appendByLibrary(nil, raw, asFilt)
		return string(out), err
	}
	most := mangled.LengthAllowed(raw)
	options := libraryOptions[bits.Len(uint(most))]
	trees, err := cxxTrees(raw, options)
	if err != nil {
		return "", mangled.ErrNotMangled
	}
	for i, tree := range trees {
		if cost := (printing{}).of(tree); cost.steps > mangled.StepsAllowed(raw) || cost.nodes > most {
			return "", mangled.ErrCostly
		}
		before := text
		if text = demangle.ASTToString(tree, options...); i > 0 && text != before {
			return "", mangled.ErrNotMangled
		}
	}
	if len(text) > most {
		return "", mangled.ErrCostly
	}
	return text, nil
}

func TestNames(t *testing.T) {
	d := new(decoder)
	for _, name := range goldenNames(t) {
		if got := source(name.raw); got != name.text {
			t.Errorf("%s\n  got  %s\n  want %s", name.raw, got, name.text)
		}
		if out, v := d.appendName(nil, name.raw); v != decoded || string(out) != name.text {
			t.Errorf("%s\n  got  %s, %v from a decoder that was used before", name.raw, out, v)
		}
	}
}

// Templates of constructors have no result, with or without ABI tags; libc++'s have tags. c++filt prints "int
// A::A[abi:abc]<int>(char)", or nothing; this is what llvm-cxxfilt prints.
func TestTaggedConstructors(t *testing.T) {
	for raw, want := range map[string]string{
		"_ZN1AC1B3abcIiEEic":                               "A::A[abi:abc]<int>(int, char)",
		"_ZN1AC2B3abcB3defIiEEi":                           "A::A[abi:abc][abi:def]<int>(int)",
		"_ZN1AD1B3abcIiEEi":                                "A::~A[abi:abc]<int>(int)",
		"_ZN1A1fB3abcIiEEic":                               "int A::f[abi:abc]<int>(char)",
		"_ZNSt3__18optionalI1AEC1B9nqe210106IS1_Li0EEEOT_": "std::__1::optional<A>::optional[abi:nqe210106]<A, 0>(A&&)",
	} {
		if got := source(raw); got != want {
			t.Errorf("%s\n  got  %s\n  want %s", raw, got, want)
		}
	}
}

// What the decoder refuses is left to the library.
func TestRefused(t *testing.T) {
	d := new(decoder)
	for raw, want := range map[string]string{
		"_ZGr32_java$Sutil$Siso4217$_properties": "java resource java/util/iso4217.properties",
		"_ZN1Av23pluERKS_":                       "A::operator plu(A const&)",
		"_Z1fIXflcviT_EEvv":                      "",
	} {
		out, v := d.appendName([]byte("x"), raw)
		if v != refused || string(out) != "x" {
			t.Errorf("%.80s: %s, %v", raw, out, v)
		}
		if got := source(raw); want != "" && got != want {
			t.Errorf("%.80s\n  got  %s\n  want %s", raw, got, want)
		}
	}
}

// No prefix of a name, and no name with an extra or a changed byte, makes the decoder
// panic, or print something other than the library.
func TestDamagedNames(t *testing.T) {
	d := new(decoder)
	for _, name := range goldenNames(t) {
		if len(name.raw) > 120 {
			continue
		}
		for i := range len(name.raw) {
			compareWithLibrary(t, d, name.raw[:i])
			compareWithLibrary(t, d, name.raw[:i]+"_"+name.raw[i:])
			compareWithLibrary(t, d, name.raw[:i]+name.raw[i+1:])
		}
	}
}

// compareWithLibrary compares what the decoder and the library print for a name. It
// returns why they differ, or "".
func compareWithLibrary(t testing.TB, d *decoder, raw string) (why string) {
	t.Helper()
	if !strings.HasPrefix(raw, "_Z") || len(raw) > mangled.MaxMangled {
		return ""
	}
	out, v := d.appendName(nil, raw)
	if v == refused {
		return ""
	}
	got := string(out)
	want, err := library(raw)
	if v == decoded && err == nil && got == want || v != decoded && err != nil {
		return ""
	}
	if v == decoded {
		if why = difference(d, raw, got, want, err); why != "" {
			return why
		}
	}
	t.Errorf("%s\n  got  %s (%d)\n  want %s, %v", raw, got, v, want, err)
	return ""
}

// difference returns why the library says something else about a name, or "". Where
// c++filt 2.44 and llvm-cxxfilt 22 agree, they say what the decoder says.
func difference(d *decoder, raw, got, want string, err error) string {
	switch {
	case err == mangled.ErrCostly:
		return "the library takes more than the length of the name allows"
	case len(unresolvedPlaces(raw)) != d.unresolved:
		return "what is put to the library takes something else for an unresolved name, or an unresolved name for something else"
	case err != nil && d.unresolved > 0 && strings.Contains(raw, "Dp"):
		return "what is put to the library is not found again, as it is the expansion of an empty pack"
	case taggedStructor.MatchString(raw):
		return "the library takes the first parameter of a constructor with an ABI tag for a result, unlike llvm-cxxfilt"
	case err != nil:
		return ""
	case withoutEmpty(got) == withoutEmpty(want):
		return "the library prints commas around an empty pack within another, f<int, >"
	case strings.Contains(raw, "Dp") || strings.Contains(raw, "sp"):
		return "the library replaces a pack once where an expansion has it several times"
	case ampersands.ReplaceAllString(got, "&") == ampersands.ReplaceAllString(want, "&"):
		return "the library leaves a reference to a reference as it is where it occurs again"
	case negativeChar.MatchString(raw) && strings.Contains(want, `{"`):
		return "the library makes a character of a literal that is negative by '-', which no compiler writes"
	}
	return ""
}

// withoutEmpty removes the commas around empty packs, and the spaces that depend on them.
func withoutEmpty(name string) string {
	return strings.ReplaceAll(emptyPacks.ReplaceAllString(name, "$1$2"), " >", ">")
}

var (
	emptyPacks = regexp.MustCompile(`(^|[<({\[])(?:, )+|(?:, )+([>)}\]]|, | )`)
	ampersands = regexp.MustCompile(`&+`)

	taggedStructor = regexp.MustCompile(`[CD][0-9]B[0-9]|cv.*B[0-9]`)

	negativeChar = regexp.MustCompile(`L[a-z]-[0-9]+E`)
)

func TestDecoderAllocates(t *testing.T) {
	d := new(decoder)
	names := goldenNames(t)
	buf := make([]byte, 0, 1<<16)
	for _, name := range names {
		d.appendName(buf, name.raw)
	}
	if n := testing.AllocsPerRun(5, func() {
		for _, name := range names {
			d.appendName(buf, name.raw)
		}
	}); n > 0 {
		t.Errorf("%v allocations for %d names", n, len(names))
	}
}

// BenchmarkDecoder compares the decoder with the library. Bytes are counted in the results.
func BenchmarkDecoder(b *testing.B) {
	d := new(decoder)
	names := goldenNames(b)
	buf, length := make([]byte, 0, 1<<16), 0
	for _, name := range names {
		length += len(name.text)
	}
	for _, by := range []struct {
		name   string
		append func(dst []byte, raw string)
	}{
		{"decoder", func(dst []byte, raw string) { d.appendName(dst, raw) }},
		{"library", func(dst []byte, raw string) { appendByLibrary(dst, raw, asFilt) }},
	} {
		b.Run(by.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(length / len(names)))
			for i := 0; b.Loop(); i++ {
				by.append(buf, names[i%len(names)].raw)
			}
		})
	}
}
