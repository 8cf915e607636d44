package walk

import (
	"bytes"

	"github.com/symtool/symtool/walk/internal/cpu"
)

// bySignalFrame reads the registers that the system saved before it called a signal handler. It
// recognises the frame by the code to which the handler returns. If the dump lacks that code and
// its function is unknown, the contents of the frame decide.
func bySignalFrame(u *unwinder, f *Frame) outcome {
	if !u.may[BySignal] || !u.isLinux() {
		return nothing
	}
	l, pushed := u.signalFrameAt(u.frame.PC)
	trust := TrustCFI
	switch {
	case l != nil && u.restore(l, u.frame.SP-uint64(pushed), f):
	case l == nil && u.isForeign():
		if l = u.guessFrame(f); l == nil {
			return nothing
		}
		trust, u.frame.Inst = TrustCFIScan, u.frame.PC // PC was not a return address
	default:
		return nothing
	}
	u.note("%v: the registers are in the %s frame", BySignal, l.Name)
	f.Trust, f.By, f.Interrupted, u.frame.Handler = trust, BySignal, true, true
	return found
}

// isLinux reports whether signal frames have Linux's layout.
func (u *unwinder) isLinux() bool { return u.d.System.OS.IsLinux() }

// restore reads the registers from a signal frame, and reports whether these include a program
// counter and a stack pointer.
func (u *unwinder) restore(l *cpu.SignalFrame, sp uint64, f *Frame) bool {
	if l.Via >= 0 {
		at, ok := u.ReadWord(sp + uint64(l.Via))
		if !ok {
			return false
		}
		sp = at
	}
	u.out.Reset()
	for _, s := range l.Slots {
		if v, ok := u.d.Memory.Word(sp+uint64(s.Off), s.Size); ok {
			u.out.Set(u.cpu.Reg(s.Reg), v)
		}
	}
	var ok1, ok2 bool
	f.PC, ok1 = u.out.Get(u.cpu.PC)
	f.SP, ok2 = u.out.Get(u.cpu.SP)
	if !ok1 || !ok2 {
		u.note("%v: the %s frame is not in the dump", BySignal, l.Name)
	}
	return ok1 && ok2
}

// isHandlerReturn reports whether f.PC is the code to which a signal handler returns.
func (u *unwinder) isHandlerReturn(f *Frame) bool {
	if !u.isLinux() {
		return false
	}
	l, pushed := u.signalFrameAt(f.PC)
	return l != nil && pushed == 0
}

// signalFrameAt returns the layout of the signal frame that the code at an address removes with a
// system call, or nil if the code does no such thing. pushed is how much higher the stack pointer
// is at that address than at the start of the code. The code decides if the dump has it, and
// otherwise the name of the function. The binary is read last, because it has to be found first.
func (u *unwinder) signalFrameAt(pc uint64) (l *cpu.SignalFrame, pushed int) {
	if last := &u.trampoline; last.pc != pc || !last.asked {
		last.frame, last.pushed = u.findSignalFrame(pc)
		last.pc, last.asked = pc, true
	}
	return u.trampoline.frame, u.trampoline.pushed
}

func (u *unwinder) findSignalFrame(pc uint64) (l *cpu.SignalFrame, pushed int) {
	if b := u.d.Memory.Bytes(pc, minTrampoline); len(b) == minTrampoline {
		return u.signalFrameByCode(pc)
	}
	if l, known := u.signalFrameByName(pc); known {
		return l, 0
	}
	return u.signalFrameByCode(pc)
}

// minTrampoline is the length in bytes of the shortest trampoline's code.
const minTrampoline = 2

// signalFrameByCode compares the code at an address with the code of the trampolines.
func (u *unwinder) signalFrameByCode(pc uint64) (l *cpu.SignalFrame, pushed int) {
	pc &^= u.cpu.Arch.ISABit
	head := u.code(pc, minTrampoline)
	if head == nil {
		return nil, 0
	}
	frames := u.cpu.Frames
	for i := range frames {
		for k := range frames[i].Code {
			t := &frames[i].Code[k]
			for _, s := range t.Steps {
				if u.isCodeOf(head, t, s.Off) && u.isCodeOf(u.code(pc-uint64(s.Off), len(t.Big)), t, 0) {
					return &frames[i], s.SP
				}
			}
		}
	}
	return nil, 0
}

// isCodeOf reports whether b is the code of a trampoline from offset off on.
func (u *unwinder) isCodeOf(b []byte, t *cpu.Trampoline, off int) bool {
	big, little := u.cpu.Order(u.d.Order)
	return len(b) > 0 && (big && bytes.HasPrefix(t.Big[off:], b) || little && bytes.HasPrefix(t.Little[off:], b))
}

// signalFrameByName decides by the name of the function that begins at an address. known reports
// whether there is a symbol for the address.
func (u *unwinder) signalFrameByName(pc uint64) (l *cpu.SignalFrame, known bool) {
	i := u.d.ModuleAt(pc)
	if i < 0 {
		return nil, false
	}
	r := u.stateOf(i).resolver(u.ctx)
	if r == nil {
		return nil, false
	}
	base := u.d.Modules[i].Addr
	if ok, err := r.Nearest(u.ctx, rva(pc-base), &u.at); !ok || err != nil || len(u.at.Frames) == 0 {
		return nil, false
	}
	kind := trampolines[u.at.Frames[len(u.at.Frames)-1].Function]
	if kind == "" || base+uint64(u.at.Start) != pc&^u.cpu.Arch.ISABit {
		return nil, !u.at.Guess // the nearest symbol of a stripped library may be of another function
	}
	frames := u.cpu.Frames
	for i := range frames {
		if frames[i].Name == kind {
			return &frames[i], true
		}
	}
	return &frames[0], true
}

// isForeign reports whether the frame has returned to code about which nothing is known: the dump
// lacks its bytes, and there is neither a binary nor symbols.
func (u *unwinder) isForeign() bool {
	pc := u.frame.PC
	if u.frame.Interrupted || pc < FirstPage || u.d.Memory.Find(pc) != nil {
		return false
	}
	i := u.d.ModuleAt(pc)
	if i < 0 {
		return u.frame.Module < 0
	}
	return u.stateOf(i).resolver(u.ctx) == nil && u.code(pc, minTrampoline) == nil
}

// guessFrame returns the layout of a signal frame at the stack pointer, if the contents look like
// one.
func (u *unwinder) guessFrame(f *Frame) *cpu.SignalFrame {
	frames := u.cpu.Frames
	for i := range frames {
		if l := &frames[i]; u.isSignalFrame(l) && u.restore(l, u.frame.SP, f) && u.isPlausible(f) {
			return l
		}
	}
	return nil
}

// Limits of signal numbers and of the flags in struct ucontext, of which the kernel uses only the
// lowest.
const (
	maxSignal  = 64
	maxUCFlags = 0xff

	maxSignalFrame = 1024 // bytes; larger than the frames without number and context
)

// isSignalFrame reports whether the stack pointer points to a signal's number and to a context as
// the kernel writes it, with few flags and without a successor. For frames without these, it must
// point to a pointer to the registers in the frame itself.
func (u *unwinder) isSignalFrame(l *cpu.SignalFrame) bool {
	sp := u.frame.SP
	if l.Info < 0 || l.UC < 0 {
		at, ok := u.ReadWord(sp + uint64(max(l.Via, 0)))
		return l.Via >= 0 && ok && at > sp && at-sp < maxSignalFrame && at%uint64(u.cpu.Arch.PtrSize) == 0
	}
	signo, ok := u.d.Memory.Word(sp+uint64(l.Info), 4)
	if !ok || signo == 0 || signo > maxSignal {
		return false
	}
	flags, ok1 := u.ReadWord(sp + uint64(l.UC))
	link, ok2 := u.ReadWord(sp + uint64(l.UC+u.cpu.Arch.PtrSize))
	return ok1 && ok2 && flags <= maxUCFlags && link == 0
}

// isPlausible reports whether registers are plausible for a running thread.
func (u *unwinder) isPlausible(f *Frame) bool {
	return u.isCode(u.clean(f.PC)) && f.SP%uint64(u.cpu.Arch.PtrSize) == 0 &&
		(u.d.Memory.Find(f.SP) != nil || u.nextMemory(f.SP) != f.SP) // otherwise the stack has overflowed
}

// trampolines maps the functions to which signal handlers return, by name, to the kinds of frames that they expect.
// Each CPU has its own layouts of these kinds.
var trampolines = map[string]string{
	"__restore_rt": "rt", "__restore": "old", "__default_rt_sa_restorer": "rt", "__default_sa_restorer": "old",
	"__kernel_rt_sigreturn": "rt", "__kernel_sigreturn": "old", "__vdso_rt_sigreturn": "rt", "__vdso_sigreturn": "old",
	"__kernel_sigtramp_rt64": "rt", "__kernel_sigtramp32": "old", "__kernel_sigtramp_rt32": "rt",
	"runtime.sigreturn__sigaction": "rt", "runtime.sigreturn__sigaction.abi0": "rt", // Go's
}
