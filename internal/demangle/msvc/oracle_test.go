package msvc

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// invalid is what llvm-undname prints for a name that it does not understand.
const invalid = "error: Invalid mangled name"

// flagOf are llvm-undname's flags for the bits of form.
var flagOf = map[form]string{
	noAccess: "--no-access-specifier", noCall: "--no-calling-convention", noMember: "--no-member-type",
	noReturn: "--no-return-type", noVariable: "--no-variable-type",
}

// Each public symbol of the PDBs in the shared test data, as llvm-undname 22 printed it.
func TestMSVCShared(t *testing.T) {
	testenv.Shared(t, "data", "pe")
	seen := map[string]bool{}
	for _, path := range testenv.SharedGlob(t, "data", "pe", "*", "*", "oracle", "*.undname.txt.gz") {
		scan := bufio.NewScanner(bytes.NewReader(testenv.Gunzip(t, path)))
		for scan.Scan() {
			raw := scan.Text()
			if !strings.HasPrefix(raw, "?") || seen[raw] || !scan.Scan() {
				continue
			}
			seen[raw] = true
			if got := msvc(raw, full); got != scan.Text() {
				t.Errorf("%s\n  got  %s\n  want %s", raw, got, scan.Text())
			}
		}
	}
	if len(seen) < 3800 {
		t.Errorf("%d names", len(seen))
	}
}

// undname returns what llvm-undname prints for names; text after a name makes it invalid here.
func undname(t *testing.T, names []string, flags ...string) []string {
	t.Helper()
	cmd := exec.Command(testenv.Tool(t, "llvm-undname-22"), append(flags, "--warn-trailing")...)
	cmd.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := cmd.CombinedOutput() // the status is 1 if a name is invalid
	lines := strings.Split(string(out), "\n")
	if len(lines) < 2*len(names) {
		t.Fatalf("%d lines for %d names: %v", len(lines), len(names), err)
	}
	at := 0
	plain := make([]string, len(names))
	for i, raw := range names {
		for lines[at] != raw {
			at++
		}
		plain[i] = lines[at+1]
		if at += 2; strings.HasPrefix(lines[at], "warning: trailing characters") {
			plain[i] = invalid
		}
	}
	return plain
}

var (
	plainFunction = regexp.MustCompile(`\?([0-9@]|[B-P][A-P]*@)\?[A-Za-z_]`)
	classValue    = regexp.MustCompile(`\$(M.*)?[2378ABN]`)
	thunkOfOthers = regexp.MustCompile(`@[GHO][0-9A-P?@]`)
)

// whyOther returns why llvm-undname prints a name in another way, or "".
func whyOther(raw, want string, form form) string {
	switch {
	case want == invalid && strings.Contains(raw, "$") && strings.Contains(raw, "@0@"):
		return "clang's names of handlers"
	case want == invalid && plainFunction.MatchString(raw):
		return "names in functions of C"
	case want == invalid && (strings.Contains(raw, "_L") || strings.Contains(raw, "_M")):
		return "__int128"
	case want == invalid && classValue.MatchString(raw):
		return "arguments that are values of classes and floating-point numbers"
	case strings.Contains(raw, "?__K"):
		return "the name of a literal's operator, which clang counts"
	case strings.Contains(raw, "?$?$"):
		return "the arguments of a template of templates, of which no compiler writes more than one list"
	case strings.Contains(raw, "?A"):
		return "the number of a namespace without a name: the hash in place of it, or, in clang's names, that of another name"
	case strings.Contains(raw, "$1??"), strings.Contains(raw, "$1?_"):
		return "the name of an operator or template that is an argument, which clang does not count"
	case thunkOfOthers.MatchString(raw) && strings.Contains(want, "`adjustor{"):
		return "private thunks, which adjust virtual functions as others do"
	case form&noReturn != 0 && (strings.Contains(raw, "$$A6") || strings.Contains(raw, "$$A8") || strings.Contains(raw, "P6")):
		return "the result of a function's type that is an argument, left out"
	case form != full && (strings.Contains(raw, "$1") || strings.Contains(raw, "$H") || strings.Contains(raw, "$M")):
		return "an argument that is repeated, in full"
	}
	return ""
}

// compareUndname compares names with llvm-undname in a form, and returns how many differ for each
// reason.
func compareUndname(t *testing.T, names []string, form form) map[string]int {
	t.Helper()
	var flags []string
	for bit, flag := range flagOf {
		if form&bit != 0 {
			flags = append(flags, flag)
		}
	}
	reasons := map[string]int{}
	for i, want := range undname(t, names, flags...) {
		raw := names[i]
		out, err := appendForm(nil, raw, form)
		got := string(out)
		if err != nil {
			got = invalid
		}
		if got == want {
			continue
		}
		why := whyOther(raw, want, form)
		if why == "" && got == invalid {
			why = unknownCodes
		}
		if reasons[why]++; why == "" {
			t.Errorf("%s %v\n  got  %s\n  want %s", raw, flags, got, want)
		}
	}
	return reasons
}

// unknownCodes is why names are refused here: letters of calling conventions, qualifiers and operators
// that no compiler writes, for which llvm-undname prints nothing.
const unknownCodes = "a code that stands for nothing"

// compiledNames returns the names that clang makes of golden/input/src/msvcnames.cc.
func compiledNames(t *testing.T, cpu string, flags ...string) []string {
	t.Helper()
	source := filepath.Join(testenv.Root(t), "golden", "input", "src", "msvcnames.cc")
	args := append([]string{"--target=" + cpu + "-pc-windows-msvc", "-std=c++20", "-fms-extensions", "-fcxx-exceptions", "-fexceptions",
		"-w", "-S", source, "-o", "-"}, flags...)
	var stderr bytes.Buffer
	cmd := exec.Command(testenv.Tool(t, "clang-22"), args...)
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.Bytes())
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`"((?:\?|\.\?)[^"\\\s]+)"`).FindAllSubmatch(text, -1) {
		names[string(m[1])] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// All forms of names that clang writes are printed as by llvm-undname, with each of its flags, except
// for the reasons in whyOther.
func TestOracleMSVC(t *testing.T) {
	testenv.Oracle(t)
	var names []string
	for _, cpu := range []string{"x86_64", "i686", "aarch64"} {
		names = append(names, compiledNames(t, cpu)...)
	}
	for _, raw := range names {
		if _, err := appendForm(nil, raw, record); err != nil {
			t.Errorf("%s: %v", raw, err)
		}
	}
	forms := []form{full, noAccess | noCall | noMember | noReturn | noVariable}
	for bit := range flagOf {
		forms = append(forms, bit)
	}
	for _, form := range forms {
		t.Logf("%d names, form %05b: %v", len(names), form, compareUndname(t, names, form))
	}
	var all []string
	for _, cpu := range []string{"x86_64", "i686"} {
		all = append(all, compiledNames(t, cpu, "-DALL", "-emit-llvm", "-Xclang", "-disable-llvm-passes")...)
	}
	if len(all) < 50000 {
		t.Errorf("%d names", len(all))
	}
	reasons := compareUndname(t, all, full)
	t.Logf("%d names: %v", len(all), reasons)
	if reasons[unknownCodes] > 0 {
		t.Error("a code of clang's is unknown")
	}
}

// pieces are what mutations put into names: parts of the grammar.
var pieces = strings.Fields(`A P Q R S E I F 6 8 U V W4 T X Z @ @@ 0 1 2 3 ?$ ?A ?A0x1@ ??0 ??1 ??B ?_7 ?_R0 ?_R1 ?_R4 ?_C@_0 ?__E ?__K
	?_9 $0 $1 $$V $$B $$C $$Q $$T $$A6 $$A8@@ $F $H $E $M Y01 _N _J _K _W XZ QEAA YA AEXXZ @Z PEAH 9 5 4IA $B $4 $R4 W7 G@ ?0 ?1 ?B@
	?1??f@@YAXXZ@ foo@ bar@@ H D N _E`)

// mutate makes another name from some.
func mutate(rng *rand.Rand, names []string) string {
	s := names[rng.IntN(len(names))]
	for range 1 + rng.IntN(3) {
		from := rng.IntN(len(s) + 1)
		to := min(len(s), from+rng.IntN(5))
		switch piece := pieces[rng.IntN(len(pieces))]; rng.IntN(5) {
		case 0:
			s = s[:from] + piece + s[from:]
		case 1:
			s = s[:from] + piece + s[to:]
		case 2:
			s = s[:from] + s[to:]
		case 3:
			other := names[rng.IntN(len(names))]
			at := rng.IntN(len(other))
			s = s[:from] + other[at:min(len(other), at+1+rng.IntN(20))] + s[from:]
		case 4:
			at := rng.IntN(len(s) + 1)
			s = s[:from] + s[at:min(len(s), at+1+rng.IntN(8))] + s[from:]
		}
	}
	return s
}

// Names that differ a little from others. Of those that llvm-undname accepts, one in a hundred may have
// a code that stands for nothing.
func TestOracleMSVCMutations(t *testing.T) {
	testenv.Oracle(t)
	names := slices.DeleteFunc(goldenNames(t), func(raw string) bool { return len(raw) > 250 || strings.Contains(raw, "??_C") })
	rng := rand.New(rand.NewPCG(1, 2))
	mutations := map[string]bool{}
	for len(mutations) < 50000 {
		if raw := mutate(rng, names); strings.HasPrefix(raw, "?") && !strings.Contains(raw, " ") {
			mutations[raw] = true
		}
	}
	reasons := compareUndname(t, slices.Sorted(maps.Keys(mutations)), full)
	for why, n := range reasons {
		t.Logf("%6d %s", n, why)
	}
	if reasons[unknownCodes] > len(mutations)/100 {
		t.Error(fmt.Sprint(reasons[unknownCodes], " names with unknown codes"))
	}
}
