package dropin

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/testenv"
)

// llvm-symbolizer and symtool under its name print the same, byte by byte, for addresses all over the code of
// fixtures. This is the only difference:
//
//   - LLVM does not find where functions are declared if DW_AT_decl_file has the form DW_FORM_implicit_const,
//     which GCC writes.
//
// Fixtures that it cannot read are not compared: those with dwz's supplementary files and with the split DWARF 4
// of .dwo files. It also names lambdas differently from c++filt, whose names symtool prints.
func TestOracleLLVMSymbolizer(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "llvm-symbolizer-22")
	for _, file := range []string{
		"clang-dwarf4.elf", "clang-dwarf5.elf", "gcc-dwarf2.elf", "gcc-dwarf4.elf", "gcc-dwarf5.elf", "gcc-dwarf64.elf", "gcc-O0.elf",
		"lto-clang.elf", "lto-gcc.elf", "hotcold-clang5.elf", "hotcold-gcc5.elf", "bbsections.elf", "line0.elf", "except.elf",
		"cpu-arm.elf", "cpu-arm64.elf", "cpu-i686.elf", "cpu-s390x.elf", "icf-lld.elf", "nodebug.elf", "nestedfn.elf",
	} {
		questions := codeAddresses(t, file, "0x%x\n")
		for _, options := range []string{
			"-a", "-p -a -s", "-a --output-style=GNU -f=short", "--output-style=JSON", "--verbose --no-inlines --relativenames --no-demangle",
		} {
			args := append(strings.Fields(options), "-e", testenv.Input(t, file))
			compareAnswers(t, file+" "+options, asked(t, questions, tool, args...),
				asked(t, questions, testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...))
		}
	}
}

// addr2line and symtool under its name print the same, byte by byte. Fixtures about which binutils are wrong are
// not compared: after LTO they take the caller's file for the callee's, of folded functions they take another
// name than the symbol table's last, they do not find inlined functions with DW_AT_ranges, and they stop reading
// at 64-bit DWARF.
func TestOracleAddr2line(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "addr2line")
	for _, file := range []string{
		"clang-dwarf4.elf", "clang-dwarf5.elf", "gcc-dwarf3.elf", "gcc-dwarf4.elf", "gcc-dwarf5.elf", "gcc-O0.elf", "nodebug.elf",
		"hotcold-gcc5.elf", "line0.elf", "except.elf",
	} {
		questions := codeAddresses(t, file, "%x\n")
		for _, options := range []string{"-a -f -i", "-fCip", "-f -s", ""} {
			args := append(strings.Fields(options), "-e", testenv.Input(t, file))
			compareAnswers(t, file+" "+options, asked(t, questions, tool, args...),
				asked(t, questions, testenv.Symtool(t), append([]string{"as", "addr2line"}, args...)...))
		}
	}
}

// codeAddresses returns addresses all over the code of a fixture, a line each.
func codeAddresses(t *testing.T, file, format string) string {
	t.Helper()
	f, err := objfile.Open(testenv.Input(t, file), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b strings.Builder
	for _, r := range f.ExecRanges() {
		for addr := r.Start; addr < r.End; addr += 5 {
			fmt.Fprintf(&b, format, addr)
		}
	}
	return b.String()
}

// asked returns what a program answers.
func asked(t *testing.T, questions, path string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(questions)
	out, err := cmd.Output()
	if err != nil {
		t.Errorf("%s %q: %v", path, args, err)
	}
	return out
}

// declared matches where LLVM names the file in which a function is declared.
var declared = regexp.MustCompile(`"StartFileName":"[^"]*"|start filename: .*`)

// compareAnswers compares answers line by line.
func compareAnswers(t *testing.T, what string, theirs, ours []byte) {
	t.Helper()
	want, got := bytes.Split(theirs, []byte("\n")), bytes.Split(ours, []byte("\n"))
	if len(want) < 10 {
		t.Errorf("%s: %d lines", what, len(want))
	}
	for i := range max(len(want), len(got)) {
		var w, g []byte
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		known := declared.FindAll(w, -1)
		g = declared.ReplaceAllFunc(g, func(name []byte) []byte {
			if len(known) == 0 {
				return name
			}
			first := known[0]
			known = known[1:]
			if string(first) == `"StartFileName":""` || string(first) == "start filename: <invalid>" {
				return first
			}
			return name
		})
		if !bytes.Equal(w, g) {
			t.Errorf("%s: line %d is\n%s, want\n%s", what, i+1, g, w)
			return
		}
	}
}

const asanSource = `
#include <cstdlib>
namespace ns {
struct Box {
  int *p;
  __attribute__((always_inline)) int get(int i) const { return p[i]; }
};
template <class T> __attribute__((noinline)) int read(T &b, int i) { return b.get(i) + 1; }
}
int main(int argc, char **argv) {
  ns::Box b{static_cast<int *>(malloc(12))};
  free(b.p);
  return ns::read(b, argc);
}
`

// The report of AddressSanitizer about a real crash is the same with symtool as with llvm-symbolizer.
func TestOracleSanitizer(t *testing.T) {
	testenv.Oracle(t)
	clang, llvm, dir := testenv.Tool(t, "clang++-22"), testenv.Tool(t, "llvm-symbolizer-22"), t.TempDir()
	source, program, link := filepath.Join(dir, "crash.cc"), filepath.Join(dir, "crash"), filepath.Join(dir, "llvm-symbolizer")
	if err := os.WriteFile(source, []byte(asanSource), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(clang, "-g", "-O1", "-fsanitize=address", source, "-o", program).CombinedOutput(); err != nil {
		t.Skipf("no runtime of AddressSanitizer: %v: %s", err, out)
	}
	if err := os.Symlink(testenv.Symtool(t), link); err != nil {
		t.Fatal(err)
	}
	theirs, ours := asanReport(program, llvm), asanReport(program, link)
	if theirs != ours {
		t.Errorf("report:\n%s\nwant:\n%s", ours, theirs)
	}
	if !strings.Contains(ours, "in ns::Box::get(int) const "+source+":6:64") {
		t.Errorf("no inlined function with its column:\n%s", ours)
	}
}

// varying matches what differs between runs: process ids and addresses.
var varying = regexp.MustCompile(`==[0-9]+==|0x[0-9a-f]{8,}`)

func asanReport(program, symbolizer string) string {
	cmd := exec.Command(program)
	cmd.Env = append(os.Environ(), "ASAN_SYMBOLIZER_PATH="+symbolizer)
	out, _ := cmd.CombinedOutput() // it crashes
	return varying.ReplaceAllString(string(out), "X")
}
