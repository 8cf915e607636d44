//go:build linux && (amd64 || arm64)

package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
)

// childVar is set in the environment of the process that tests capture: this program again.
const childVar = "SYMTOOL_TEST_LIVE"

func TestMain(m *testing.M) {
	if os.Getenv(childVar) != "" {
		child()
		return
	}
	os.Exit(m.Run())
}

// child has threads that wait, that compute, and that come and go, until standard input ends.
func child() {
	for range 2 {
		go func() {
			for i := uint(0); ; i++ {
				sink.Store("x", i)
			}
		}()
	}
	go func() {
		for {
			exec.Command("/does/not/exist").Run()
			time.Sleep(time.Millisecond)
		}
	}()
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
}

var sink sync.Map

// start starts the process, which lives until the test ends.
func start(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatal(line, err)
	}
	t.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the process that was captured: %v", err)
		}
	})
	return cmd.Process.Pid
}

// captured captures a process, or skips the test where that is forbidden.
func captured(t *testing.T, ctx context.Context, pid int) (*dump.Dump, error) {
	t.Helper()
	d, err := Capture(ctx, pid, "process", elfcore.Options{})
	if errors.Is(err, ErrNotPermitted) {
		t.Skip(err)
	}
	return d, err
}

// untraced checks that no thread of a process is traced any longer.
func untraced(t *testing.T, pid int) {
	t.Helper()
	ids, err := procOf(pid).threadIDs()
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range ids {
		status, err := os.ReadFile(procOf(pid).path("task/" + strconv.Itoa(id) + "/status"))
		if err == nil && (number(status, "TracerPid") != 0 || strings.HasPrefix(field(status, "State"), "t")) {
			t.Errorf("thread %d: %s, traced by %s", id, field(status, "State"), field(status, "TracerPid"))
		}
	}
}

// A running process is captured with its threads, registers, stacks and modules, as often as one
// likes, and goes on afterwards.
func TestCapture(t *testing.T) {
	pid := start(t)
	for range 8 {
		d, err := captured(t, t.Context(), pid)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Problems) > 0 || d.Crash != nil || d.Main < 0 || len(d.Threads) < 3 || d.Threads[0].ID != uint32(pid) || d.Process.ID != uint32(pid) {
			t.Fatalf("problems %v, crash %v, main %d, %d threads", d.Problems, d.Crash, d.Main, len(d.Threads))
		}
		for i := range d.Threads {
			th := &d.Threads[i]
			if th.Context == nil || th.Name == "" || d.ModuleAt(th.Context.PC()) < 0 || len(d.Memory.Bytes(th.Context.SP(), 64)) != 64 {
				t.Errorf("thread %d %q: %v", th.ID, th.Name, th.Context)
			}
		}
		untraced(t, pid)
	}
}

// A capture that is cancelled, or panics, lets the process go on.
func TestCaptureEnds(t *testing.T) {
	pid := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := captured(t, ctx, pid); err != nil && !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	untraced(t, pid)
	func() {
		defer func() {
			if p := recover(); p != "panic" {
				t.Errorf("panic %v", p)
			}
		}()
		_, err := Capture(t.Context(), pid, "process", elfcore.Options{Binaries: []string{os.Args[0]}, ReadFile: func(string) ([]byte, error) { panic("panic") }})
		if errors.Is(err, ErrNotPermitted) {
			panic("panic")
		}
	}()
	untraced(t, pid)
}

func TestCaptureErrors(t *testing.T) {
	for pid, want := range map[int]string{os.Getpid(): "a process cannot capture itself", 1 << 30: "no such process", -1: "no such process"} {
		if _, err := Capture(t.Context(), pid, "process", elfcore.Options{}); err == nil || err.Error() != "process: "+want {
			t.Errorf("%d: %v, want %s", pid, err, want)
		}
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"=1")
	in, _ := cmd.StdinPipe()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	for !procOf(cmd.Process.Pid).ended(cmd.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
	if _, err := captured(t, t.Context(), cmd.Process.Pid); err == nil {
		t.Error("a zombie was captured")
	}
	cmd.Wait()
}
