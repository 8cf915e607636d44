package dropin

import (
	"bytes"
	"fmt"
	"math/rand/v2"
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

// TestOracleLLVMSymbolizer checks that llvm-symbolizer and symtool under its name print the same bytes for addresses
// all over the code of fixtures. This is the only difference:
//
//   - LLVM does not find where functions are declared if DW_AT_decl_file has the form DW_FORM_implicit_const,
//     which GCC writes.
//
// Fixtures that it cannot read are not compared: those with dwz's supplementary files and with the split DWARF 4
// of .dwo files.
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

// TestOracleUniversal checks a binary in a universal file, in the form in which both programs name it.
func TestOracleUniversal(t *testing.T) {
	testenv.Oracle(t)
	tool, file := testenv.Tool(t, "llvm-symbolizer-22"), testenv.Input(t, "macho-fat.dSYM")
	var questions strings.Builder
	for addr := 0x1000006e0; addr < 0x1000007a0; addr++ {
		fmt.Fprintf(&questions, "%#x\nDATA %#x\n", addr, addr)
	}
	for _, options := range [][]string{{"--obj", file + ":arm64"}, {"--obj", file + ":x86_64"}, {"--default-arch=arm64", "-e", file}} {
		args := append([]string{"-a", "--output-style=JSON"}, options...)
		compareAnswers(t, strings.Join(args, " "), asked(t, questions.String(), tool, args...),
			asked(t, questions.String(), testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...))
	}
}

// TestOracleLLVMAddr2line checks that llvm-addr2line and symtool under its name print the same.
func TestOracleLLVMAddr2line(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "llvm-addr2line-22")
	for _, file := range []string{"clang-dwarf5.elf", "gcc-dwarf5.elf", "hotcold-gcc5.elf", "except.elf", "nodebug.elf"} {
		questions := codeAddresses(t, file, "%x\n") + "main\nmain+4\nnosuch\n"
		for _, options := range []string{"", "-f", "-fi", "-fiCpa -s", "-f --output-style=LLVM"} {
			args := append(strings.Fields(options), "-e", testenv.Input(t, file))
			compareAnswers(t, file+" "+options, asked(t, questions, tool, args...),
				asked(t, questions, testenv.Symtool(t), append([]string{"as", "llvm-addr2line"}, args...)...))
		}
	}
}

// TestOracleElfutils checks that eu-addr2line and symtool under its name print the same for addresses in functions.
// elfutils finds no lines in units that .debug_aranges does not list, such as clang's; these are not compared.
// Outside of functions, elfutils 0.188 prints symbols that have ended.
func TestOracleElfutils(t *testing.T) {
	testenv.Oracle(t)
	tool := testenv.Tool(t, "eu-addr2line")
	for _, file := range []string{"gcc-dwarf4.elf", "gcc-dwarf5.elf", "gcc-O0.elf", "except.elf"} {
		questions := functionAddresses(t, file)
		for _, options := range []string{"", "-f -i", "-f -i --pretty-print -a", "-C -f -s", "-f -x", "-f -i -S -C", "-x --pretty-print -i -f"} {
			args := append(append(strings.Fields(options), "-e", testenv.Input(t, file)), questions...)
			compareAnswers(t, file+" "+options, asked(t, "", tool, args...),
				asked(t, "", testenv.Symtool(t), append([]string{"as", "eu-addr2line"}, args...)...))
		}
	}
}

// TestOracleUndeclaredCode checks that code that belongs to a unit, but is in neither its ranges nor .debug_aranges,
// has the name of its symbol and no line.
func TestOracleUndeclaredCode(t *testing.T) {
	testenv.Oracle(t)
	dir := t.TempDir()
	source, assembly, program := filepath.Join(dir, "two.c"), filepath.Join(dir, "two.s"), filepath.Join(dir, "two")
	const text = "volatile int sink;\n__attribute__((noinline)) int inside(int n) {\n  sink = n;\n  return n + 1;\n}\n" +
		"__attribute__((noinline)) int beyond(int n) {\n  sink = n;\n  return n * 3;\n}\nint main(int c) { return inside(c) + beyond(c); }\n"
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	ran := func(args ...string) {
		if out, err := exec.Command(testenv.Tool(t, "gcc"), args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	ran("-g", "-O1", "-fno-toplevel-reorder", "-S", "-o", assembly, source)
	declares, err := os.ReadFile(assembly)
	if err != nil {
		t.Fatal(err)
	}
	const whole = "\t.quad\t.Letext0-.Ltext0\n"
	if n := bytes.Count(declares, []byte(whole)); n != 2 {
		t.Fatalf("%d declarations of code, want that of the unit and that of .debug_aranges", n)
	}
	if err := os.WriteFile(assembly, bytes.ReplaceAll(declares, []byte(whole), []byte("\t.quad\t.LFE0-.Ltext0\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	ran("-o", program, assembly)
	const questions = "inside\ninside+4\nbeyond\nbeyond+4\n0x1133\n0x113d\n0x1141\n0x1129\n"
	args := []string{"-a", "-e", program}
	compareAnswers(t, "undeclared code", asked(t, questions, testenv.Tool(t, "llvm-symbolizer-22"), args...),
		asked(t, questions, testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...))
	if answers := asked(t, questions, testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...); bytes.Count(answers, []byte("??:0:0")) != 5 {
		t.Errorf("beyond and main have lines:\n%s", answers)
	}
}

// functionAddresses returns addresses in the functions of the symbol table, one in every three bytes.
func functionAddresses(t *testing.T, file string) (all []string) {
	t.Helper()
	f, err := objfile.Open(testenv.Input(t, file), object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	err = f.Symbols(object.Symtab, func(s *object.Symbol) {
		for at := uint64(0); s.IsFunction() && !s.Undefined && at < s.Size; at += 3 {
			all = append(all, fmt.Sprintf("0x%x", s.Addr+at))
		}
	})
	if err != nil || len(all) < 10 {
		t.Fatalf("%d addresses: %v", len(all), err)
	}
	return all
}

// shapes is a program with inlined functions, some of them from the C++ library.
const shapes = `
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>
struct Shape { virtual double area() const = 0; virtual ~Shape() {} };
struct Square : Shape { double a; Square(double a) : a(a) {} double area() const override { return a * a; } };
template <class T> T total(const std::vector<std::unique_ptr<Shape>> &v) { T s{}; for (auto &p : v) s += p->area(); return s; }
int main(int argc, char **argv) {
  std::map<std::string, std::vector<int>> m;
  for (int i = 0; i < argc * 100; i++) m["k" + std::to_string(i % 7)].push_back(i * 31 % 17);
  for (auto &e : m) std::sort(e.second.begin(), e.second.end(), [](int a, int b) { return a % 5 < b % 5; });
  std::vector<std::unique_ptr<Shape>> v;
  v.emplace_back(new Square(2));
  std::function<int(int)> f = [&](int x) { return x + (int)m.size(); };
  printf("%d %f\n", f(3), total<double>(v));
  try { m.at("none"); } catch (std::exception &e) { puts(e.what()); }
}
`

const rustShapes = `
use std::collections::BTreeMap;
fn main() {
    let mut m: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (i, a) in std::env::args().enumerate() { m.entry(a).or_default().push(i as u32); }
    let t: u32 = m.values().flat_map(|v| v.iter()).map(|x| x * 2).sum();
    println!("{t} {:?}", m);
}
`

const plainC = `
#include <stdio.h>
static int fold(const char *s) { int h = 7; while (*s) h = h * 31 + *s++; return h; }
static inline int twice(int x) { return x * 2 + fold("a"); }
int table[64];
int fill(int n) { for (int i = 0; i < n; i++) table[i & 63] += twice(i) ^ fold("bc"); return table[n & 63]; }
int main(int argc, char **argv) {
  for (int i = 0; i < argc; i++) printf("%d %d\n", fold(argv[i]), fill(i));
  return 0;
}
`

// TestOracleRandomAddresses checks that llvm-symbolizer and symtool answer the same about 2,500 addresses of real
// programs in C, C++ and Rust, one of them with split DWARF. They differ in names with conditions, in which GCC and
// clang count substitutions differently: one of the programs leaves such names mangled.
func TestOracleRandomAddresses(t *testing.T) {
	testenv.Oracle(t)
	tool, dir := testenv.Tool(t, "llvm-symbolizer-22"), t.TempDir()
	for _, c := range []struct {
		name, source, text string
		build              []string
	}{
		{"c", "a.c", plainC, []string{"gcc", "-g", "-O2"}},
		{"cxx", "a.cc", shapes, []string{"clang++-22", "-g", "-O2"}},
		{"split", "b.cc", shapes, []string{"g++", "-g", "-O2", "-gsplit-dwarf"}},
		{"rust", "a.rs", rustShapes, []string{"rustc", "-g", "-Copt-level=2"}},
	} {
		if c.name == "rust" && !testenv.OracleFull() {
			continue
		}
		source, program := filepath.Join(dir, c.source), filepath.Join(dir, c.name)
		if err := os.WriteFile(source, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		build := exec.Command(testenv.Tool(t, c.build[0]), append(c.build[1:], source, "-o", program)...)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		questions := randomAddresses(t, program)
		for _, options := range []string{"-a --output-style=JSON", "-p -a -f=short"} {
			args := append(strings.Fields(options), "-e", program)
			compareAnswers(t, c.name+" "+options, asked(t, questions, tool, args...),
				asked(t, questions, testenv.Symtool(t), append([]string{"as", "llvm-symbolizer"}, args...)...))
		}
	}
}

// randomAddresses returns addresses in a program's code, one per line. They are the same in each run.
func randomAddresses(t *testing.T, path string) string {
	t.Helper()
	f, err := objfile.Open(path, object.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	random := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	for range 2500 {
		fmt.Fprintf(&b, "0x%x\n", text.Addr+random.Uint64N(uint64(text.Size())))
	}
	return b.String()
}

// TestOracleAddr2line checks that addr2line and symtool under its name print the same bytes. Fixtures for which
// binutils is wrong are not compared: after LTO it takes the caller's file for the callee's, for folded functions it
// takes another name than the symbol table's last, it does not find inlined functions with DW_AT_ranges, and it stops
// reading at 64-bit DWARF.
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

// codeAddresses returns addresses all over the code of a fixture, one per line.
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

// asked returns the output of a program for questions.
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

// declared matches LLVM's output of the file in which a function is declared.
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
		w, g = withoutNames(w, g)
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

// functionName matches the name of a function in JSON.
var functionName = regexp.MustCompile(`"FunctionName":"[^"]*"`)

// withoutNames replaces the names that exactly one of the programs leaves mangled.
func withoutNames(theirs, ours []byte) (_, _ []byte) {
	a, b := functionName.FindAll(theirs, -1), functionName.FindAll(ours, -1)
	for i := range min(len(a), len(b)) {
		mangled := []byte(`"FunctionName":"_Z`)
		if bytes.HasPrefix(a[i], mangled) != bytes.HasPrefix(b[i], mangled) {
			theirs, ours = bytes.Replace(theirs, a[i], nil, 1), bytes.Replace(ours, b[i], nil, 1)
		}
	}
	return theirs, ours
}
