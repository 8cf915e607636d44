//go:build linux && (amd64 || arm64)

package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
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
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
)

// cpu is the CPU of this process, and therefore of every process that it can capture.
var cpu = map[string]*arch.Arch{"amd64": arch.X86_64, "arm64": arch.ARM64}[runtime.GOARCH]

// Capture stops all threads of a process, reads their registers and stacks and what is known about
// its modules, and lets the process continue; name is its name in messages. The process also
// continues if ctx is done, if Capture panics and, because of the kernel, if this process is
// killed.
func Capture(ctx context.Context, pid int, name string, o Options) (d *dump.Dump, err error) {
	if p := onOwnThread(func() { d, err = capture(ctx, pid, name, o) }); p != nil {
		panic(p)
	}
	var damage *bin.Error
	if err != nil && ctx.Err() == nil && !errors.As(err, &damage) {
		err = &bin.Error{File: name, Err: err}
	}
	return d, err
}

// onOwnThread calls f on a system thread that ends afterwards, and returns the value with which f
// panicked. The kernel knows tracers by thread, and releases what a thread traces when the thread
// ends.
func onOwnThread(f func()) any {
	done := make(chan any)
	go func() {
		runtime.LockOSThread() // without an unlock the thread ends with this goroutine
		if unix.Gettid() == os.Getpid() {
			// The first thread ends only with the process. Waiting here keeps the next goroutine
			// from running on it.
			done <- onOwnThread(f)
			runtime.UnlockOSThread()
			return
		}
		defer func() { done <- recover() }()
		f()
	}()
	return <-done
}

func capture(ctx context.Context, pid int, name string, o Options) (*dump.Dump, error) {
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
	s := &stopped{p: p, threads: map[int]*tracee{}, o: o, began: time.Now()}
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
	mappings, err := os.Open(p.path("maps"))
	if err != nil {
		return nil, err
	}
	defer mappings.Close()
	if live.Maps, err = parseMaps(mappings); err != nil {
		return nil, err
	}
	late := error(nil)
	if o.Reads != nil {
		live.Reads = func(d *dump.Dump) {
			ctx, cancel := context.WithTimeout(ctx, maxReads)
			defer cancel()
			o.Reads(ctx, d)
			late = ctx.Err()
		}
	}
	d, err := elfcore.ReadLive(live, name, o.Core)
	if err != nil {
		return nil, err
	}
	if status, err := os.ReadFile(p.path("status")); err == nil && cpu == arch.X86_64 {
		d.Tags = dump.StatusTags(status)
	}
	if late != nil {
		d.Problems = append(d.Problems, damage.Problem{Lost: "memory beside the stacks", Err: &bin.Error{File: name, Msg: fmt.Sprintf("reading it takes longer than %v, for which the process is stopped", maxReads)}})
	}
	d.Problems = append(d.Problems, s.missed(name)...)
	return d, nil
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

// stopped is the set of a process's threads that this thread traces.
type stopped struct {
	p       proc
	threads map[int]*tracee
	o       Options
	began   time.Time
	waits   bool // Options.Waiting was called
}

// tracee is a thread that was seized.
type tracee struct {
	stops  bool   // it has stopped
	late   string // its state in /proc/PID/status, if it did not stop within the limit
	signal int    // signal that it was about to receive when it stopped, and receives when it continues
}

// maxPasses is how often the list of threads is read. Running threads may start new ones, which are
// in the list the next time.
const maxPasses = 1000

// stop stops the threads until a list of them contains no new one.
func (s *stopped) stop(ctx context.Context) error {
	for range maxPasses {
		fresh, err := s.seize()
		if err != nil {
			return err
		}
		if fresh == 0 {
			return s.anyStopped()
		}
		for id, t := range s.threads {
			if err := s.await(ctx, id, t); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("it makes new threads as fast as they are stopped: %d are", len(s.threads))
}

// seize interrupts the new threads, and returns their number. It skips threads that have ended.
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
	state := p.state(id)
	return state == "" || state[0] == 'Z' || state[0] == 'X'
}

// notPermitted says why a thread cannot be traced.
func (p proc) notPermitted(id int) error {
	status, err := os.ReadFile(p.path("task/" + strconv.Itoa(id) + "/status"))
	if tracer := number(status, "TracerPid"); err == nil && tracer != 0 {
		return fmt.Errorf("process %d traces it already", tracer)
	}
	return ErrNotPermitted
}

// anyStopped returns an error if no thread has stopped.
func (s *stopped) anyStopped() error {
	late := -1
	for id, t := range s.threads {
		if t.stops {
			return nil
		}
		if late < 0 || id < late {
			late = id
		}
	}
	if late < 0 {
		return errors.New("it has ended")
	}
	return s.lateError(late)
}

// lateError says that a thread did not stop.
func (s *stopped) lateError(id int) error {
	return fmt.Errorf("thread %d did not stop in %v: its state is %s, %s", id, s.o.limit(), s.threads[id].late, whyLate)
}

const whyLate = "as during vfork, until the child has called exec, and during some work of disks; a debugger would wait, too"

// missed returns the problems of threads that did not stop.
func (s *stopped) missed(name string) (problems []damage.Problem) {
	for _, id := range slices.Sorted(maps.Keys(s.threads)) {
		if s.threads[id].late != "" {
			problems = append(problems, damage.Problem{Lost: fmt.Sprintf("thread %d", id), Err: &bin.Error{File: name, Err: s.lateError(id)}})
		}
	}
	return problems
}

// await waits until a thread has stopped or ended, or the limit has passed. A thread in an
// uninterruptible sleep stops when it wakes up.
func (s *stopped) await(ctx context.Context, id int, t *tracee) error {
	for delay := 50 * time.Microsecond; !t.stops && t.late == ""; delay = min(2*delay, 10*time.Millisecond) {
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
			s.patience(id, t)
			time.Sleep(delay)
		}
	}
	return nil
}

// patience reports that a thread delays the capture, and gives the thread up after the limit.
func (s *stopped) patience(id int, t *tracee) {
	waited, state := time.Since(s.began), ""
	if waited >= min(quiet, s.o.limit()) {
		state = cmp.Or(s.p.state(id), "unknown")
	}
	if waited >= quiet && !s.waits && s.o.Waiting != nil {
		s.waits = true
		s.o.Waiting(id, state, s.o.limit())
	}
	if waited >= s.o.limit() {
		t.late = state
	}
}

// state returns the state of a thread, such as "D (disk sleep)".
func (p proc) state(id int) string {
	status, _ := os.ReadFile(p.path("task/" + strconv.Itoa(id) + "/status"))
	return field(status, "State")
}

// release lets all threads continue. Only a thread that has stopped can be detached; for one in an
// uninterruptible sleep, the kernel does it when this thread or process ends, without stopping it.
func (s *stopped) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for id, t := range s.threads {
		if err := s.await(ctx, id, t); err != nil || s.threads[id] == nil || !t.stops {
			continue
		}
		// An error means that the thread has been killed in the meantime.
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
	buf := make([]byte, maxRegset)
	for _, id := range ids {
		if t := s.threads[id]; t == nil || !t.stops {
			continue
		}
		regs, err := registers(id)
		if errors.Is(err, unix.ESRCH) { // it was killed
			continue
		} else if err != nil {
			return nil, fmt.Errorf("thread %d: PTRACE_GETREGSET: %w", id, err)
		}
		name, _ := os.ReadFile(s.p.path("task/" + strconv.Itoa(id) + "/status"))
		list = append(list, elfcore.LiveThread{ID: uint32(id), Name: field(name, "Name"), Regs: regs, Sets: otherSets(id, buf)})
	}
	if len(list) == 0 {
		return nil, errors.New("it has ended")
	}
	return list, nil
}

// minRegisters is the size of struct user_regs_struct on x86-64. On arm64 it is larger, and for
// 32-bit processes smaller.
const minRegisters = 27 * 8

// registers returns the general registers of a thread in the form of the kernel's cores.
func registers(id int) ([]byte, error) {
	const prStatus = 1 // NT_PRSTATUS (include/uapi/linux/elf.h)
	regs, err := regset(id, prStatus, make([]byte, 1024))
	if err != nil {
		return nil, err
	}
	if len(regs) < minRegisters {
		return nil, fmt.Errorf("%d bytes of registers, as of a process of 32 bits; want one of %s", len(regs), cpu.Name)
	}
	return regs, nil
}

// maxRegset is the number of bytes that are read of a set of registers. SVE's may have vectors of 8 KiB. XSAVE's area
// may be longer, by AMX's registers, which are not used.
var maxRegset = map[string]int{"amd64": 4 << 10, "arm64": 320 << 10}[runtime.GOARCH]

// otherSets returns the sets of registers beyond the general ones that the machine has. It uses buf.
func otherSets(id int, buf []byte) (sets []elfcore.LiveSet) {
	for _, kind := range elfcore.LiveSets(cpu) {
		if data, err := regset(id, kind, buf); err == nil && len(data) > 0 {
			sets = append(sets, elfcore.LiveSet{Type: kind, Data: bytes.Clone(data)})
		}
	}
	return sets
}

// regset reads a set of registers into buf.
func regset(id int, kind uint32, buf []byte) ([]byte, error) {
	v := unix.Iovec{Base: &buf[0]}
	v.SetLen(len(buf))
	_, _, e := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_GETREGSET, uintptr(id), uintptr(kind), uintptr(unsafe.Pointer(&v)), 0, 0)
	runtime.KeepAlive(buf)
	if e != 0 {
		return nil, e
	}
	return buf[:v.Len], nil
}
