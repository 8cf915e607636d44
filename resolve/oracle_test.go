package resolve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/symfmt"
)

// cxxProgram builds the program of templates, and a copy without symbol table:
// the tools let symbols override the names of functions.
func cxxProgram(t *testing.T) (program, bare string) {
	t.Helper()
	dir := t.TempDir()
	program, bare = filepath.Join(dir, "program"), filepath.Join(dir, "bare")
	source := filepath.Join(testenv.Root(t), "golden", "input", "src", "templates.cc")
	ask(t, nil, testenv.Tool(t, "g++"), "-std=c++20", "-O2", "-g", "-w", "-pthread", "-o", program, source)
	ask(t, nil, testenv.Tool(t, "objcopy"), "--wildcard", "--strip-symbol=*", program, bare)
	return program, bare
}

func ask(t *testing.T, stdin []byte, name string, args ...string) []byte {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command(name, args...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", filepath.Base(name), err, stderr.Bytes())
	}
	return out
}

// TestOracleAnswers compares the answers from a symbol file with those that
// other tools give from the binary, at every address where a line or an inlined
// function begins, and behind it.
func TestOracleAnswers(t *testing.T) {
	testenv.Oracle(t)
	program, bare := cxxProgram(t)
	m, text := dumpOf(t, program, false)
	r := openFile(t, writeFile(t, "x.sym", text))
	var addrs []symfmt.RVA
	for i := range m.Funcs {
		for _, rva := range functionEdges(&m.Funcs[i]) {
			if holds(m.Funcs[i].RVA, m.Funcs[i].Size, rva) {
				addrs = append(addrs, rva)
			}
		}
	}
	slices.Sort(addrs)
	addrs = slices.Compact(addrs)
	for _, o := range []struct {
		name string
		each int // asks for one address of so many: elfutils takes milliseconds for each

		// few allows one answer in twenty to be another one: elfutils gives "??" and
		// no inlined functions for the call operators of lambdas, whose names are two
		// references away, and chains two inlined functions whose ranges alternate,
		// of which neither is in the other. LLVM's answers, which are compared at all
		// addresses, are ours there.
		few   bool
		parse func(t *testing.T, out []byte) [][]Frame
		args  []string
	}{
		{"llvm-symbolizer-22", 1, false, llvmAnswers, []string{"--output-style=JSON", "--no-demangle", "--functions=linkage", "--inlines", "--no-debuginfod", "-e", bare}},
		{"eu-addr2line", 100, true, euAnswers, []string{"-f", "-i", "-a", "-e", bare}},
	} {
		t.Run(o.name, func(t *testing.T) {
			var addrs, all = []symfmt.RVA(nil), addrs
			var questions []byte
			for i := 0; i < len(all); i += o.each {
				addrs = append(addrs, all[i])
				questions = fmt.Appendf(questions, "0x%x\n", uint64(all[i]))
			}
			answers := o.parse(t, ask(t, questions, testenv.Tool(t, o.name), o.args...))
			if len(answers) != len(addrs) {
				t.Fatalf("%d answers to %d questions", len(answers), len(addrs))
			}
			compareAnswers(t, r, addrs, answers, o.few)
		})
	}
}

// compareAnswers counts the answers that differ.
func compareAnswers(t *testing.T, r *Resolver, addrs []symfmt.RVA, answers [][]Frame, few bool) {
	var at Location
	differ, frames := 0, 0
	for i, rva := range addrs {
		if _, err := r.Find(rva, &at); err != nil {
			t.Fatal(err)
		}
		frames += len(answers[i])
		if !sameFrames(at.Frames, answers[i]) {
			if differ++; !few && differ <= 5 {
				t.Errorf("%#x:\n%swant\n%s", uint64(rva), frameText(at.Frames), frameText(answers[i]))
			}
		}
	}
	t.Logf("%d addresses, %d frames, %d differ", len(addrs), frames, differ)
	if differ > 0 && !few || differ > len(addrs)/20 {
		t.Errorf("%d of %d answers differ", differ, len(addrs))
	}
	if len(addrs) < 200 {
		t.Errorf("%d addresses only", len(addrs))
	}
}

var variant = regexp.MustCompile(`([CD])[0-5]E`)

func sameFrames(got, want []Frame) bool {
	if len(got) != len(want) {
		return false
	}
	for i, f := range got {
		if f.File != want[i].File || f.Line != want[i].Line || !sameName(f.Function, want[i].Function) {
			return false
		}
	}
	return true
}

// sameName compares names. Of a function without a linkage name in its debug
// information the tools print the plain name; dump takes the symbol's, or puts
// the names of the scopes in front. Of the variants of a constructor or
// destructor that share their code, one takes this and one that.
func sameName(got, want string) bool {
	if got == want {
		return true
	}
	if strings.HasPrefix(want, "_Z") {
		return variant.ReplaceAllString(got, "$1") == variant.ReplaceAllString(want, "$1")
	}
	plain, _, _ := strings.Cut(strings.TrimPrefix(want, "~"), "<")
	return strings.HasSuffix(got, "::"+want) || strings.HasPrefix(got, "_Z") &&
		(strings.Contains(got, strconv.Itoa(len(plain))+plain) || strings.HasPrefix(want, "operator"))
}

func frameText(frames []Frame) string {
	var b strings.Builder
	for _, f := range frames {
		fmt.Fprintf(&b, "  %s %s:%d\n", f.Function, f.File, f.Line)
	}
	return b.String()
}

func llvmAnswers(t *testing.T, out []byte) (all [][]Frame) {
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var a struct {
			Symbol []struct {
				FunctionName, FileName string
				Line                   uint32
			}
		}
		if err := dec.Decode(&a); err != nil {
			t.Fatal(err)
		}
		var frames []Frame
		for _, s := range a.Symbol {
			frames = append(frames, Frame{Function: s.FunctionName, File: s.FileName, Line: s.Line})
		}
		all = append(all, frames)
	}
	return all
}

// euAnswers reads an address, then two lines for each function: its name, with
// " inlined at ..." behind that of the innermost, and FILE:LINE[:COLUMN].
func euAnswers(t *testing.T, out []byte) (all [][]Frame) {
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	for i := 0; i < len(lines); {
		if strings.HasPrefix(lines[i], "0x") {
			all = append(all, nil)
			i++
			continue
		}
		name, _, _ := strings.Cut(lines[i], " inlined at ")
		fields := strings.Split(lines[i+1], ":")
		line, err := strconv.ParseUint(fields[1], 10, 32)
		if err != nil {
			t.Fatalf("%q: %v", lines[i+1], err)
		}
		last := len(all) - 1
		all[last] = append(all[last], Frame{Function: name, File: path.Clean(fields[0]), Line: uint32(line)})
		i += 2
	}
	return all
}
