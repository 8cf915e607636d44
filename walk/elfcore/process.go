package elfcore

import (
	"bytes"
	"debug/elf"
	"slices"
	"strings"
	"time"

	"github.com/symtool/symtool/walk/dump"
)

// psInfo is a layout of struct elf_prpsinfo (include/linux/elfcore.h). On
// 32-bit CPUs user ids have 2 or 4 bytes.
type psInfo struct {
	size, uid, idSize, pid int
	name, args             int
}

// Sizes of pr_fname and pr_psargs.
const (
	psNameSize = 16
	psArgsSize = 80
)

var psInfos = []psInfo{
	{size: 124, uid: 8, idSize: 2, pid: 12, name: 28, args: 44},
	{size: 128, uid: 8, idSize: 4, pid: 16, name: 32, args: 48},
	{size: 136, uid: 16, idSize: 4, pid: 24, name: 40, args: 56},
}

func (r *reader) readPSInfo(n note) {
	for _, l := range psInfos {
		if l.size != len(n.desc) {
			continue
		}
		num := func(off, size int) uint32 {
			v, _ := uintAt(n.desc, off, size, r.order())
			return uint32(v)
		}
		p := &r.d.Process
		p.ID, p.HasID, p.Parent = num(l.pid, 4), true, num(l.pid+4, 4)
		p.UID, p.GID = num(l.uid, l.idSize), num(l.uid+l.idSize, l.idSize)
		p.Name = text(n.desc[l.name : l.name+psNameSize])
		// The kernel has replaced each NUL with a space.
		p.Args = strings.Fields(text(n.desc[l.args : l.args+psArgsSize]))
		return
	}
	r.problem("the process's name and ids", n.offset, "NT_PRPSINFO of %d bytes, want 124, 128 or 136", len(n.desc))
}

// text returns the bytes up to a NUL.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}

// cpuTime is the processor time of a thread; for a process's first thread it is the total.
type cpuTime struct {
	thread       uint32
	user, kernel time.Duration
}

// timeval reads a struct timeval of the kernel.
func (r *reader) timeval(b []byte) time.Duration {
	sec, _ := uintAt(b, 0, r.word, r.order())
	usec, _ := uintAt(b, r.word, r.word, r.order())
	const most = 1 << 33 // seconds, about the largest number that a Duration can hold
	if sec >= most || usec >= 1e6 {
		return 0
	}
	return time.Duration(sec)*time.Second + time.Duration(usec)*time.Microsecond
}

func (r *reader) readAuxv(n note) {
	c := r.cursor(n)
	for c.Len() >= 2*r.word {
		a := dump.Aux{Key: c.Uint(r.word), Value: c.Uint(r.word)}
		if a.Key == atNull {
			return
		}
		r.d.Auxv = append(r.d.Auxv, a)
	}
}

// signal is the content of NT_SIGINFO.
type signal struct {
	number, code uint32
	addr         uint64
	hasAddr      bool
	syscall      *dump.Syscall
}

// readSigInfo reads a siginfo_t. It belongs to the thread whose notes surround it.
func (r *reader) readSigInfo(n note) {
	if len(r.signals) == 0 {
		return
	}
	c := r.cursor(n)
	var s signal
	s.number = c.U32()
	if r.f.Machine == elf.EM_MIPS { // MIPS has these two swapped
		s.code = c.U32()
		c.U32()
	} else {
		c.U32()
		s.code = c.U32()
	}
	if r.word == 8 {
		c.U32() // padding
	}
	addr := c.Uint(r.word)
	if err := c.Err(); err != nil {
		r.damaged(n, "the signal", err)
		return
	}
	if isFault(s.number, s.code) {
		s.addr, s.hasAddr = addr, true
	}
	if r.isSyscall(s) {
		s.addr, s.hasAddr = addr, true
		s.syscall = &dump.Syscall{Number: c.U32(), Audit: c.U32()}
		if err := c.Err(); err != nil {
			r.damaged(n, "the system call", err)
			s.syscall = nil
		}
	}
	r.signals[len(r.signals)-1] = s
}

// isFault reports whether a signal comes from the CPU, with an address: positive codes are the kernel's, and all of
// them but SI_KERNEL have an address (include/uapi/asm-generic/siginfo.h).
func isFault(number, code uint32) bool {
	const (
		siKernel = 0x80
		ill      = 4
		trap     = 5
		bus      = 7
		fpe      = 8
		mipsBus  = 10
		segv     = 11
	)
	if int32(code) <= 0 || code == siKernel {
		return false
	}
	return slices.Contains([]uint32{ill, trap, bus, fpe, mipsBus, segv}, number)
}

// isSyscall reports whether a signal is SIGSYS from the kernel, with a system call. Codes of 0 and below mean that a
// process sent it.
func (r *reader) isSyscall(s signal) bool {
	return int32(s.code) > 0 && s.number == sigSys(r.f.Machine)
}

// sigSys returns the number of SIGSYS.
func sigSys(cpu elf.Machine) uint32 {
	if cpu == elf.EM_MIPS {
		return 12
	}
	return 31
}

// findCrash takes the signal of the first thread, which is the one that received it.
func (r *reader) findCrash() {
	d := r.d
	for i := range d.Threads {
		if d.Process.HasID && d.Threads[i].ID == d.Process.ID {
			d.Threads[i].Name = d.Process.Name
		}
	}
	for _, t := range r.times {
		if d.Process.HasID && t.thread == d.Process.ID {
			d.Process.User, d.Process.Kernel = t.user, t.kernel
		}
	}
	if len(d.Threads) == 0 {
		r.problem("threads", 0, "no NT_PRSTATUS")
		return
	}
	if r.kernel != nil {
		return // a kernel's panic is in its log
	}
	t, s := &d.Threads[0], r.signals[0]
	if s.number == 0 {
		s.number = uint32(t.Signal)
	}
	if s.number != 0 {
		d.Crash = &dump.Crash{Thread: t.ID, Context: t.Context, Code: s.number, Flags: s.code, Address: s.addr, HasAddress: s.hasAddr, Syscall: s.syscall}
	}
}

// findStacks sets each thread's stack to the memory that contains its stack pointer.
func (r *reader) findStacks() {
	for i := range r.d.Threads {
		t := &r.d.Threads[i]
		if t.Context == nil {
			continue
		}
		if m := r.d.Memory.Find(t.Context.SP()); m != nil {
			t.Stack = dump.Range{Addr: m.Addr, Size: uint64(len(m.Data))}
		}
	}
}
