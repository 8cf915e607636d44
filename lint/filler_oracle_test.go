package lint

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// fillerSource has two functions in separate sections, and a call for which a linker makes a stub.
const fillerSource = `
extern int other(int);
__attribute__((aligned(64))) int first(int a) { return other(a) + 1; }
__attribute__((aligned(64))) int second(int a) { return a * 3; }
`

// ud2Script fills gaps between functions with ud2.
const ud2Script = `SECTIONS { . = 0x1000; .text : { *(.text .text.*) } =0x0f0b .data : { *(.data .data.*) } .dynamic : { *(.dynamic) } }`

// What linkers put between functions needs no name: ppc64le's offset of the TOC before __glink_PLTresolve, and filler
// of ud2. If the record of a function is missing, SYM504 or SYM505 reports it.
func TestLinkersFillings(t *testing.T) {
	testenv.Oracle(t)
	for _, c := range []struct {
		tool, linker string
		filling      []byte // in the code that remains
	}{
		{"powerpc64le-linux-gnu-gcc", "", nil},
		{"gcc", ud2Script, []byte{0x0f, 0x0b, 0x0f, 0x0b, 0x0f, 0x0b}},
	} {
		t.Run(c.tool, func(t *testing.T) {
			path := fillerProgram(t, c.tool, c.linker)
			f := symtest.Open(t, path)
			if c.filling != nil && !holdsCode(t, f, c.filling) {
				t.Fatal("the linker filled no gap")
			}
			text := string(testenv.Dump(t, path))
			if got := unnamed(t, text, f); len(got) > 0 {
				t.Errorf("%q", got)
			}
			at := strings.Index(text, "FUNC ")
			if end := at + strings.Index(text[at:], "\n") + 1; at < 0 || !strings.Contains(text[at:end], "first") {
				t.Fatalf("no FUNC first:\n%s", text)
			}
			if got := unnamed(t, withoutFirst(text), f); len(got) == 0 {
				t.Errorf("without a function: %q", got)
			}
		})
	}
}

// fillerProgram builds a library from fillerSource.
func fillerProgram(t *testing.T, tool, script string) string {
	t.Helper()
	dir := t.TempDir()
	source, out := filepath.Join(dir, "filler.c"), filepath.Join(dir, "filler.so")
	if err := os.WriteFile(source, []byte(fillerSource), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-g", "-O1", "-fPIC", "-shared", "-nostdlib", "-ffunction-sections", "-Wl,--build-id", source, "-o", out}
	if script != "" {
		file := filepath.Join(dir, "script.ld")
		if err := os.WriteFile(file, []byte(script), 0o644); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-Wl,-T,"+file)
	}
	if text, err := exec.Command(testenv.Tool(t, tool), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// unnamed returns the findings of SYM505, and of SYM504: where the linker names its stubs, the symbol of a function that
// is missing is between two PUBLICs.
func unnamed(t *testing.T, text string, f *object.File) (all []string) {
	t.Helper()
	for _, found := range lintBinary(t, []byte(text), f, Options{}).Findings {
		if found.Rule.ID == "SYM504" || found.Rule.ID == "SYM505" {
			all = append(all, found.String())
		}
	}
	return all
}

// withoutFirst drops the first FUNC of a text, with its lines and the PUBLICs of its name.
func withoutFirst(text string) string {
	var out strings.Builder
	inside := false
	for line := range strings.Lines(text) {
		kind, _, _ := strings.Cut(line, " ")
		if slices.Contains([]string{"FUNC", "PUBLIC", "STACK"}, kind) {
			inside = kind != "STACK" && strings.HasSuffix(line, " first\n")
		}
		if !inside {
			out.WriteString(line)
		}
	}
	return out.String()
}

// holdsCode reports whether the code of a file contains the bytes.
func holdsCode(t *testing.T, f *object.File, want []byte) bool {
	t.Helper()
	return slices.ContainsFunc(execcode.Parts(f), func(p execcode.Part) bool {
		data, err := p.Bytes()
		return err == nil && bytes.Contains(data, want)
	})
}
