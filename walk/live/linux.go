//go:build linux && (amd64 || arm64)

package live

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
)

// cpu is the CPU of this process and so of the ones that it can capture.
var cpu = map[string]*arch.Arch{"amd64": arch.X86_64, "arm64": arch.ARM64}[runtime.GOARCH]

// Capture stops all threads of a process, reads their registers and stacks and what is known of
// its modules, and lets it go on; name is its name in messages. The process also goes on if ctx is
// done, if Capture panics, and, as the kernel sees to it, if this process is killed.
func Capture(ctx context.Context, pid int, name string, o elfcore.Options) (d *dump.Dump, err error) {
	done := make(chan any)
	go func() {
		runtime.LockOSThread() // the kernel knows tracers by thread; it ends with this goroutine
		defer func() { done <- recover() }()
		d, err = capture(ctx, pid, name, o)
	}()
	if p := <-done; p != nil {
		panic(p)
	}
	var damage *bin.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &damage) {
		err = &bin.Error{File: name, Err: err}
	}
	return d, err
}

func capture(ctx context.Context, pid int, name string, o elfcore.Options) (*dump.Dump, error) {
	process, err := procOf(pid).process()
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, errors.New("no such process")
	case err != nil:
		return nil, err
	case int(process.ID) == os.Getpid():
		return nil, errors.New("a process cannot capture itself")
	}
	p := procOf(int(process.ID)) // pid may be a thread
	if err := checkProgram(p); err != nil {
		return nil, err
	}
	memory, err := os.Open(p.path("mem"))
	if errors.Is(err, os.ErrPermission) {
		return nil, ErrNotPermitted
	} else if err != nil {
		return nil, err
	}
	defer memory.Close()
	s := &stopped{p: p, threads: map[int]*tracee{}}
	defer s.release()
	if err := s.stop(ctx); err != nil {
		return nil, err
	}
	live := &elfcore.Live{Arch: cpu, Process: process, Memory: memory}
	if live.Threads, err = s.read(); err != nil {
		return nil, err
	}
	if live.Auxv, err = os.ReadFile(p.path("auxv")); err != nil {
		return nil, err
	}
	maps, err := os.Open(p.path("maps"))
	if err != nil {
		return nil, err
	}
	defer maps.Close()
	if live.Maps, err = parseMaps(maps); err != nil {
		return nil, err
	}
	return elfcore.ReadLive(live, name, o)
}

// checkProgram returns an error for a process without a program.
func checkProgram(p proc) error {
	_, err := os.Readlink(p.path("exe"))
	switch {
	case errors.Is(err, os.ErrPermission):
		return ErrNotPermitted
	case errors.Is(err, os.ErrNotExist):
		return errors.New("it has no program: a thread of the kernel, or a process that has ended")
	}
	return err
}

// stopped are the threads of a process that this thread traces.
type stopped struct {
	p       proc
	threads map[int]*tracee
}

// tracee is a thread that was seized.
type tracee struct {
	stops  bool // it has stopped
	signal int  // that it was about to get when it stopped, and gets when it goes on
}

// maxPasses is how often the list of threads is read. Threads that run make new ones, each of which
// is in the list the next time.
const maxPasses = 1000

// stop stops the threads, until a list of them has no new one.
func (s *stopped) stop(ctx context.Context) error {
	for range maxPasses {
		fresh, err := s.seize()
		if err != nil {
			return err
		}
		if fresh == 0 {
			if len(s.threads) == 0 {
				return errors.New("it has ended")
			}
			return nil
		}
		for id, t := range s.threads {
			if err := s.await(ctx, id, t); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("it makes new threads as fast as they are stopped: %d are", len(s.threads))
}

// seize interrupts the threads that are new, and returns their number. Threads that have ended are
// left out.
func (s *stopped) seize() (fresh int, err error) {
	ids, err := s.p.threadIDs()
	if err != nil {
		return 0, err
	}
	for _, id := range ids {
		if s.threads[id] != nil || s.p.ended(id) {
			continue
		}
		switch err := unix.PtraceSeize(id); {
		case errors.Is(err, unix.ESRCH) || err != nil && s.p.ended(id):
			continue
		case errors.Is(err, unix.EPERM):
			return 0, s.p.notPermitted(id)
		case err != nil:
			return 0, fmt.Errorf("thread %d: PTRACE_SEIZE: %w", id, err)
		}
		s.threads[id] = &tracee{}
		fresh++
		if err := unix.PtraceInterrupt(id); err != nil && !errors.Is(err, unix.ESRCH) {
			return 0, fmt.Errorf("thread %d: PTRACE_INTERRUPT: %w", id, err)
		}
	}
	return fresh, nil
}

// threadIDs lists the threads, the first thread first.
func (p proc) threadIDs() (ids []int, err error) {
	entries, err := os.ReadDir(p.path("task"))
	if err != nil {
		return nil, errors.New("it has ended")
	}
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil {
			ids = append(ids, id)
		}
	}
	first, _ := strconv.Atoi(filepath.Base(string(p)))
	slices.SortFunc(ids, func(a, b int) int {
		if a == first || b == first && a != b {
			return map[bool]int{true: -1, false: 1}[a == first]
		}
		return a - b
	})
	return ids, nil
}

// ended reports whether a thread has ended, or is a zombie.
func (p proc) ended(id int) bool {
	status, err := os.ReadFile(p.path("task/" + strconv.Itoa(id) + "/status"))
	state := field(status, "State")
	return err != nil || state == "" || state[0] == 'Z' || state[0] == 'X'
}

// notPermitted says why a thread cannot be traced.
func (p proc) notPermitted(id int) error {
	status, err := os.ReadFile(p.path("task/" + strconv.Itoa(id) + "/status"))
	if tracer := number(status, "TracerPid"); err == nil && tracer != 0 {
		return fmt.Errorf("process %d traces it already", tracer)
	}
	return ErrNotPermitted
}

// await waits until a thread has stopped or ended. A thread in an uninterruptible sleep stops when
// it wakes up.
func (s *stopped) await(ctx context.Context, id int, t *tracee) error {
	for delay := 50 * time.Microsecond; !t.stops; delay = min(2*delay, 10*time.Millisecond) {
		var status unix.WaitStatus
		got, err := unix.Wait4(id, &status, unix.WNOHANG|unix.WALL, nil)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil || got == id && (status.Exited() || status.Signaled()):
			delete(s.threads, id)
			return nil
		case got == id && status.Stopped():
			t.stops = true
			const eventStop = 128 // PTRACE_EVENT_STOP (include/uapi/linux/ptrace.h)
			if int(status)>>16 != eventStop {
				t.signal = int(status.StopSignal())
			}
		case ctx.Err() != nil:
			return context.Cause(ctx)
		default:
			time.Sleep(delay)
		}
	}
	return nil
}

// release lets all threads go on. Only a thread that has stopped can be detached; the kernel does
// it for one in an uninterruptible sleep, when this thread or process ends.
func (s *stopped) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for id, t := range s.threads {
		if err := s.await(ctx, id, t); err != nil || s.threads[id] == nil {
			continue
		}
		// An error means that the thread was killed meanwhile.
		_, _, _ = unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_DETACH, uintptr(id), 0, uintptr(t.signal), 0, 0)
	}
	clear(s.threads)
}

// read reads the registers of the threads.
func (s *stopped) read() (list []elfcore.LiveThread, err error) {
	ids, err := s.p.threadIDs()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if s.threads[id] == nil {
			continue
		}
		regs, err := registers(id)
		if errors.Is(err, unix.ESRCH) { // it was killed
			continue
		} else if err != nil {
			return nil, fmt.Errorf("thread %d: PTRACE_GETREGSET: %w", id, err)
		}
		name, _ := os.ReadFile(s.p.path("task/" + strconv.Itoa(id) + "/status"))
		list = append(list, elfcore.LiveThread{ID: uint32(id), Name: field(name, "Name"), Regs: regs})
	}
	if len(list) == 0 {
		return nil, errors.New("it has ended")
	}
	return list, nil
}

// minRegisters is the size of struct user_regs_struct on x86-64; that on arm64 is larger, and those
// of processes of 32 bits are smaller.
const minRegisters = 27 * 8

// registers returns the general registers of a thread, as they are in the kernel's cores.
func registers(id int) ([]byte, error) {
	regs := make([]byte, 1024)
	v := unix.Iovec{Base: &regs[0]}
	v.SetLen(len(regs))
	const prStatus = 1 // NT_PRSTATUS (include/uapi/linux/elf.h)
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(id), prStatus, uintptr(unsafe.Pointer(&v)), 0, 0)
	runtime.KeepAlive(regs)
	if e != 0 {
		return nil, e
	}
	if v.Len < minRegisters {
		return nil, fmt.Errorf("%d bytes of registers, as of a process of 32 bits; want one of %s", v.Len, cpu.Name)
	}
	return regs[:v.Len], nil
}
