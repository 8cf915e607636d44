package pdb

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/demangle"
	"github.com/symtool/symtool/symfmt"
)

var llvmWords = regexp.MustCompile(`\b(struct|class|enum|union|__cdecl|__stdcall|__fastcall|__thiscall|__vectorcall) ?`)

var llvmSpelling = strings.NewReplacer("(void)", "()", "__int64", "long long", "`anonymous namespace'", "(anonymous namespace)",
	"`anonymous-namespace'", "(anonymous namespace)", " dtor'", " destructor'")

// spelled returns a name without the parts that demanglers and compilers spell differently.
func spelled(name string) string {
	return strings.ReplaceAll(llvmSpelling.Replace(llvmWords.ReplaceAllString(name, "")), " ", "")
}

// isWithParams reports whether a name is another one followed by parameters.
func isWithParams(name, plain string) bool {
	return name == plain || strings.HasPrefix(name, plain+"(")
}

// whySpelled returns why llvm-symbolizer gives a function another name, or "". publics are the
// decorated names at the function's address.
func whySpelled(name, want string, publics []string) string {
	ours, theirs := spelled(name), spelled(want)
	switch {
	case ours == theirs:
		return "the same"
	case want == "":
		return "no name, which <name omitted> stands for"
	case isWithParams(ours, theirs):
		return "a function without a public symbol, or of C: no parameters"
	case strings.HasSuffix(ours, "destructor'(unsignedint)") && strings.HasSuffix(theirs, "destructor'(unsignedint)"):
		return "a destructor of which the record has one name and the public symbol of the same code another"
	case ours == "_chkstk()" && theirs == "_alloca_probe":
		return "two names of the probe of the stack"
	case isWithParams(strings.TrimLeft(ours, "_"), strings.TrimLeft(theirs, "_")):
		return "an underscore less: LLVM takes it for that of C on x86"
	case strings.Contains(theirs, "<("):
		return "a type of functions as an argument of a template: LLVM leaves out the results of functions, there, too"
	case strings.HasPrefix(want, "?") && strings.HasPrefix(name, "`"):
		return "clang's names of handlers, which LLVM leaves decorated"
	}
	for _, raw := range publics {
		for _, x86 := range []bool{true, false} {
			public, _ := undecorate(raw, x86)
			if out, err := demangle.Append(nil, public); err == nil {
				public = string(out)
			}
			if spelled(public) == theirs {
				return "a public symbol at the address: spelled unlike the record, or another function with the same code"
			}
		}
	}
	return ""
}

// inlinedAt returns the names of the calls that are inlined at an address, the innermost first.
func inlinedAt(m *symfmt.Module, f *symfmt.Func, rva symfmt.RVA) []string {
	var calls []*symfmt.Inline
	for in := range f.Inlines() {
		for _, r := range in.Ranges {
			if r.RVA <= rva && rva < r.RVA+symfmt.RVA(r.Size) {
				c := *in
				calls = append(calls, &c)
			}
		}
	}
	slices.SortFunc(calls, func(a, b *symfmt.Inline) int { return cmp.Compare(b.Depth, a.Depth) })
	var names []string
	for _, c := range calls {
		names = append(names, m.Origins[c.Origin].Name)
	}
	return names
}

// Names of functions and of inlined calls are those that llvm-symbolizer prints at each address where a
// row or a call begins or ends, but for the reasons in whySpelled.
func TestSymbolizerNames(t *testing.T) {
	eachSymbolizer(t, func(path string, data, answers []byte, reasons map[string]int) {
		d, err := openDatabase(bytes.NewReader(data), int64(len(data)), path)
		if err != nil {
			t.Fatal(err)
		}
		compareNames(t, filepath.Base(path), read(t, data, path, 0).Module, publicsOf(t, d), imageOf(t, data), answers, reasons)
	})
}

// publicsOf returns the decorated names at each address as linked.
func publicsOf(t *testing.T, d *database) map[symfmt.RVA][]string {
	t.Helper()
	if err := d.readSections(); err != nil {
		t.Fatal(err)
	}
	names := map[symfmt.RVA][]string{}
	if err := d.eachPublic(func(rva symfmt.RVA, name string, _ bool) { names[rva] = append(names[rva], name) }); err != nil {
		t.Fatal(err)
	}
	return names
}

func compareNames(t *testing.T, file string, m *symfmt.Module, publics map[symfmt.RVA][]string, image func(symfmt.RVA) symfmt.RVA, answers []byte, reasons map[string]int) {
	t.Helper()
	scan := bufio.NewScanner(bytes.NewReader(answers))
	scan.Buffer(nil, 1<<20)
	for scan.Scan() {
		var answer struct {
			A     string
			S     [][]any
			Error string
		}
		if err := json.Unmarshal(scan.Bytes(), &answer); err != nil || answer.Error != "" || len(answer.S) == 0 {
			continue
		}
		a, _ := strconv.ParseUint(answer.A, 0, 64)
		rva := image(symfmt.RVA(a))
		i := sort.Search(len(m.Funcs), func(i int) bool { return m.Funcs[i].RVA > rva }) - 1
		if i < 0 || rva >= m.Funcs[i].RVA+symfmt.RVA(m.Funcs[i].Size) {
			reasons["behind the end of a function, where no symbol is"]++
			continue
		}
		f := &m.Funcs[i]
		names := append(inlinedAt(m, f, rva), f.Name)
		if len(names) != len(answer.S) {
			reasons["other calls are inlined: TestSymbolizer"]++
			names, answer.S = names[len(names)-1:], answer.S[len(answer.S)-1:]
		}
		for i, name := range names {
			want, _ := answer.S[i][0].(string)
			var at []string
			if i == len(names)-1 {
				at = publics[symfmt.RVA(a)-min(symfmt.RVA(a), rva-f.RVA)]
			}
			why := whySpelled(name, want, at)
			if reasons[why]++; why == "" {
				t.Errorf("%s %#x: %s, want %s; public symbols %q", file, rva, name, want, at)
			}
		}
	}
}
