package resolve_test

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/symtool/symtool/cmd/symtool/internal/app"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
)

// logForm is a form of code locations in logs: a log of the program that prints it, and the meaning of the
// locations.
type logForm struct {
	name string
	// make returns a log, the folder with the binaries, and additional flags.
	make func(t *testing.T, dir string) (log, binaries string, flags []string)
	line string // a regular expression whose group "file" names a program in the folder
	file string // the program, if the log does not name it
	// addr returns the link-time address of a match in the program.
	addr  func(t *testing.T, f *elf.File, m map[string]string) uint64
	least int // minimum number of places with a source line
}

// TestOracleLogs checks that real logs of programs that print places of code have, after --filter, the functions
// and lines that llvm-symbolizer gives for the same addresses. TestOracleSanitizers does so for sanitizers,
// TestOracleMarkup for symbolizer markup, and TestOracleCrashReports for Apple's reports. There are no logs of
// Android and systemd here: resolve_logs.txtar has one that systemd-coredump printed, and others that were written
// by hand.
func TestOracleLogs(t *testing.T) {
	testenv.Oracle(t)
	for _, form := range logForms {
		t.Run(form.name, func(t *testing.T) {
			log, binaries, flags := form.make(t, t.TempDir())
			var out, errs bytes.Buffer
			args := append([]string{"symtool", "resolve", "--filter", "--binaries", binaries}, flags...)
			if status := app.Run(t.Context(), args, strings.NewReader(log), &out, &errs); status != cli.StatusOK {
				t.Fatalf("status %d: %s\n%s", status, errs.String(), log)
			}
			pattern := regexp.MustCompile(form.line)
			lines, got := strings.Split(log, "\n"), strings.Split(out.String(), "\n")
			if len(lines) != len(got) {
				t.Fatalf("%d lines, want %d:\n%s", len(got), len(lines), out.String())
			}
			found, asked := 0, map[string]string{}
			for i, line := range lines {
				for _, m := range pattern.FindAllStringSubmatch(line, -1) {
					fields := map[string]string{}
					for k, name := range pattern.SubexpNames() {
						fields[name] = m[k]
					}
					want := form.answer(t, filepath.Join(binaries, fields["file"]+form.file), fields, asked)
					if want == "" {
						continue
					}
					if found++; !strings.Contains(got[i], want) {
						t.Errorf("%s\nis\n%s\nwant\n%s", line, got[i], want)
					}
				}
			}
			if found < form.least {
				t.Errorf("%d places in the source, want %d:\n%s", found, form.least, log)
			}
		})
	}
}

// answer returns what --filter must write for a match: llvm-symbolizer's answer, or "" for code without source.
func (f *logForm) answer(t *testing.T, path string, fields, asked map[string]string) string {
	file, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	addr := f.addr(t, file, fields)
	key := fmt.Sprintf("%s %#x", path, addr)
	if want, ok := asked[key]; ok {
		return want
	}
	var frames []string
	for _, s := range oracle.LLVM(t, path, []uint64{addr}, "--functions=short")[0] {
		if s.Line == 0 {
			asked[key] = ""
			return ""
		}
		frames = append(frames, fmt.Sprintf("%s at %s:%d", s.Function, s.File, s.Line))
	}
	asked[key] = strings.Join(frames, ", inlined by ")
	return asked[key]
}

// places is a program that prints its own calls and mappings, and crashes.
const places = `
#include <execinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static inline __attribute__((always_inline)) int stack(void **to) { return backtrace(to, 32) + (to[0] == to); }
static __attribute__((noinline)) void leaf(int names) {
  void *at[32];
  int n = stack(at);
  if (names) backtrace_symbols_fd(at, n, 1);
  for (int i = 0; i < n && !names; i++) printf("called from %p\n", at[i]);
  fflush(stdout);
}
__attribute__((noinline)) void middle(int names) { leaf(names); puts(""); }
int main(int argc, char **argv) {
  if (argc > 1 && !strcmp(argv[1], "title")) argc = 1, strcpy(argv[0], "places: at work [local]");
  middle(argc < 2);
  if (argc > 1 && !strcmp(argv[1], "maps")) {
    char line[512];
    FILE *f = fopen("/proc/self/maps", "r"), *to = fopen(argv[2], "w");
    while (fgets(line, sizeof line, f)) fputs(line, to);
    fclose(to);
  }
  if (argc > 1 && !strcmp(argv[1], "crash")) *(volatile int *)16 = argc;
  if (argc > 1 && !strcmp(argv[1], "abort")) abort();
  return 0;
}
`

var logForms = []*logForm{
	{
		"backtrace_symbols", func(t *testing.T, dir string) (string, string, []string) {
			return output(t, compiled(t, dir, "gcc", "places.c", places, "-g", "-O2")), dir, nil
		},
		`/(?P<file>places)\(\+0x(?P<addr>[0-9a-f]+)\)`, "", linked, 3,
	},
	{
		"backtrace_symbols of a program with a title", func(t *testing.T, dir string) (string, string, []string) {
			return output(t, compiled(t, dir, "gcc", "places.c", places, "-g", "-O2"), "title"), dir, nil
		},
		`^(?P<file>places): at work \[local\]\(\+0x(?P<addr>[0-9a-f]+)\)`, "", linked, 3,
	},
	{
		"backtrace_symbols of exported functions", func(t *testing.T, dir string) (string, string, []string) {
			return output(t, compiled(t, dir, "gcc", "places.c", places, "-g", "-O2", "-rdynamic")), dir, nil
		},
		`/(?P<file>places)\((?P<symbol>\w+)\+0x(?P<addr>[0-9a-f]+)\)`, "", fromSymbol, 2,
	},
	{
		"backtrace_symbols at a fixed address", func(t *testing.T, dir string) (string, string, []string) {
			return output(t, compiled(t, dir, "gcc", "places.c", places, "-g", "-O2", "-no-pie")), dir, nil
		},
		`/(?P<file>places)\[0x(?P<addr>[0-9a-f]+)\]`, "", linked, 3,
	},
	{
		"addresses with --maps", func(t *testing.T, dir string) (string, string, []string) {
			program, maps := compiled(t, dir, "gcc", "places.c", places, "-g", "-O2", "-no-pie"), filepath.Join(dir, "maps.txt")
			return output(t, program, "maps", maps), dir, []string{"--maps", maps}
		},
		`called from 0x(?P<addr>[0-9a-f]{6})$`, "places", linked, 3,
	},
	{
		"addresses with --core", func(t *testing.T, dir string) (string, string, []string) {
			program, core := compiled(t, dir, "gcc", "places.c", places, "-g", "-O2"), filepath.Join(dir, "core.1")
			return oracle.CrashCore(t, core, program, "abort"), dir, []string{"--core", core}
		},
		`called from 0x(?P<addr>5555[0-9a-f]{8})$`, "places", func(t *testing.T, f *elf.File, m map[string]string) uint64 {
			return linked(t, f, m) - 0x555555554000 // gdb's load address of programs
		}, 3,
	},
	{
		"Linux about a signal", func(t *testing.T, dir string) (string, string, []string) {
			// A program whose code is not at the same offset in the file as in memory.
			return kernelMessage(t, compiled(t, dir, "gcc", "places.c", places, "-g", "-O2", "-Wl,-Ttext-segment=0x40000")), dir, nil
		},
		`segfault at .* in (?P<file>places)\[(?P<addr>[0-9a-f]+),`, "", inFile, 1,
	},
	{
		"Go about a signal", func(t *testing.T, dir string) (string, string, []string) {
			source, program := filepath.Join(dir, "deref.go"), filepath.Join(dir, "deref")
			testenv.WriteFile(t, source, []byte("package main\n\nimport \"unsafe\"\n\n//go:noinline\nfunc deref(p *int) int { return *p }\n\n"+
				"func main() { println(deref((*int)(unsafe.Pointer(uintptr(16))))) }\n"))
			if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return output(t, program), program, nil
		},
		`pc=0x(?P<addr>[0-9a-f]+)`, "", linked, 1,
	},
	{
		"perf script", func(t *testing.T, dir string) (string, string, []string) {
			const spin = "volatile long sink;\nstatic inline __attribute__((always_inline)) long mix(long x) { return x * 31 ^ (x >> 3); }\n" +
				"__attribute__((noinline)) long work(long n) {\n  long s = 1;\n  for (long i = 0; i < n; i++) {\n    s = mix(s) + i;\n    sink = s;\n  }\n  return s;\n}\n" +
				"int main() { return work(50000000) == 7; }\n"
			program, data := compiled(t, dir, "gcc", "spin.c", spin, "-g", "-O2"), filepath.Join(dir, "perf.data")
			perf := testenv.Tool(t, "perf")
			if out, err := exec.Command(perf, "record", "-q", "-e", "cpu-clock", "-g", "-o", data, program).CombinedOutput(); err != nil {
				t.Skipf("perf cannot record here: %v: %s", err, out)
			}
			return output(t, perf, "script", "-i", data, "--no-demangle", "--show-mmap-events"), dir, nil
		},
		`^\s+(?P<addr>[0-9a-f]+) \w+\+0x[0-9a-f]+ \(\S*/(?P<file>spin)\)$`, "", inFile, 10,
	},
	{
		"Java", hotspot, `C  \[(?P<file>libnative.so)\+0x(?P<addr>[0-9a-f]+)\]`, "", linked, 2,
	},
	{
		"minidump_stackwalk without lines", func(t *testing.T, dir string) (string, string, []string) {
			tool := testenv.BreakpadTool(t, "minidump_stackwalk")
			program, dump, store := filepath.Join(dir, "stripped", "stacks"), filepath.Join(dir, "stacks.dmp"), filepath.Join(dir, "store")
			// LLDB's dump, stacks.dmp.gz, has contexts that Breakpad does not know.
			core := filepath.Join(dir, "stacks.core")
			testenv.WriteFile(t, core, testenv.PlainInput(t, "crashes/stacks.core.gz"))
			testenv.Output(t, cli.StatusFindings, "convert", "--to", "minidump", "--binaries", testenv.Input(t, "crashes"), "-o", dump, core)
			if err := os.MkdirAll(filepath.Dir(program), 0o777); err != nil {
				t.Fatal(err)
			}
			output(t, testenv.Tool(t, "strip"), "-g", "-o", program, testenv.Input(t, "crashes", "stacks"))
			var errs bytes.Buffer // the program has no lines
			if status := app.Run(t.Context(), []string{"symtool", "dump", "--store", store, program}, nil, &errs, &errs); status > cli.StatusInput {
				t.Fatalf("status %d: %s", status, errs.String())
			}
			binaries := filepath.Join(dir, "binaries")
			if err := os.MkdirAll(binaries, 0o777); err != nil {
				t.Fatal(err)
			}
			testenv.WriteFile(t, filepath.Join(binaries, "stacks"), testenv.ReadInput(t, "crashes", "stacks"))
			return output(t, tool, dump, store), binaries, nil
		},
		`(?P<file>stacks)!(?P<symbol>\S+) \+ 0x(?P<addr>[0-9a-f]+)$`, "", fromSymbol, 3,
	},
	{
		"ThreadSanitizer", func(t *testing.T, dir string) (string, string, []string) {
			const race = "#include <pthread.h>\nint shared;\n__attribute__((noinline)) void *touch(void *p) {\n  shared++;\n  return p;\n}\nint main() {\n" +
				"  pthread_t a, b;\n  pthread_create(&a, 0, touch, 0);\n  pthread_create(&b, 0, touch, 0);\n  pthread_join(a, 0);\n  pthread_join(b, 0);\n  return 0;\n}\n"
			testenv.File(t, "/usr/lib/llvm-22/lib/clang/22/lib/linux/libclang_rt.tsan-x86_64.a", "libclang-rt-22-dev")
			t.Setenv("TSAN_OPTIONS", "symbolize=0")
			return output(t, compiled(t, dir, "clang-22", "race.c", race, "-g", "-O1", "-fsanitize=thread", "-Wl,--build-id")), dir, nil
		},
		`\((?P<file>race)\+0x(?P<addr>[0-9a-f]+)\)`, "", linked, 4,
	},
	{
		"boost::stacktrace", func(t *testing.T, dir string) (string, string, []string) {
			testenv.File(t, "/usr/include/boost/stacktrace.hpp", "libboost-dev")
			const text = "#include <boost/stacktrace.hpp>\n#include <iostream>\nextern \"C\" __attribute__((noinline)) void leaf() { std::cout << boost::stacktrace::stacktrace(); }\n" +
				"extern \"C\" __attribute__((noinline)) void middle() {\n  leaf();\n  asm(\"\");\n}\nint main() {\n  middle();\n  return 0;\n}\n"
			return output(t, compiled(t, dir, "g++", "places.cc", text, "-g", "-O1", "-no-pie")), dir, nil
		},
		`# 0x(?P<addr>[0-9A-F]+) in \S*/(?P<file>places)$`, "", linked, 3,
	},
	{
		"Linux about a stack", func(t *testing.T, dir string) (string, string, []string) {
			testenv.WriteFile(t, filepath.Join(dir, "vmlinux"), testenv.ReadInput(t, "kernel-high.elf"))
			return kernelStack(t, filepath.Join(dir, "vmlinux")), dir, nil
		},
		`(?P<symbol>\w+)\+0x(?P<addr>[0-9a-f]+)/0x[0-9a-f]+$`, "vmlinux", fromSymbol, 10,
	},
}

// compiled returns the path of a program that is compiled from a source.
func compiled(t *testing.T, dir, compiler, name, text string, flags ...string) string {
	t.Helper()
	source, program := filepath.Join(dir, name), filepath.Join(dir, strings.TrimSuffix(name, filepath.Ext(name)))
	testenv.WriteFile(t, source, []byte(text))
	args := append([]string{"-o", program, source}, flags...)
	if out, err := exec.Command(testenv.Tool(t, compiler), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return program
}

// output returns the output of a program, whatever its status.
func output(t *testing.T, program string, args ...string) string {
	t.Helper()
	out, err := exec.Command(program, args...).CombinedOutput()
	if len(out) == 0 && err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return string(out)
}

// kernelMessage crashes a program, and returns the kernel's message about it.
func kernelMessage(t *testing.T, program string) string {
	t.Helper()
	cmd := exec.Command(program, "crash")
	_ = cmd.Run() // it crashes
	out, err := exec.Command(testenv.Tool(t, "dmesg")).Output()
	if err != nil {
		t.Skipf("no messages of the kernel: %v", err)
	}
	mine := fmt.Sprintf("places[%d]: segfault at 10 ", cmd.Process.Pid)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, mine) {
			return line
		}
	}
	t.Skip("the kernel does not report signals")
	return ""
}

// kernelStack returns a stack with all functions of a file in the form in which the kernel prints it.
func kernelStack(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, s := range symbols {
		count[s.Name]++
	}
	var b strings.Builder
	b.WriteString("[   12.345678] Call Trace:\n[   12.345679]  <TASK>\n")
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || count[s.Name] > 1 {
			continue // the text does not say which of several is meant
		}
		for off := uint64(1); off < s.Size; off += s.Size/4 + 1 {
			fmt.Fprintf(&b, "[   12.345680]  ? %s+%#x/%#x\n", s.Name, off, s.Size)
		}
	}
	return b.String()
}

// hotspot crashes a Java program in a native function, and returns the report.
func hotspot(t *testing.T, dir string) (log, binaries string, flags []string) {
	java, log := testenv.Tool(t, "java"), filepath.Join(dir, "hs_err.log")
	source := filepath.Join(dir, "Crash.java")
	testenv.WriteFile(t, source, []byte("public class Crash {\n  static native int fail(int n);\n"+
		"  public static void main(String[] a) { System.load(a[0]); System.out.println(fail(3)); }\n}\n"))
	library := compiled(t, dir, "gcc", "libnative.c", "static __attribute__((noinline)) int store(volatile int *p, int n) { *p = n; return n + 1; }\n"+
		"int Java_Crash_fail(void *env, void *class, int n) { return store((int *)16, n) + 1; }\n", "-g", "-O1", "-shared", "-fPIC")
	if err := os.Rename(library, library+".so"); err != nil {
		t.Fatal(err)
	}
	output(t, java, "-XX:ErrorFile="+log, "-XX:-CreateCoredumpOnCrash", source, library+".so")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text), dir, nil
}

// linked interprets the address of a match as a link-time address.
func linked(t *testing.T, _ *elf.File, m map[string]string) uint64 {
	v, err := strconv.ParseUint(m["addr"], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// inFile interprets the address of a match as a file offset.
func inFile(t *testing.T, f *elf.File, m map[string]string) uint64 {
	off := linked(t, f, m)
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && off-p.Off < p.Filesz {
			return p.Vaddr + off - p.Off
		}
	}
	t.Fatalf("no segment has the offset %#x", off)
	return 0
}

// fromSymbol interprets the address of a match as the distance from a symbol.
func fromSymbol(t *testing.T, f *elf.File, m map[string]string) uint64 {
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Name == m["symbol"] && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			return s.Value + linked(t, f, m)
		}
	}
	t.Fatalf("no symbol %s", m["symbol"])
	return 0
}
