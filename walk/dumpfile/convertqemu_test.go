package dumpfile_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/internal/walktest"
)

// qemuCPUs lists the CPUs for which QEMU 7.2 writes cores, with the compiler of each.
// RISC-V is not among them.
var qemuCPUs = []struct{ cpu, compiler string }{
	{"aarch64", "aarch64-linux-gnu-gcc"}, {"arm", "arm-linux-gnueabihf-gcc"}, {"i386", "i686-linux-gnu-gcc"},
	{"mips", "mips-linux-gnu-gcc"}, {"mips64", "mips64-linux-gnuabi64-gcc"}, {"mips64el", "mips64el-linux-gnuabi64-gcc"},
	{"ppc", "powerpc-linux-gnu-gcc"}, {"ppc64", "powerpc64-linux-gnu-gcc"}, {"ppc64le", "powerpc64le-linux-gnu-gcc"},
	{"s390x", "s390x-linux-gnu-gcc"},
}

// qemuCore compiles a program with two threads for a CPU and lets it crash.
func qemuCore(t *testing.T, cpu, compiler string) (core, program string) {
	t.Helper()
	emulator := testenv.Tool(t, "qemu-"+cpu+"-static")
	folder := t.TempDir()
	program = filepath.Join(folder, "prog")
	out, err := exec.Command(testenv.Tool(t, compiler), "-O1", "-g", "-static", "-pthread", "-Wl,--build-id", "-o", program,
		testenv.Input(t, "src", "threads.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited && exec "+emulator+" -s 65536 ./prog")
	cmd.Dir = folder
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")} // which is in the core
	if err := cmd.Run(); err == nil {
		t.Fatal("the program did not crash")
	}
	cores, _ := filepath.Glob(filepath.Join(folder, "qemu_prog_*.core"))
	if len(cores) != 1 {
		t.Fatalf("%s: cores %v", cpu, cores)
	}
	// The emulator's own core is ignored.
	for _, own := range []string{"core", fmt.Sprint("core.", cmd.ProcessState.Pid())} {
		os.Remove(filepath.Join(folder, own))
	}
	return cores[0], program
}

// gdb shows the same stacks for QEMU's cores of each CPU before and after conversion to
// minidumps and back, with and without symtool's own stream.
func TestOracleQEMU(t *testing.T) {
	if !testenv.OracleFull() {
		t.Skip("make oracle-full compiles and runs a program for ten CPUs")
	}
	frames, ids := 0, 0
	for _, c := range qemuCPUs {
		t.Run(c.cpu, func(t *testing.T) {
			core, program := qemuCore(t, c.cpu, c.compiler)
			d := walktest.Opened(t, core)
			if len(d.Threads) != 2 || len(d.Problems) > 0 || d.Crash == nil || d.Crash.Code != 11 || d.Main < 0 {
				t.Fatalf("%d threads, %v, %+v", len(d.Threads), d.Problems, d.Crash)
			}
			if len(d.Modules[d.Main].BuildID) > 0 {
				ids++
			}
			thereAndBack(t, core, d)
			want := backtrace(t, core, program, "scalars")
			if !strings.Contains(want, "in main (") || !strings.Contains(want, "in outer (") || !strings.Contains(want, "pause (") {
				t.Fatalf("gdb shows\n%s", want)
			}
			data, _ := walktest.Written(t, "minidump", d)
			compareBacktrace(t, want, "as minidump and core", walktest.Parsed(t, data), program, "scalars")
			if c.cpu != "s390x" { // others have no registers of it in minidumps
				compareBacktrace(t, want, "as others see it", walktest.Parsed(t, walktest.WithoutRest(t, data)), program, "scalars")
			}
			frames += strings.Count(want, "\n#")
		})
	}
	t.Logf("%d frames, %d build-ids in memory", frames, ids)
	if frames < 40 {
		t.Errorf("%d frames", frames)
	}
}
