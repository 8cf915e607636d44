//go:build linux && (amd64 || arm64)

package live

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	sys "golang.org/x/sys/cpu"
	"golang.org/x/sys/unix"

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
	if os.Getenv(childVar) == "vfork" {
		go vfork()
	}
	fmt.Println("ready")
	bufio.NewReader(os.Stdin).ReadString('\n')
}

var sink sync.Map

// vfork starts a process that waits for the end of standard input, and waits for that process in the
// kernel, as vfork does.
func vfork() {
	runtime.LockOSThread()
	var b [1]byte
	pid, _, _ := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.CLONE_VFORK|unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 { // of the Go program only this thread is here
		unix.RawSyscall(unix.SYS_READ, 0, uintptr(unsafe.Pointer(&b[0])), 1)
		unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
}

// start starts the process, which lives until the test ends.
func start(t *testing.T, what string) int {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVar+"="+what)
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

// captured captures a process, or skips the test if that is forbidden.
func captured(t *testing.T, ctx context.Context, pid int) (*dump.Dump, error) {
	t.Helper()
	d, err := Capture(ctx, pid, "process", Options{})
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

// vectorSize returns the least size in bytes of this machine's vectors.
func vectorSize() int {
	switch {
	case sys.X86.HasAVX512F:
		return 64
	case sys.X86.HasAVX:
		return 32
	}
	return 16
}

// A running process is captured with its threads, registers, stacks and modules, any number of times,
// and continues afterwards.
func TestCapture(t *testing.T) {
	pid := start(t, "threads")
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
				continue
			}
			reg, ok := th.Context.Arch.RegIndex(map[string]string{"amd64": "$xmm15", "arm64": "v31"}[runtime.GOARCH])
			if want := vectorSize(); !ok || len(th.Context.Bytes(reg)) < want {
				t.Errorf("thread %d %q: a vector of %d bytes, want %d", th.ID, th.Name, len(th.Context.Bytes(reg)), want)
			}
		}
		untraced(t, pid)
	}
}

// If a capture is cancelled, or panics, the process continues.
func TestCaptureEnds(t *testing.T) {
	pid := start(t, "threads")
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
		_, err := Capture(t.Context(), pid, "process", Options{Core: elfcore.Options{Binaries: []string{os.Args[0]}, ReadFile: func(string) ([]byte, error) { panic("panic") }}})
		if errors.Is(err, ErrNotPermitted) {
			panic("panic")
		}
	}()
	untraced(t, pid)
}

// A thread that does not stop is reported as a problem, after a call of Waiting; the others are
// captured, and all continue.
func TestCaptureLimit(t *testing.T) {
	pid := start(t, "vfork")
	waits := func() bool {
		ids, err := procOf(pid).threadIDs()
		return err == nil && slices.ContainsFunc(ids, func(id int) bool { return strings.HasPrefix(procOf(pid).state(id), "D") })
	}
	for n := 0; n < 50; n++ { // a thread that reads its code from the disk is in the same state, for a shorter time
		if !waits() {
			n = 0
		}
		time.Sleep(time.Millisecond)
	}
	for _, c := range []struct {
		limit time.Duration
		calls int
	}{{quiet + 100*time.Millisecond, 1}, {100 * time.Millisecond, 0}} {
		calls := 0
		d, err := Capture(t.Context(), pid, "process", Options{Limit: c.limit, Waiting: func(_ int, state string, limit time.Duration) {
			if calls++; state != "D (disk sleep)" || limit != c.limit {
				t.Errorf("state %q, limit %v", state, limit)
			}
		}})
		if errors.Is(err, ErrNotPermitted) {
			t.Skip(err)
		} else if err != nil {
			t.Fatal(err)
		}
		if calls != c.calls || len(d.Problems) != 1 || len(d.Threads) < 3 {
			t.Errorf("%v: %d calls, problems %v, %d threads", c.limit, calls, d.Problems, len(d.Threads))
		} else if text := d.Problems[0].Err.Error(); !strings.Contains(text, fmt.Sprintf("did not stop in %v: its state is D", c.limit)) {
			t.Errorf("%v: %s", c.limit, text)
		}
		for waited := 0; traced(pid) && waited < 100; waited++ {
			time.Sleep(10 * time.Millisecond) // the kernel detaches what the thread of the capture traced when that ends
		}
		untraced(t, pid)
	}
}

// traced reports whether a thread of a process is traced.
func traced(pid int) bool {
	ids, _ := procOf(pid).threadIDs()
	return slices.ContainsFunc(ids, func(id int) bool {
		status, err := os.ReadFile(procOf(pid).path("task/" + strconv.Itoa(id) + "/status"))
		return err == nil && number(status, "TracerPid") != 0
	})
}

// The tracing goroutine never runs on the first thread of the process, which does not end with its
// goroutine.
func TestOwnThread(t *testing.T) {
	for range 20 {
		if p := onOwnThread(func() {
			if unix.Gettid() == os.Getpid() {
				panic("the first thread")
			}
		}); p != nil {
			t.Fatal(p)
		}
	}
}

func TestCaptureErrors(t *testing.T) {
	for pid, want := range map[int]string{os.Getpid(): "a process cannot capture itself", 1 << 30: "no such process", -1: "no such process"} {
		if _, err := Capture(t.Context(), pid, "process", Options{}); err == nil || err.Error() != "process: "+want {
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

// The memory of a process that Options.Reads reads is kept; the process continues when Reads has
// taken too long.
func TestCaptureReads(t *testing.T) {
	pid := start(t, "threads")
	var at uint64
	reads := func(ctx context.Context, d *dump.Dump) {
		for i := range d.Maps {
			m := &d.Maps[i]
			if m.Read && m.Write && m.Inode == 0 && m.Size > 1<<16 && len(d.Memory.Bytes(m.Addr+m.Size/2, 8)) == 8 {
				at = m.Addr + m.Size/2
			}
		}
		if d.Memory.Find(0x10) != nil {
			t.Error("there is memory where the process has none")
		}
	}
	d, err := Capture(t.Context(), pid, "process", Options{Reads: reads})
	if errors.Is(err, ErrNotPermitted) {
		t.Skip(err)
	} else if err != nil || len(d.Problems) > 0 {
		t.Fatal(err, d.Problems)
	}
	if at == 0 || len(d.Memory.Bytes(at, 8)) != 8 || d.Memory.More != nil {
		t.Errorf("memory at %#x was read and not kept", at)
	}
	d, err = Capture(t.Context(), pid, "process", Options{Reads: func(ctx context.Context, _ *dump.Dump) { <-ctx.Done() }})
	if err != nil || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Err.Error(), "reading it takes longer than 1s") {
		t.Errorf("%v, problems %v", err, d.Problems)
	}
	untraced(t, pid)
}
