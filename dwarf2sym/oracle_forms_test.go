package dwarf2sym_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/symtest"
	"github.com/symtool/symtool/internal/testenv"
)

// form is a way to separate a program from its debug information, or to strip it. The
// commands run in a folder in which the program is named full; they produce file, and a
// debug file where it is searched for.
type form struct {
	name  string
	steps string // a shell script; $ID is the build-id, as a path below a debug folder
	lost  bool   // the debug information is lost: only PUBLIC and STACK CFI remain
	large bool   // also used for libc in the short run: one form of each kind
}

// forms are the forms that tools make. In all but the last ones, the symbol file is, byte
// for byte, the program's.
var forms = []form{
	{name: "objcopy", large: true, steps: `objcopy --only-keep-debug full x.debug; strip -s full -o file; objcopy --add-gnu-debuglink=x.debug file`},
	{name: "objcopy strip -g", steps: `objcopy --only-keep-debug full x.debug; strip -g full -o file; objcopy --add-gnu-debuglink=x.debug file`},
	{name: "objcopy zstd", steps: `objcopy --only-keep-debug --compress-debug-sections=zstd full x.debug; strip -s full -o file; objcopy --add-gnu-debuglink=x.debug file`},
	{name: "llvm-objcopy", steps: `llvm-objcopy-22 --only-keep-debug full x.debug; llvm-objcopy-22 --strip-all --add-gnu-debuglink=x.debug full file`},
	{name: "eu-strip", steps: `eu-strip -f file.debug -o file full`},
	{name: "eu-strip -g", steps: `eu-strip -g -f file.debug -o file full`},
	{name: "eu-strip permissive", steps: `eu-strip --remove-comment --permissive -f file.debug -o file full`},
	{name: "FILE.debug", steps: `objcopy --only-keep-debug full file.debug; strip -s full -o file`},
	{name: ".debug", steps: `mkdir .debug; objcopy --only-keep-debug full .debug/x.debug; strip -s full -o file; objcopy --add-gnu-debuglink=.debug/x.debug file`},
	{name: "build-id", steps: `mkdir -p $(dirname lib/$ID); objcopy --only-keep-debug full lib/$ID.debug; strip -s full -o file`},
	{name: "whole copy", steps: `mkdir -p $(dirname lib/$ID); cp full lib/$ID.debug; strip -s full -o file`},
	{name: "moved", large: true, steps: `objcopy --only-keep-debug full x.debug; strip -s full -o file; objcopy --add-gnu-debuglink=x.debug file; objcopy --change-addresses=0x7000000 file`},
	{name: "moved strip -g", steps: `eu-strip -g -f x.debug -o file full; objcopy --change-addresses=0x7000000 file`},
	{name: "strip -g", steps: `strip -g full -o file`, lost: true},
	{name: "strip -s", large: true, steps: `strip -s full -o file`, lost: true},
	{name: "minidebug", steps: minidebug + `strip -s full -o file; objcopy --add-section .gnu_debugdata=mini.xz file`, lost: true},
	{name: "minidebug moved", large: true, steps: minidebug + `strip -s full -o file; objcopy --add-section .gnu_debugdata=mini.xz file; objcopy --change-addresses=0x7000000 file`, lost: true},
}

// minidebug makes .gnu_debugdata like RPM's find-debuginfo.
const minidebug = `
nm -D full --format=posix --defined-only | cut -d ' ' -f 1 | sort >dynsyms
nm full --format=posix --defined-only | awk '$2 ~ /[TtD]/ { print $1 }' | sort | comm -13 dynsyms - >keep
objcopy --only-keep-debug full mini.debug
objcopy -S --remove-section .gdb_index --remove-section .comment --keep-symbols=keep mini.debug mini
xz mini
`

// formBuilds are the programs that are split. eu-addr2line finds no units without
// .debug_aranges, which clang writes only with -gdwarf-aranges.
var formBuilds = []matrixBuild{
	cxxBuild("forms-gcc", gxx, "-O2", "-Wl,--build-id").quick().made(),
	cxxBuild("forms-clang", clxx, "-O2", "-gdwarf-aranges", "-Wl,--build-id"),
	cxxBuild("forms-static-pie", gxx, "-O2", "-static-pie", "-Wl,--build-id"),
	cBuild("forms-no-pie", gcc, "-O2", "-no-pie", "-Wl,--build-id"),
	cBuild("forms-debug-frame", gcc, "-O2", "-fno-asynchronous-unwind-tables", "-Wl,--build-id").quick(),
	cBuild("forms-clang-no-pie", clang, "-O2", "-gdwarf-aranges", "-no-pie", "-Wl,--build-id").quick(),
}

// Every form of a program gives the symbols of the program: all of them if the debug
// information is in another file, otherwise those that nm and eu-readelf find, at each of
// their addresses.
func TestOracleForms(t *testing.T) {
	testenv.Oracle(t)
	for _, tool := range []string{"objcopy", "strip", "nm", "llvm-objcopy-22", "eu-strip", "eu-readelf", "eu-addr2line", "xz"} {
		testenv.Tool(t, tool)
	}
	symtool := symtoolBinary(t)
	for _, b := range formBuilds {
		if !b.fast && !testenv.OracleFull() {
			continue
		}
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			compareForms(t, symtool, b.build(t).file, forms)
		})
	}
	t.Run("libc", func(t *testing.T) {
		t.Parallel()
		libc := libcFiles(t)
		full := filepath.Join(t.TempDir(), "libc")
		run(t, testenv.Tool(t, "eu-unstrip"), "-o", full, libc.file, libc.debug)
		pair := dumpNamed(t, symtool, libc.file)
		if whole := dumpNamed(t, symtool, full); !bytes.Equal(pair, whole) {
			t.Errorf("the pair and eu-unstrip's file of both differ: %s", firstDifference(pair, whole))
		}
		t.Logf("%d lines are the same in the pair and in eu-unstrip's file of both", bytes.Count(pair, []byte("\n")))
		of := forms
		if !testenv.OracleFull() {
			of = slices.DeleteFunc(slices.Clone(forms), func(f form) bool { return !f.large })
		}
		compareForms(t, symtool, full, of)
	})
}

// dumpNamed dumps a file under one name. Nothing may be fetched or found outside
// the files of the form. Rules of instructions are left out: objcopy moves no addresses in the table of the linker.
func dumpNamed(t *testing.T, symtool, file string, args ...string) []byte {
	t.Helper()
	if len(args) == 0 {
		args = []string{"--debug-dir", "/usr/lib/debug"}
	}
	return run(t, symtool, append([]string{"dump", "--name", "program", "--no-debuginfod", "--cfi", "dwarf", file}, args...)...)
}

func firstDifference(a, b []byte) string {
	x, y := bytes.Split(a, []byte("\n")), bytes.Split(b, []byte("\n"))
	for i := range min(len(x), len(y)) {
		if !bytes.Equal(x[i], y[i]) {
			return fmt.Sprintf("line %d: %q, %q", i+1, x[i], y[i])
		}
	}
	return fmt.Sprintf("%d and %d lines", len(x), len(y))
}

func compareForms(t *testing.T, symtool, full string, forms []form) {
	whole := dumpNamed(t, symtool, full)
	if n := bytes.Count(whole, []byte("\nFUNC ")); n < 10 {
		t.Fatalf("%d functions", n)
	}
	for _, f := range forms {
		t.Run(f.name, func(t *testing.T) {
			dir := t.TempDir()
			copyFile(t, full, filepath.Join(dir, "full"))
			cmd := exec.Command("sh", "-euc", f.steps)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "LC_ALL=C", "ID=.build-id/"+strings.TrimSuffix(buildIDPath(t, full), ".debug"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			file := filepath.Join(dir, "file")
			if f.lost {
				compareStripped(t, symtool, file, whole)
				return
			}
			text := dumpNamed(t, symtool, file, "--debug-dir", filepath.Join(dir, "lib"))
			if !bytes.Equal(text, whole) {
				t.Errorf("differs from the program: %s", firstDifference(text, whole))
			}
			if strings.HasPrefix(f.name, "moved") {
				compareAddr2line(t, file, text)
			}
		})
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// compareAddr2line runs eu-addr2line, which finds the debug file by itself, and compares the
// file and line at each line record of a moved program.
func compareAddr2line(t *testing.T, file string, text []byte) {
	sym, err := readSymFile(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	base := loadBase(t, file)
	var addrs []uint64
	var want []string
	for _, f := range sym.funcs {
		for _, l := range f.lines {
			if l.line > 0 && sym.files[l.file] != "??" {
				addrs = append(addrs, base+l.lo)
				want = append(want, fmt.Sprintf("%s:%d", filepath.Base(sym.files[l.file]), l.line))
			}
		}
	}
	wrong := 0
	for i, frames := range oracle.EUAddr2line(t, file, addrs) {
		if got := fmt.Sprintf("%s:%d", filepath.Base(frames[0].File), frames[0].Line); got != want[i] {
			if wrong++; wrong < 5 {
				t.Errorf("%#x: %s, eu-addr2line %s", addrs[i], want[i], got)
			}
		}
	}
	t.Logf("%d addresses compared with eu-addr2line, %d differ", len(want), wrong)
	if wrong > 0 || len(want) < 100 {
		t.Errorf("%d of %d differ", wrong, len(want))
	}
}

// compareStripped checks what remains of a stripped program: the STACK records of the whole
// one, or those that did not come from .debug_frame, and one PUBLIC with a right name at
// each address that has code according to nm or eu-readelf.
func compareStripped(t *testing.T, symtool, file string, whole []byte) {
	cmd := exec.Command(symtool, "dump", "--name", "program", "--no-debuginfod", "--debug-dir", "none", "--cfi", "dwarf", file)
	text, err := cmd.Output()
	if cmd.ProcessState.ExitCode() != 3 {
		t.Fatalf("status %d, want 3 for no debug information: %v", cmd.ProcessState.ExitCode(), err)
	}
	var publics, stack []string
	for line := range strings.Lines(string(text)) {
		switch kind, _, _ := strings.Cut(line, " "); kind {
		case "PUBLIC":
			publics = append(publics, line)
		case "STACK":
			stack = append(stack, line)
		case "MODULE", "INFO":
		default:
			t.Fatalf("unexpected record %q", line)
		}
	}
	compareStack(t, stack, whole)
	comparePublics(t, file, publics)
}

func compareStack(t *testing.T, stack []string, whole []byte) {
	var all []string
	for line := range strings.Lines(string(whole)) {
		if strings.HasPrefix(line, "STACK ") {
			all = append(all, line)
		}
	}
	if slices.Equal(stack, all) {
		t.Logf("%d STACK records, all of the program's", len(all))
		return
	}
	known := map[string]bool{}
	for _, line := range all {
		known[line] = true
	}
	for _, line := range stack {
		if !known[line] {
			t.Errorf("the program has no record %q", line)
		}
	}
	t.Logf("%d of %d STACK records: the others were in .debug_frame", len(stack), len(all))
	if !strings.Contains(t.Name(), "debug-frame") && !strings.Contains(t.Name(), "libc") {
		t.Errorf("%d of %d STACK records", len(stack), len(all))
	}
}

// comparePublics compares PUBLIC records with the symbols that other tools
// find.
func comparePublics(t *testing.T, file string, publics []string) {
	t.Helper()
	base, code := loadBase(t, file), codeOf(t, file)
	delta := miniDelta(t, file)
	raw := map[uint64][]string{}
	for _, s := range symbolsOf(t, file, delta) {
		if slices.ContainsFunc(code, func(r [2]uint64) bool { return r[0] <= s.addr && s.addr < r[1] }) {
			name, _, _ := strings.Cut(s.name, "@")
			raw[s.addr] = append(raw[s.addr], name)
		}
	}
	names := readNames(t, slices.Compact(slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(raw))...)))))
	seen := map[uint64]bool{}
	for _, line := range publics {
		p := strings.SplitN(strings.TrimSuffix(strings.Replace(line, "PUBLIC m ", "PUBLIC ", 1), "\n"), " ", 4)
		rva, err := strconv.ParseUint(p[1], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		seen[rva] = true
		if !slices.ContainsFunc(raw[base+rva], func(s string) bool {
			_, same := sameName(p[3], names[s])
			return same || s == p[3] || names[s].gnu == p[3]
		}) {
			t.Errorf("%q: other tools have %q there", line, raw[base+rva])
		}
	}
	missing := 0
	for addr := range raw {
		if !seen[addr-base] {
			if missing++; missing < 5 {
				t.Errorf("no PUBLIC at %#x, where others have %q", addr, raw[addr])
			}
		}
	}
	t.Logf("%d PUBLIC records, %d addresses with symbols, %d missing", len(publics), len(raw), missing)
}

type namedAddr struct {
	addr uint64
	name string
}

// miniDelta returns the number to add to addresses in .gnu_debugdata.
func miniDelta(t *testing.T, file string) uint64 {
	if strings.HasSuffix(t.Name(), "moved") {
		return 0x7000000
	}
	return 0
}

// symbolsOf lists the symbols of functions and the untyped symbols of code: those that nm
// lists in .symtab or, if there is none, .dynsym, and those that eu-readelf lists in
// .gnu_debugdata.
func symbolsOf(t *testing.T, file string, delta uint64) (out []namedAddr) {
	t.Helper()
	nm := func(args ...string) {
		for line := range strings.Lines(string(run(t, "nm", append(args, "--defined-only", "--format=posix", file)...))) {
			p := strings.Fields(line)
			if len(p) < 3 || !strings.Contains("TtWwi", p[1]) {
				continue
			}
			addr, err := strconv.ParseUint(p[2], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, namedAddr{addr, p[0]})
		}
	}
	nm("--quiet")
	if len(out) > 0 {
		return out
	}
	nm("-D", "--quiet")
	if f := symtest.Open(t, file); f.Section(".gnu_debugdata") == nil {
		return out
	}
	for _, s := range oracle.ReadSymbols(oracle.EUReadelf(t, file, "-s", "--elf-section=.gnu_debugdata"), ".symtab") {
		if slices.Contains([]string{"FUNC", "NOTYPE", "GNU_IFUNC"}, s.Type) && s.Section != "UNDEF" && s.Section != "ABS" {
			out = append(out, namedAddr{s.Addr + delta, s.Name})
		}
	}
	return out
}
