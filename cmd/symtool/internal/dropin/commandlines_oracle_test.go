package dropin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// TestOracleCommandLines compares standard output and exit status for command lines that name missing files,
// symbols, parts of options, and addresses in other forms. The binary is FILE.
func TestOracleCommandLines(t *testing.T) {
	testenv.Oracle(t)
	for tool, lines := range map[string][]string{
		"addr2line": {
			"-e nofile 10", "-f -e nofile", "-e /dev/null 1", "-e / 1", "-f", "-e", "--nosuch", "-j .none -e FILE 1", "-j .text -fe FILE 0 10",
			"-afe FILE second second+8 second+0x8 nosuch nosuch+1 add 370 0x370g", "-fie FILE outside outside+4", "--func --exe FILE 370",
			"--pre --add --fun -e FILE 370", "--se=.text -e FILE 0", "-f -e FILE zz 0x -1", "-fpe FILE @LIST", "--s -e FILE 1",
		},
		"eu-addr2line": {
			"-e nofile 10", "-f -e nofile", "-e /dev/null 1", "-f", "-e", "--nosuch", "-j .none -e FILE 1", "-fe FILE nosuch second", "-fe FILE second nosuch",
			"-fe FILE zz+4x", "-fie FILE 0", "-fie FILE 0 second", "-Se FILE 0 1 0x3ff ffffffffffffffff", "-xe FILE second second+8 +370", "--func --exe FILE 370",
			"--b -e FILE 370", "--pretty -f -e FILE 370", "--s -e FILE 1",
		},
		"llvm-symbolizer-22": {
			"-e nofile 10", "-f -e nofile", "-e /dev/null 1", "-e / 1", "--output-style=JSON -e nofile 10", "--output-style=JSON -e / 10 11", "nofile 10",
			"--output-style=JSON -e /dev/null 10", "--func -e FILE 370", "-e FILE second nosuch 0x370", "-e",
		},
		"llvm-addr2line-22": {"-e nofile 10", "-fe FILE 370 second", "-e / 1", "--output-style=JSON -e nofile 1"},
	} {
		path := testenv.Tool(t, tool)
		list := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(list, []byte("370 480\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			line = strings.NewReplacer("FILE", testenv.Input(t, "gcc-dwarf5.elf"), "LIST", list).Replace(line)
			compareRuns(t, line, path, strings.TrimSuffix(tool, "-22"), strings.Fields(line))
		}
	}
}

// compareRuns runs a program, and symtool under its name, without input, and compares output and exit status.
// binutils print no file name if the FILE symbol has an empty name, as the linker's has.
func compareRuns(t *testing.T, what, tool, name string, args []string) {
	t.Helper()
	theirs, ours := ranPeer(t, tool, args...), ranSymtool(t, name, args...)
	theirs.out = bytes.ReplaceAll(theirs.out, []byte("\n:?\n"), []byte("\n??:?\n"))
	if string(theirs.out) == string(ours.out) && theirs.status == ours.status {
		return
	}
	want, got := strings.Split(string(theirs.out), "\n"), strings.Split(string(ours.out), "\n")
	n := 0
	for n < min(len(want), len(got)) && want[n] == got[n] {
		n++
	}
	t.Errorf("%s %s: status %d, from line %d on %.300q, want %d, %.300q", name, what, ours.status, n+1, got[n:], theirs.status, want[n:])
}

// TestOracleAliases checks that binutils and elfutils choose the same name as symtool if an address has
// several, or if a debug file has others.
func TestOracleAliases(t *testing.T) {
	testenv.Oracle(t)
	dir := t.TempDir()
	source, library := filepath.Join(dir, "a.c"), filepath.Join(dir, "a.so")
	const text = `int second(int n) { return n * 3; }
extern int first(int) __attribute__((alias("second"))), weak(int) __attribute__((weak, alias("second")));
static __attribute__((noinline)) int hidden(int n) { return n + 40; }
int last(int n) { return hidden(n) + 1; }
__asm__(".globl bare, naked\n.text\nbare: naked: nop\nnop\nnop\n.type sized,@function\n.globl sized\nsized: nop\nnop\n.size sized,2\n");
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	ran := func(name string, args ...string) {
		cmd := exec.Command(testenv.Tool(t, name), args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", name, err, out)
		}
	}
	addresses := func(file string) (all []string) {
		f, err := objfile.Open(file, object.DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for _, s := range f.Sections {
			for at := s.Addr; s.Alloc && at < s.Addr+s.MemSize; at += 1 + s.MemSize/100 {
				all = append(all, fmt.Sprintf("0x%x", at))
			}
		}
		return all
	}
	for _, build := range [][]string{{"-g", "-O1"}, {"-O1", "-s"}, {"-g", "-O1", "stripped"}} {
		stripped := build[len(build)-1] == "stripped"
		flags := []string{"-shared", "-fPIC", "-Wl,--build-id", "-o", library, source}
		ran("gcc", append(flags, build[:2]...)...)
		if stripped {
			ran("objcopy", "--only-keep-debug", library, library+".debug")
			ran("strip", library)
			ran("objcopy", "--add-gnu-debuglink="+library+".debug", library)
		}
		questions := append([]string{"-f", "-e", library}, addresses(library)...)
		compareRuns(t, strings.Join(build, " "), testenv.Tool(t, "addr2line"), "addr2line", questions)
		compareRuns(t, strings.Join(build, " "), testenv.Tool(t, "eu-addr2line"), "eu-addr2line", append([]string{"-S"}, questions...))
	}
}
