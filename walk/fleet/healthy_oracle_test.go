package fleet_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/oracle"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/fleet"
	"github.com/symtool/symtool/walk/verify"
)

// The verdict on a process at rest blames nothing, for the live process and for gcore's core. Its stacks have at least
// the frames that gdb finds, compared by their addresses.
//
// Where we differ: gdb also prints frames of functions that have ended with a tail call, if they can have been called
// in only one way; we never do, because they are not on the stack. After compiled code of Java and JavaScript,
// functions of Go's runtime that change the stack, and code without rules, gdb continues with the words that it finds;
// those frames are not counted.
func TestOracleHealthy(t *testing.T) {
	testenv.Oracle(t)
	h := &healthyTest{dir: t.TempDir()}
	names := map[string]bool{}
	for _, p := range healthyProcesses {
		if names[p.name] {
			t.Fatalf("two processes are called %s", p.name)
		}
		names[p.name] = true
		if !p.short && !testenv.OracleFull() {
			continue
		}
		t.Run(p.name, func(t *testing.T) { h.check(t, &p) })
	}
	want := 12
	if testenv.OracleFull() {
		want = 60
	}
	if h.ran < want {
		t.Errorf("%d kinds of processes, want %d", h.ran, want)
	}
}

// healthy is a kind of process.
type healthy struct {
	name  string
	build string // the command, in which $OUT is the program, if there is one
	run   string // the command, in which $OUT is the program and $DATA the folder of sources
	short bool   // for make oracle, too

	needs, file string // a program, or a file and its package, that make oracle-full installs
	optional    string // a program: without it, the process is left out

	child bool     // the process is the first child of the one that runs
	stop  bool     // it does not rest, and is stopped
	want  []string // functions of a thread, in this order, possibly among others
	lacks string   // why the binary is to blame: it lacks rules for some code; "" if it has them all
}

type healthyTest struct {
	dir string
	ran int
}

// gdbFrame is a frame of gdb.
type gdbFrame struct {
	kind, name string
	pc         uint64
}

func (h *healthyTest) check(t *testing.T, p *healthy) {
	switch _, err := exec.LookPath(p.optional); {
	case p.optional != "" && err != nil:
		t.Skip(err)
	case p.file != "":
		testenv.File(t, p.file, p.needs)
	case p.needs != "":
		testenv.Tool(t, p.needs)
	}
	h.ran++
	pid := h.start(t, p)
	core := filepath.Join(t.TempDir(), "core")
	live := walkHealthy(t, dumpfile.Options{PID: pid}, "process")
	want := gdbFrames(t, pid, core)
	if len(want) == 0 {
		t.Fatal("gdb finds no threads")
	}
	dead := walkHealthy(t, dumpfile.Options{}, core)
	for from, w := range map[string]*fleet.Walked{"live": live, "core": dead} {
		if w.Err != nil {
			t.Fatalf("%s: %v", from, w.Err)
		}
		if lacks := strings.Contains(w.Verdict.Conclusion, "binary has no rules"); w.Verdict.Blame != "" && !(lacks && p.lacks != "") {
			t.Errorf("%s: %s", from, w.Verdict.Conclusion)
		}
		for thread, frames := range want {
			compareHealthy(t, p, from, w.Result, thread, frames)
		}
		if !slices.ContainsFunc(w.Stacks, func(s walk.Stack) bool { return p.want == nil || hasFunctions(&s, p.want) }) {
			t.Errorf("%s: no thread has the functions %q", from, p.want)
		}
	}
}

// walkHealthy walks a process or a core.
func walkHealthy(t *testing.T, o dumpfile.Options, path string) *fleet.Walked {
	t.Helper()
	binaries, err := supplier.NewBinaries(nil, supplier.BinaryOptions{AtPaths: true, DebugDirs: []string{"/usr/lib/debug"}})
	if err != nil {
		t.Fatal(err)
	}
	sources := walk.NewSymbolSet(nil, binaries)
	t.Cleanup(func() { sources.Close() })
	thresholds := verify.Default()
	o.Core = elfcore.Options{AtPaths: true, Spare: true}
	b := fleet.Runner{Open: o, Symbols: sources, Verify: &thresholds}
	w, err := b.NewWorker().Walk(t.Context(), path, path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.Close() })
	return w
}

// otherStack are functions of Go's runtime after which gdb continues with words of the stack that they have left.
var otherStack = map[string]bool{
	"runtime.mcall": true, "runtime.systemstack": true, "runtime.morestack": true, "runtime.asmcgocall": true, "runtime.cgocallback": true, "crosscall1": true,
	"runtime.nanotime1": true, "runtime.walltime": true, "time.now": true,
}

// compareHealthy compares the frames of a thread with gdb's.
func compareHealthy(t *testing.T, p *healthy, from string, r *walk.Result, thread uint32, want []gdbFrame) {
	t.Helper()
	i := slices.IndexFunc(r.Stacks, func(s walk.Stack) bool { return r.Dump.Threads[s.Thread].ID == thread })
	if i < 0 {
		t.Errorf("%s: no thread %d", from, thread)
		return
	}
	s := &r.Stacks[i]
	n, at := 0, 0
	var pcs []uint64
	for k := range s.Frames {
		n += max(1, len(s.Frames[k].Names))
		pcs = append(pcs, s.Frames[k].PC)
	}
	missing, counted, foreign := "", 0, false
	for _, f := range want {
		if m := r.Dump.MappingAt(f.pc); m == nil || !m.Exec {
			break
		}
		if f.kind == "tailcall" {
			continue
		}
		if foreign {
			break
		}
		foreign = r.Dump.ModuleAt(f.pc) < 0 || otherStack[f.name] || p.lacks != ""
		counted++
		if f.kind != "inline" {
			if k := slices.Index(pcs[at:], f.pc); k >= 0 {
				at += k + 1
			} else if missing == "" {
				missing = fmt.Sprintf("%#x %s", f.pc, f.name)
			}
		}
	}
	if missing == "" && counted <= n {
		return
	}
	var text bytes.Buffer
	for k := range s.Frames {
		f := &s.Frames[k]
		fmt.Fprintf(&text, "  %#x %v %v %s", f.PC, f.Trust, f.By, f.Function())
		for _, name := range f.Names[:max(0, len(f.Names)-1)] {
			fmt.Fprintf(&text, ", inlined %s", name.Function)
		}
		text.WriteByte('\n')
	}
	text.WriteString("  " + s.Why + "\ngdb:\n")
	for _, f := range want {
		fmt.Fprintf(&text, "  %#x %s %s\n", f.pc, f.kind, f.name)
	}
	t.Errorf("%s, thread %d: %d frames, gdb %d; gdb's %s is missing\n%s", from, thread, n, counted, missing, &text)
}

// hasFunctions reports whether a stack has the functions in the given order.
func hasFunctions(s *walk.Stack, want []string) bool {
	for i := range s.Frames {
		for _, name := range s.Frames[i].Names {
			if len(want) > 0 && name.Function == want[0] {
				want = want[1:]
			}
		}
	}
	return len(want) == 0
}

// start starts a process, and waits until it rests. It lives until the test ends.
func (h *healthyTest) start(t *testing.T, p *healthy) int {
	t.Helper()
	data, err := filepath.Abs(filepath.Join("testdata", "healthy"))
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(h.dir, strings.ReplaceAll(p.name, " ", "-"))
	env := append(os.Environ(), "OUT="+out, "DATA="+data, "DIR="+t.TempDir(), "GOFLAGS=", "DEBUGINFOD_URLS=")
	if p.build != "" {
		build := exec.Command("sh", "-ec", p.build)
		build.Dir, build.Env = data, env
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", p.build, err, text)
		}
	}
	cmd := exec.Command("sh", "-c", p.run)
	cmd.Env, cmd.SysProcAttr = env, &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
	})
	pid := cmd.Process.Pid
	if p.stop {
		time.Sleep(300 * time.Millisecond)
		syscall.Kill(pid, syscall.SIGSTOP)
		return pid
	}
	return rest(t, p, pid)
}

// rest waits until the threads of a process stay in their system calls, and returns its id.
func rest(t *testing.T, p *healthy, pid int) int {
	t.Helper()
	before, same := "", 0
	for deadline := time.Now().Add(30 * time.Second); same < 4; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it does not rest: %s", before)
		}
		walked := pid
		if p.child {
			children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
			first, _, _ := strings.Cut(string(children), " ")
			walked, _ = strconv.Atoi(first)
		}
		var now string
		tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/syscall", walked))
		for _, task := range tasks {
			text, _ := os.ReadFile(task)
			now += task + " " + string(text)
		}
		if same++; now != before || strings.Contains(now, "running") || now == "" {
			same = 0
		}
		if before = now; same == 4 {
			return walked
		}
	}
	return pid
}

// gdbFrames returns gdb's frames of a process by thread, and writes a core.
func gdbFrames(t *testing.T, pid int, core string) map[uint32][]gdbFrame {
	t.Helper()
	out := oracle.GDB(t, "-ex", "set backtrace past-main on", "-ex", "set print frame-arguments none", "-p", strconv.Itoa(pid),
		"-x", "testdata/healthy/frames.py", "-ex", "gcore "+core)
	all, thread := map[uint32][]gdbFrame{}, uint32(0)
	for line := range strings.Lines(out) {
		words := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		switch {
		case words[0] == "thread" && len(words) == 2:
			id, _ := strconv.ParseUint(words[1], 10, 32)
			thread = uint32(id)
		case words[0] == "frame" && len(words) == 4:
			pc, _ := strconv.ParseUint(words[2], 0, 64)
			all[thread] = append(all[thread], gdbFrame{words[1], words[3], pc})
		}
	}
	if _, err := os.Stat(core); err != nil {
		t.Fatalf("gdb writes no core: %s", out)
	}
	return all
}
