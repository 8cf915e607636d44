package walk

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// byFramePointer takes the caller from the frame that the frame pointer points
// to, as a function has it that keeps one by the CPU's convention.
func byFramePointer(u *unwinder, f *Frame) outcome {
	if !u.may[ByFramePointer] {
		return nothing
	}
	fp, ok := u.in.Get(u.cpu.reg(u.cpu.arch.FP))
	if !ok {
		return nothing
	}
	word := uint64(u.cpu.arch.PtrSize)
	saved, ret, sp := fp, fp+word, fp+2*word // where the caller's frame pointer and the return address are, and its stack pointer
	switch u.cpu.arch {
	case arch.RISCV, arch.RISCV64:
		saved, ret, sp = fp-2*word, fp-word, fp
	}
	if fp%word != 0 || fp < u.frame.SP {
		u.note("%v: %#x is no frame", ByFramePointer, fp)
		return nothing
	}
	pc, ok1 := u.ReadWord(ret)
	next, ok2 := u.ReadWord(saved)
	if !ok1 || !ok2 {
		u.note("%v: no memory at %#x", ByFramePointer, fp)
		return nothing
	}
	if pc = u.cpu.clean(u, pc); pc >= firstPage && !u.isCode(pc) {
		u.note("%v: %#x is no code", ByFramePointer, pc)
		return nothing
	}
	u.out.Set(u.cpu.reg(u.cpu.arch.FP), next)
	u.leave(f, pc, sp)
	f.Trust, f.By = TrustFramePtr, ByFramePointer
	return found
}

// leave sets the caller's program counter and stack pointer.
func (u *unwinder) leave(f *Frame, pc, sp uint64) {
	u.out.Set(u.cpu.pc, pc)
	u.out.Set(u.cpu.sp, sp)
	f.PC, f.SP = pc, sp
}

// byReturn is for a thread that has just entered a function that is none, as by
// a call of a null pointer: the return address is where the call has left it.
func byReturn(u *unwinder, f *Frame) outcome {
	if !u.may[ByReturn] || !u.frame.Interrupted || u.isCode(u.frame.PC) {
		return nothing
	}
	var pc uint64
	sp := u.frame.SP
	if ra := u.cpu.arch.RA; ra != "" {
		pc, _ = u.in.Get(u.cpu.reg(ra))
	} else {
		pc, _ = u.ReadWord(sp)
		sp += uint64(u.cpu.arch.PtrSize)
	}
	if pc = u.cpu.clean(u, pc); !u.isReturn(pc) {
		u.note("%v: %#x is no return address", ByReturn, pc)
		return nothing
	}
	u.keepSaved()
	u.leave(f, pc, sp)
	f.Trust, f.By = TrustScan, ByReturn
	return found
}

// keepSaved gives the caller the frame's callee-saved registers.
func (u *unwinder) keepSaved() {
	for _, name := range u.cpu.arch.CalleeSaved {
		r := u.cpu.reg(name)
		if v, ok := u.in.Get(r); ok {
			u.out.Set(r, v)
		}
	}
}

var _ cfi.Memory = (*unwinder)(nil)
