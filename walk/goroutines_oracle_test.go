package walk_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/walk"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/goroutine"
)

// The goroutines of a program with sixty of them in more than ten states are those that Delve finds in the same core:
// their ids, what they wait for, and the functions of each frame.
//
// Where we differ: Delve does not name the state of goroutines that do not wait, and leaves out the signal trampoline,
// which the goroutine of QEMU's crash is in.
func TestOracleGoroutines(t *testing.T) {
	testenv.Oracle(t)
	dlv := testenv.Tool(t, "dlv")
	t.Run("gcore", func(t *testing.T) {
		gcore := testenv.Tool(t, "gcore")
		program := buildStates(t)
		compareGoroutines(t, dlv, program, coreOf(t, gcore, program))
	})
	t.Run("go1.21", func(t *testing.T) {
		gcore := testenv.Tool(t, "gcore")
		if !testenv.OracleFull() {
			t.Skip("downloads a release of Go: runs with SYMTOOL_ORACLE=full")
		}
		program := buildStates(t, "GOTOOLCHAIN=go1.21.13")
		compareGoroutines(t, dlv, program, coreOf(t, gcore, program))
	})
	t.Run("arm64", func(t *testing.T) {
		qemu := testenv.Tool(t, "qemu-aarch64-static")
		program := buildStates(t, "GOARCH=arm64")
		compareGoroutines(t, dlv, program, coreOfQEMU(t, qemu, program))
	})
}

// buildStates builds the program, as the main package of a module that Go 1.21 reads.
func buildStates(t *testing.T, env ...string) (program string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", "goroutines", "states.go"))
	if err != nil {
		t.Fatal(err)
	}
	dir := testenv.WriteFiles(t, "go.mod", "module example.com/states\n\ngo 1.21\n", "states.go", string(source))
	build := exec.Command("go", "build", "-o", "states", ".")
	build.Dir, build.Env = dir, append(append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS="), env...)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return filepath.Join(dir, "states")
}

// compareGoroutines compares all goroutines of a core, and those of the program, with Delve's.
func compareGoroutines(t *testing.T, dlv, program, core string) {
	t.Helper()
	want := delveGoroutines(t, dlv, program, core)
	if len(want) < 60 {
		t.Fatalf("Delve finds %d goroutines, want 60", len(want))
	}
	binaries, err := supplier.NewBinaries([]string{program}, supplier.BinaryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	opened, err := dumpfile.Open(t.Context(), core, dumpfile.Options{Core: elfcore.Options{Binaries: []string{program}}})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	d := opened.Dump
	states := map[string]bool{}
	for _, which := range []walk.Goroutines{walk.AllGoroutines, walk.UserGoroutines} {
		res, err := walk.NewWalker(&walk.SymbolSet{Binaries: binaries}, walk.Config{Goroutines: which}).Walk(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		if n := len(res.Dump.Problems) - len(d.Problems); n != 0 {
			t.Errorf("problems: %v", res.Dump.Problems)
		}
		seen := map[uint64]bool{}
		for i := range res.Stacks {
			s := &res.Stacks[i]
			if s.Goroutine == nil {
				if s.Thread != res.Dump.RequestingThread() {
					t.Errorf("stack %d is no goroutine's, nor that of the thread for which the core was written", i)
				}
				continue
			}
			seen[s.Goroutine.ID], states[s.Goroutine.State()] = true, true
			if d.Crash == nil || d.Crash.Code != sigabrt || s.Thread != res.Dump.CrashedThread() {
				compareGoroutine(t, s, want[s.Goroutine.ID])
			}
		}
		for id, g := range want {
			if seen[id] != (which == walk.AllGoroutines || !g.system) {
				t.Errorf("goroutine %d (system: %v): found: %v", id, g.system, seen[id])
			}
		}
	}
	t.Logf("%d goroutines in %d states", len(want), len(states))
	if len(states) < 10 {
		t.Errorf("states: %v, want ten", states)
	}
}

const sigabrt = 6

// coreOfQEMU returns the core that QEMU writes for a program that crashes.
func coreOfQEMU(t *testing.T, qemu, program string) string {
	t.Helper()
	dir := filepath.Dir(program)
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited; exec \"$@\"", "sh", qemu, program, "crash")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOTRACEBACK=crash")
	if out, err := cmd.CombinedOutput(); err == nil {
		t.Fatalf("%v did not crash\n%s", cmd, out)
	}
	cores, err := filepath.Glob(filepath.Join(dir, "qemu_*.core"))
	if err != nil || len(cores) != 1 {
		t.Skipf("QEMU wrote no core: %v", cores)
	}
	return cores[0]
}

// coreOf returns a core of a program that has printed a line and continues.
func coreOf(t *testing.T, gcore, program string) string {
	t.Helper()
	cmd, _ := testenv.StartReady(t, program)
	prefix := filepath.Join(filepath.Dir(program), "core")
	if out, err := exec.Command(gcore, "-o", prefix, fmt.Sprint(cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return fmt.Sprintf("%s.%d", prefix, cmd.Process.Pid)
}

// injectedCall is the function that a signal makes another function call. On arm64, Delve takes the register that
// contains the return address of that call for the return address of the interrupted function, and repeats that
// without end.
var injectedCall = map[string]bool{"runtime.asyncPreempt": true}

// compareGoroutine compares a goroutine with Delve's.
func compareGoroutine(t *testing.T, s *walk.Stack, want *delveGoroutine) {
	t.Helper()
	g := s.Goroutine
	if want == nil {
		t.Errorf("Delve has no goroutine %d [%s]", g.ID, g.State())
		return
	}
	if g.Status == goroutine.Waiting && g.Wait != want.wait {
		t.Errorf("goroutine %d [%s], Delve has [%s]", g.ID, g.State(), want.wait)
	}
	var names []string
	for i := range s.Frames {
		for k := range s.Frames[i].Names {
			names = append(names, s.Frames[i].Names[k].Function)
		}
	}
	if n := len(names); n > 0 && injectedCall[names[max(0, n-2)]] && n < len(want.frames) && slices.Contains(want.frames[n:], names[n-1]) {
		want.frames = want.frames[:n]
	}
	if !slices.Equal(names, want.frames) {
		t.Errorf("goroutine %d [%s]:\n%s\nDelve has\n%s", g.ID, g.State(), strings.Join(names, "\n"), strings.Join(want.frames, "\n"))
	}
}

// delveGoroutine is a goroutine as Delve prints it.
type delveGoroutine struct {
	wait   string
	frames []string
	system bool
}

var (
	delveHead  = regexp.MustCompile(`^[* ] Goroutine (\d+) - .*?(?:\[(.*)\])?$`)
	delveWait  = regexp.MustCompile(` \d+$`) // the time that it has waited
	delveFrame = regexp.MustCompile(`^\t *\d+  0x[0-9a-f]+ in (.*)$`)
	delveColor = regexp.MustCompile("\x1b\\[[0-9;]*m")
)

// delveGoroutines returns the goroutines that Delve finds in a core.
func delveGoroutines(t *testing.T, dlv, program, core string) map[uint64]*delveGoroutine {
	t.Helper()
	commands := filepath.Join(t.TempDir(), "commands")
	if err := os.WriteFile(commands, []byte("goroutines -t 100\ngoroutines -with user\nexit\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(dlv, "core", program, core, "--check-go-version=false", "--allow-non-terminal-interactive=true", "--init", commands)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	cmd.WaitDelay = time.Minute
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	all, user := map[uint64]*delveGoroutine{}, map[uint64]bool{}
	var g *delveGoroutine
	for line := range strings.SplitSeq(string(delveColor.ReplaceAll(bytes.TrimSpace(out), nil)), "\n") {
		if m := delveHead.FindStringSubmatch(line); m != nil {
			var id uint64
			fmt.Sscan(m[1], &id)
			if user[id] = all[id] != nil; !user[id] {
				g = &delveGoroutine{wait: delveWait.ReplaceAllString(m[2], "")}
				all[id] = g
			}
		} else if m := delveFrame.FindStringSubmatch(line); m != nil && g != nil {
			g.frames = append(g.frames, m[1])
		}
	}
	for id, g := range all {
		g.system = !user[id]
	}
	return all
}
