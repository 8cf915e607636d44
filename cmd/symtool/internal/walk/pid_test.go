package walk_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
)

const pidSource = `
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static volatile int spin = 1;
__attribute__((noinline)) void deep(int n) { if (n) deep(n - 1); else pause(); __asm__ volatile(""); }
__attribute__((noinline)) void busy(void) { while (spin); }
static void *sleeper(void *p) { deep(5); return p; }
static void *spinner(void *p) { busy(); return p; }
static void *ready(void *p) { puts("ready"); fflush(stdout); deep(2); return p; }
int main(void) {
	pthread_t t[3];
	pthread_create(&t[0], 0, sleeper, 0);
	pthread_create(&t[1], 0, spinner, 0);
	pthread_create(&t[2], 0, ready, 0);
	poll(0, 0, -1);
}
`

// ownNames returns the functions of the program itself in backtraces, thread by thread.
func ownNames(text, thread string, frame *regexp.Regexp) (threads []string) {
	for part := range strings.SplitSeq(text, thread) {
		var names []string
		for _, m := range frame.FindAllStringSubmatch(part, -1) {
			if slices.Contains([]string{"deep", "busy", "sleeper", "spinner", "ready", "main", "_start"}, m[1]) {
				names = append(names, m[1])
			}
		}
		if len(names) > 0 {
			threads = append(threads, strings.Join(names, " "))
		}
	}
	return threads
}

// TestOraclePID checks that the stacks of a running process are those that eu-stack prints, and
// that the process continues.
func TestOraclePID(t *testing.T) {
	testenv.Oracle(t)
	dir := testenv.WriteFiles(t, "live.c", pidSource)
	program := filepath.Join(dir, "live")
	out, err := exec.Command(testenv.Tool(t, "gcc"), "-g", "-O1", "-pthread", "-o", program, filepath.Join(dir, "live.c")).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd, _ := testenv.StartReady(t, program)
	pid := strconv.Itoa(cmd.Process.Pid)
	text, err := exec.Command(testenv.Symtool(t), "walk", "--brief", "--pid", pid).CombinedOutput()
	if strings.Contains(string(text), "ptrace is not permitted") {
		t.Skip("ptrace is not permitted")
	} else if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	peer, err := exec.Command(testenv.Tool(t, "eu-stack"), "-p", pid).Output()
	if err != nil {
		t.Fatal(err)
	}
	got := ownNames(string(text), "Thread ", regexp.MustCompile(`(?m)^ *\d+  live!(\w+)`))
	want := ownNames(string(peer), "TID ", regexp.MustCompile(`(?m)^#\d+ +0x[0-9a-f]+ (\w+)`))
	if len(want) != 4 || !slices.Equal(got, want) {
		t.Errorf("%q, want %q\n%s", got, want, text)
	}
	if status, err := os.ReadFile("/proc/" + pid + "/status"); err != nil || !strings.Contains(string(status), "TracerPid:\t0\n") {
		t.Errorf("afterwards: %v, %s", err, status)
	}
}

const vforkSource = `
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int main(void) {
	char c;
	int status;
	puts("ready");
	fflush(stdout);
	pid_t child = vfork();
	if (!child) {
		ssize_t n = read(0, &c, 1); /* until the test closes it */
		_exit(n == 0 ? 7 : 1);
	}
	return waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7 ? 0 : 1;
}
`

// TestOraclePIDInVfork checks a process in vfork, which cannot be stopped: this is reported, the
// wait ends at the limit, and the process continues.
func TestOraclePIDInVfork(t *testing.T) {
	testenv.Oracle(t)
	dir := testenv.WriteFiles(t, "vfork.c", vforkSource)
	program := filepath.Join(dir, "vfork")
	if out, err := exec.Command(testenv.Tool(t, "gcc"), "-g", "-o", program, filepath.Join(dir, "vfork.c")).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	state := func() string {
		status, _ := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/status")
		return string(status)
	}
	for !strings.Contains(state(), "State:\tD") {
		time.Sleep(time.Millisecond)
	}
	text, err := exec.Command(testenv.Symtool(t), "walk", "--stop-limit", "1100ms", "--pid", strconv.Itoa(cmd.Process.Pid)).CombinedOutput()
	if strings.Contains(string(text), "ptrace is not permitted") {
		t.Skip("ptrace is not permitted")
	}
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 || !strings.Contains(string(text), "waiting up to 1.1s for thread") ||
		!strings.Contains(string(text), "did not stop in 1.1s: its state is D (disk sleep)") {
		t.Errorf("%v: %s", err, text)
	}
	if s := state(); !strings.Contains(s, "TracerPid:\t0\n") {
		t.Errorf("afterwards: %s", s)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Errorf("the process that was captured: %v", err)
	}
}

// TestOracleJIT checks that a running process's generated code has the names that the process wrote to its perf map in
// /tmp, and lines of its jitdump file if it maps one.
func TestOracleJIT(t *testing.T) {
	testenv.Oracle(t)
	program := testenv.Compile(t, "gcc", string(testenv.ReadInput(t, "crashes", "src", "jitcode.c")), ".c", "-g", "-O2", "-fomit-frame-pointer")
	for _, removed := range []string{"", "jit-%s.dump", "perf-%s.map"} {
		cmd, _ := testenv.StartReady(t, program, "/tmp", "wait")
		pid := strconv.Itoa(cmd.Process.Pid)
		t.Cleanup(func() { os.Remove("/tmp/perf-" + pid + ".map"); os.Remove("/tmp/jit-" + pid + ".dump") })
		want := `inner \[prog.lang : 33 \+ 0x2\]\n.*!back .*\n.*jit-` + pid + `.dump!middle \[prog.lang : 22 \+ 0x2\]\n.*jit-` + pid + `.dump!outer \[prog.lang : 12 `
		if removed != "" {
			os.Remove("/tmp/" + strings.ReplaceAll(removed, "%s", pid))
		}
		if removed == "jit-%s.dump" {
			want = `perf-` + pid + `.map!inner \+ 0x11\n`
		}
		text, err := exec.Command(testenv.Symtool(t), "walk", "--brief", "--registers=false", "--pid", pid).CombinedOutput()
		if strings.Contains(string(text), "ptrace is not permitted") {
			t.Skip("ptrace is not permitted")
		}
		if err != nil || !regexp.MustCompile(want).Match(text) {
			t.Errorf("without %q: %v, want %s\n%s", removed, err, want, text)
		}
	}
}

const nodeSource = `
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
let sum = 0;
for (let i = 0; i < 50; i++) sum += fib(20); // optimized
console.log("ready");
for (;;) sum += fib(20);
`

// TestOracleNode checks that the function that Node runs has the name that Node wrote to its perf map, in the running
// process and in its core, and that the interpreter's frames below it are there.
func TestOracleNode(t *testing.T) {
	if !testenv.OracleFull() {
		t.Skip("make oracle-full runs Node")
	}
	dir := testenv.WriteFiles(t, "fib.js", nodeSource)
	cmd, _ := testenv.StartReady(t, testenv.Tool(t, "node"), "--perf-basic-prof", filepath.Join(dir, "fib.js"))
	pid := strconv.Itoa(cmd.Process.Pid)
	t.Cleanup(func() { os.Remove("/tmp/perf-" + pid + ".map") })
	core := filepath.Join(dir, "node.core")
	if out, err := exec.Command(testenv.Tool(t, "gdb"), "-nx", "-batch", "-p", pid, "-ex", "gcore "+core).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := regexp.MustCompile(` perf-` + pid + `.map!JS:\S?fib \S+/fib.js:2:13 \+ 0x[0-9a-f]+\n(.*\n)*.*node!`)
	for _, from := range [][]string{{"--pid", pid}, {core}} {
		text, err := exec.Command(testenv.Symtool(t), append([]string{"walk", "--brief", "--registers=false", "--no-debuginfod"}, from...)...).Output()
		if !want.Match(text) {
			t.Errorf("%q: %v, want %v\n%s", from, err, want, text)
		}
	}
}
