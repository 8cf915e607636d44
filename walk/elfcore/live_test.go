package elfcore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/walk/dump"
)

const liveSource = `
#include <pthread.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>
char mark[] = "a mark in memory";
static void *wait(void *p) { pause(); return p; }
int main(int argc, char **argv) {
	pthread_t t;
	pthread_create(&t, 0, wait, 0);
	usleep(200000);
	if (!strcmp(argv[1], "crash"))
		*(volatile int *)0x18 = 1;
	puts("ready");
	fflush(stdout);
	pause();
}
`

// liveProgram compiles a program with two threads.
func liveProgram(t *testing.T) (folder, program string) {
	t.Helper()
	testenv.Oracle(t)
	folder = t.TempDir()
	program = filepath.Join(folder, "live")
	source := program + ".c"
	if err := os.WriteFile(source, []byte(liveSource), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "gcc"), "-g", "-Wl,--build-id", "-pthread", "-o", program, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return folder, program
}

// checkLive checks what must hold for the program, whichever program wrote the core.
func checkLive(t *testing.T, core, program string, pid int, arg string) *dump.Dump {
	t.Helper()
	data, err := os.ReadFile(core)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Read(data, core, Options{AtPaths: true, Tried: func(path, why string) { t.Log(path, why) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range d.Problems {
		t.Error(p)
	}
	if len(d.Threads) != 2 || d.Process.ID != uint32(pid) || len(d.Process.Args) != 2 || d.Process.Args[1] != arg {
		t.Errorf("%d threads, process %d (want %d), %q", len(d.Threads), d.Process.ID, pid, d.Process.Args)
	}
	if d.Main < 0 || d.Modules[d.Main].Path != program || len(d.Modules[d.Main].BuildID) == 0 {
		t.Fatalf("program %d of %+v", d.Main, d.Modules)
	}
	for _, thread := range d.Threads {
		i := d.ModuleAt(thread.Context.PC())
		if i < 0 || len(d.Memory.Bytes(thread.Context.PC(), 1)) == 0 || thread.Stack.Size == 0 {
			t.Errorf("thread %d: module %d, stack %v, or no code", thread.ID, i, thread.Stack)
		}
	}
	mark := 0
	for _, r := range d.Memory.Regions {
		mark += bytes.Count(r.Data, []byte("a mark in memory"))
	}
	if mark == 0 {
		t.Error("the program's data is not in memory")
	}
	if d.Linker == nil || len(d.Linker.Maps) < 3 {
		t.Errorf("linker: %+v", d.Linker)
	}
	return d
}

// A core that this machine's kernel writes.
func TestOracleKernelCore(t *testing.T) {
	folder, program := liveProgram(t)
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited && exec "+program+" crash")
	cmd.Dir = folder
	if err := cmd.Run(); err == nil {
		t.Fatal("the program did not crash")
	}
	cores, _ := filepath.Glob(filepath.Join(folder, "core*"))
	if len(cores) != 1 {
		t.Skip("the kernel writes no core into the folder (core_pattern)")
	}
	d := checkLive(t, cores[0], program, cmd.ProcessState.Pid(), "crash")
	if d.Crash == nil || d.Crash.Code != 11 || d.Crash.Address != 0x18 || d.Crash.Thread != d.Process.ID {
		t.Errorf("crash %+v", d.Crash)
	}
}

// A core that gdb's gcore writes of a process that continues.
func TestOracleGCore(t *testing.T) {
	folder, program := liveProgram(t)
	gcore := testenv.Tool(t, "gcore")
	cmd, ready := testenv.StartReady(t, program, "wait")
	if !strings.HasPrefix(ready, "ready") {
		t.Fatalf("the program says %q, want ready", ready)
	}
	testenv.Until(t, "the process to pause", func() bool {
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
		return bytes.Contains(stat, []byte(") S "))
	})
	if out, err := exec.Command(gcore, "-o", filepath.Join(folder, "core"), fmt.Sprint(cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	d := checkLive(t, filepath.Join(folder, fmt.Sprint("core.", cmd.Process.Pid)), program, cmd.Process.Pid, "wait")
	if d.Crash != nil && d.Crash.HasAddress {
		t.Errorf("crash %+v", d.Crash)
	}
}
