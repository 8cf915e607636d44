package dropin

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

// waiting is a program with two threads that wait in an inlined function, below other functions, one of which is a
// signal handler.
const waiting = `
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
namespace ns {
static inline __attribute__((always_inline)) int stop(int x) { pause(); return x + 1; }
template <class T> __attribute__((noinline)) T outer(T x) { return stop(x) * 2; }
}
static void handler(int n) { ns::outer(n); }
__attribute__((noinline)) static void *work(void *p) { ns::outer(1L); return p; }
int main() {
  pthread_t t;
  pthread_create(&t, nullptr, work, nullptr);
  signal(SIGUSR1, handler);
  raise(SIGUSR1);
  pthread_join(t, nullptr);
  return 0;
}
`

// secondName matches a name in libc for whose address the assembler's debug information also has another name:
// elfutils take the first function of the two; symtool, like LLVM, takes the last.
var secondName = regexp.MustCompile(`\b__clone3\b`)

// TestOracleStacks checks that eu-stack and symtool under its name print the same stacks of a process and of its
// core, and that eu-unstrip -n prints the same modules. Lists of the core's modules are not compared, because
// elfutils gives libraries other ends there.
func TestOracleStacks(t *testing.T) {
	testenv.Oracle(t)
	stack, unstrip, gcore, dir := testenv.Tool(t, "eu-stack"), testenv.Tool(t, "eu-unstrip"), testenv.Tool(t, "gcore"), t.TempDir()
	testenv.File(t, "/usr/lib/debug/.build-id", "libc6-dbg")
	source, program := filepath.Join(dir, "waiting.cc"), filepath.Join(dir, "waiting")
	if err := os.WriteFile(source, []byte(waiting), 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(testenv.Tool(t, "g++"), "-g", "-O1", "-pthread", source, "-o", program).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	process := exec.Command(program)
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	defer process.Wait() // it was killed
	defer process.Process.Kill()
	pid := strconv.Itoa(process.Process.Pid)
	settled(t, pid)
	for _, options := range []string{"", "-1", "-a", "-b", "-d", "-i", "-l", "-m", "-n 2", "-n 0", "-n 3 -i", "-q", "-r", "-r -d", "-s", "-v", "-b -s", "-q -i -s"} {
		compareStacks(t, stack, "eu-stack", append(strings.Fields(options), "-p", pid), 9)
	}
	compareStacks(t, unstrip, "eu-unstrip", []string{"-n", "-p", pid}, 5)
	core := filepath.Join(dir, "core")
	if out, err := exec.Command(gcore, "-o", core, pid).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, options := range []string{"", "-1", "-a -b", "-i -s", "-m", "-v", "-n 2"} {
		compareStacks(t, stack, "eu-stack", append(strings.Fields(options), "-e", program, "--core", core+"."+pid), 9)
	}
}

// pauseCall is the number of the system call on x86-64.
const pauseCall = "34 "

// settled waits until both threads of a process are waiting.
func settled(t *testing.T, pid string) {
	t.Helper()
	for range 500 {
		states, err := filepath.Glob("/proc/" + pid + "/task/*/syscall")
		waiting := 0
		for _, path := range states {
			if text, err := os.ReadFile(path); err == nil && strings.HasPrefix(string(text), pauseCall) {
				waiting++
			}
		}
		if err == nil && waiting == 2 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("its threads do not wait in pause")
}

func compareStacks(t *testing.T, tool, name string, args []string, lines int) {
	t.Helper()
	theirs, ours := ranPeer(t, tool, args...), ranSymtool(t, name, args...)
	want, got := secondName.ReplaceAllString(string(theirs.out), "clone3"), secondName.ReplaceAllString(string(ours.out), "clone3")
	if got != want || ours.status != theirs.status {
		t.Errorf("%s %q: status %d, want %d\n%s\nwant\n%s", name, args, ours.status, theirs.status, got, want)
	}
	if strings.Count(want, "\n") < lines && !strings.Contains(strings.Join(args, " "), "-n") && args[0] != "-1" {
		t.Errorf("%s %q: %d lines, want %d", name, args, strings.Count(want, "\n"), lines)
	}
}
