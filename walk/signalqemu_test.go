package walk

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// emulated is a CPU for which QEMU writes cores. gdb is how many frames gdb 13 finds in one: it does
// not know QEMU's page of code to which handlers return, how to continue from a handler with its own
// stack, or pointer authentication in cores. On arm64 it is stopped some frames before a handler's
// return, after which it would not end.
type emulated struct {
	name, qemu, compiler string
	flags                string
	gdb                  int
	stop                 bool
}

var emulators = []emulated{
	{"x86", "i386", "i686-linux-gnu-gcc", "", 27, false},
	// QEMU 7.2 misaligns the stack of a handler, which makes SSE instructions fault.
	{"x86_64", "x86_64", "gcc", "-mno-sse", 24, false},
	{"arm", "arm", "arm-linux-gnueabihf-gcc", "-marm", 14, false},
	{"thumb", "arm", "arm-linux-gnueabihf-gcc", "-mthumb", 14, false},
	{"arm64", "aarch64", "aarch64-linux-gnu-gcc", "", 9, true},
	{"arm64 with signed pointers", "aarch64", "aarch64-linux-gnu-gcc", "-mbranch-protection=pac-ret -march=armv8.3-a", 3, true},
	{"mips", "mips", "mips-linux-gnu-gcc", "", 25, false},
	{"mips64", "mips64", "mips64-linux-gnuabi64-gcc", "", 24, false},
	{"mips64el", "mips64el", "mips64el-linux-gnuabi64-gcc", "", 24, false},
	{"ppc", "ppc", "powerpc-linux-gnu-gcc", "", 23, false},
	{"ppc64", "ppc64", "powerpc64-linux-gnu-gcc", "", 12, false},
	{"ppc64le", "ppc64le", "powerpc64le-linux-gnu-gcc", "", 12, false},
	{"s390x", "s390x", "s390x-linux-gnu-gcc", "", 17, false},
}

// signalTruth lists the functions of signals.c on the stack.
var signalTruth = []string{
	"middle", "crash", "recurse", "recurse", "recurse", "compare", "compare", "sorted", "handler",
	"signal", "info", "signal", "raiser", "main",
}

// emulate compiles signals.c for a CPU and lets it crash.
func emulate(t *testing.T, e emulated) (core, program string) {
	t.Helper()
	dir := t.TempDir()
	program = filepath.Join(dir, "prog")
	args := append(strings.Fields("-O2 -g -static -funwind-tables -fno-optimize-sibling-calls -Wl,--build-id "+e.flags),
		"-o", program, testenv.Input(t, "src", "signals.c"))
	if out, err := exec.Command(testenv.Tool(t, e.compiler), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	// QEMU is killed by the same signal, and the kernel may write its core, too.
	run := exec.Command("sh", "-c", "ulimit -c unlimited && exec "+testenv.Tool(t, "qemu-"+e.qemu+"-static")+" -s 65536 ./prog")
	run.Dir = dir
	if err := run.Run(); err == nil {
		t.Fatal("the program did not crash")
	}
	for _, own := range []string{"core", fmt.Sprint("core.", run.ProcessState.Pid())} {
		os.Remove(filepath.Join(dir, own))
	}
	cores, _ := filepath.Glob(filepath.Join(dir, "qemu_prog_*.core"))
	if len(cores) != 1 {
		t.Fatalf("cores %v", cores)
	}
	return cores[0], program
}

// TestOracleSignals walks through both kinds of signal frames on every CPU for which QEMU writes cores,
// and compares with gdb and with the program's source.
func TestOracleSignals(t *testing.T) {
	if !testenv.OracleFull() {
		t.Skip("make oracle-full compiles and runs a program for 12 CPUs")
	}
	var all gdbTest
	walked := 0
	for _, e := range emulators {
		t.Run(e.name, func(t *testing.T) {
			core, program := emulate(t, e)
			bt := "bt 100"
			if e.stop {
				bt = fmt.Sprint("bt ", e.gdb)
			}
			out := oracle.GDBCore(t, core, program, "set backtrace past-main on", bt)
			want := walktest.LastBacktrace(t, out)
			if i := slices.IndexFunc(want, func(f walktest.GDBFrame) bool { return walktest.GDBName(f.Function) == "??" }); i >= 0 {
				want = want[:i] // where gdb is lost
			}
			if len(want) != e.gdb {
				t.Errorf("gdb has %d frames, want %d:\n%s", len(want), e.gdb, out)
			}
			r := walkWith(t, core, program)
			s := &r.Stacks[0]
			c := gdbTest{TB: t, names: sameAddress(t, program), first: [2]int{17, 12}}
			for k, f := range flat(s)[:min(len(want), len(flat(s)))] {
				c.frame(f, want[k], k)
			}
			if got := ownFunctions(s, "signals.c"); !slices.Equal(got, signalTruth) {
				t.Errorf("got %q, want %q as in the source", got, signalTruth)
			}
			if s.End != EndStart && s.End != EndZero {
				t.Errorf("ends by %v: %s", s.End, s.Why)
			}
			walked += len(s.Frames)
			all.frames, all.lines, all.aliases, all.signals = all.frames+c.frames, all.lines+c.lines, all.aliases+c.aliases, all.signals+c.signals
		})
	}
	t.Logf("%d frames walked, %d compared with gdb's with %d signal frames; other names of the same address: %d; lines of other rows: %d",
		walked, all.frames, all.signals, all.aliases, all.lines)
}

// ownFunctions returns the functions of a source file, and the returns of signal handlers.
func ownFunctions(s *Stack, file string) (names []string) {
	for _, f := range flat(s) {
		switch {
		case f.Handler:
			names = append(names, "signal")
		case filepath.Base(f.at.File) == file:
			names = append(names, f.at.Function)
		}
	}
	return names
}
