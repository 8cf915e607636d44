package walk

import (
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// layoutsOf returns the layouts of frames on the process's system.
func (u *unwinder) layoutsOf() []cpu.Layout {
	switch u.d.System.OS {
	case dump.IOS, dump.MacOS:
		if len(u.cpu.Apple) > 0 {
			return u.cpu.Apple
		}
	case dump.Windows:
		if u.cpu.NoWindowsFP {
			return nil
		}
	}
	return u.cpu.Layouts
}

// record is the frame record to which a frame pointer leads.
type record struct {
	base   cfi.Reg // the frame pointer that led here
	next   uint64  // the caller's frame pointer
	pc, sp uint64
	chain  bool // next leads to memory above, or is 0, the end of the chain
	call   bool // pc looks like a return address
}

// byFramePointer finds the caller through the frame that the frame pointer points to, as the
// CPU's convention defines it.
func byFramePointer(u *unwinder, f *Frame) outcome {
	if !u.may[ByFramePointer] {
		return nothing
	}
	if u.lacks != "" && u.cpu.MakesFrame != nil && !u.setsFrame(u.frame) {
		u.note("%v: the function may not have set %s, which then leads past its caller", ByFramePointer, u.cpu.Arch.FP)
		return nothing
	}
	if words, ok := u.chainWords(); ok {
		return u.byBackChain(f, words)
	}
	list := u.layoutsOf()
	if len(list) == 0 {
		return nothing
	}
	if u.frame.By == ByFramePointer && u.chainEnds(list) {
		return outermost
	}
	r, ok := u.bestRecord(list)
	if !ok {
		return nothing
	}
	u.out.Set(r.base, r.next)
	u.leave(f, r.pc, r.sp)
	f.Trust, f.By = TrustFramePtr, ByFramePointer
	return found
}

// chainEnds reports whether the frame pointer is 0, as it is in the code where programs and threads
// begin.
func (u *unwinder) chainEnds(list []cpu.Layout) bool {
	known := false
	for i := range list {
		fp, ok := u.in.Get(list[i].Base)
		if known = known || ok; ok && fp != 0 {
			return false
		}
	}
	return known
}

// bestRecord returns the most plausible record.
func (u *unwinder) bestRecord(list []cpu.Layout) (best record, ok bool) {
	for i := range list {
		r, valid := u.readRecord(&list[i])
		if !valid || list[i].Often && !(r.call && r.chain) {
			continue
		}
		if !ok || r.chain && !best.chain {
			best, ok = r, true
		}
	}
	return best, ok
}

// readRecord reads a record and reports whether it is plausible. One sign is enough here: the next
// frame pointer leads to memory above, or the return address looks like one. Code generated at run
// time is in no module, and the frame pointer of the program's first function may have any value.
func (u *unwinder) readRecord(l *cpu.Layout) (r record, ok bool) {
	fp, ok := u.in.Get(l.Base)
	if !ok {
		return r, false
	}
	word := uint64(u.cpu.Arch.PtrSize)
	low := u.words(fp, min(l.FP, l.RA))
	r = record{base: l.Base, sp: u.words(fp, l.SP)}
	if fp%word != 0 || low < u.frame.SP || low > fp || fp+2*word < fp {
		u.note("%v: %s is %#x, which is not a frame", ByFramePointer, l.Reg, fp)
		return r, false
	}
	var ok1, ok2, ok3 bool
	r.pc, ok1 = u.ReadWord(u.words(fp, l.RA))
	r.next, ok2 = u.ReadWord(u.words(fp, l.FP))
	if ok3 = true; l.SPSaved {
		r.sp, ok3 = u.ReadWord(r.sp)
	}
	if !ok1 || !ok2 || !ok3 {
		u.note("%v: no memory at %s, %#x", ByFramePointer, l.Reg, fp)
		return r, false
	}
	r.pc = u.clean(r.pc)
	if r.pc < FirstPage && r.next == 0 && !u.frame.Interrupted {
		return r, true // the end of the chain
	}
	up := u.isFramePointer(r.next, r.sp)
	r.chain, r.call = up || r.next == 0, u.isReturn(r.pc)
	if !r.call && (!up || !u.isAddress(r.pc)) {
		u.note("%v: at %#x are %#x and %#x, which are not a frame", ByFramePointer, fp, r.next, r.pc)
		return r, false
	}
	return r, true
}

// isFramePointer reports whether a value may be the frame pointer of a function whose stack pointer
// is sp.
func (u *unwinder) isFramePointer(fp, sp uint64) bool {
	if fp < sp || fp%uint64(u.cpu.Arch.PtrSize) != 0 {
		return false
	}
	_, ok := u.ReadWord(fp)
	return ok
}

// isAddress reports whether a value may be the address of code.
func (u *unwinder) isAddress(pc uint64) bool {
	return pc >= FirstPage && pc%u.cpu.Align == 0 && u.isCanonical(pc)
}

// chainWords returns the distance, in words, from a link of the back chain to the return address,
// and whether the CPU has back chains.
func (u *unwinder) chainWords() (int, bool) {
	if u.cpu.AppleChain > 0 && u.d.System.OS == dump.MacOS {
		return u.cpu.AppleChain, true
	}
	return u.cpu.BackChain, u.cpu.BackChain > 0
}

// words returns the address n words from another.
func (u *unwinder) words(addr uint64, n int) uint64 {
	return addr + uint64(n)*uint64(u.cpu.Arch.PtrSize)
}

// byBackChain finds the caller through the word at the stack pointer. A function saves its return
// address in its caller's frame.
func (u *unwinder) byBackChain(f *Frame, words int) outcome {
	word := uint64(u.cpu.Arch.PtrSize)
	sp, ok := u.ReadWord(u.frame.SP)
	if !ok || u.frame.SP%word != 0 {
		u.note("%v: no memory at %#x", ByFramePointer, u.frame.SP)
		return nothing
	}
	if sp == 0 && u.frame.By == ByFramePointer {
		return outermost
	}
	pc, ok := u.ReadWord(u.words(sp, words))
	if !ok || sp <= u.frame.SP || sp%word != 0 {
		u.note("%v: %#x is not a link of a back chain", ByFramePointer, sp)
		return nothing
	}
	next, _ := u.ReadWord(sp)
	if pc > 1 && !u.isReturn(pc) && (next <= sp || !u.isAddress(pc)) { // 1: see Breakpad's stackwalker_ppc.cc
		u.note("%v: %#x is not a return address", ByFramePointer, pc)
		return nothing
	}
	u.leave(f, pc, sp)
	f.Trust, f.By = TrustFramePtr, ByFramePointer
	return found
}

// leave sets the caller's program counter and stack pointer.
func (u *unwinder) leave(f *Frame, pc, sp uint64) {
	u.out.Set(u.cpu.PC, pc)
	u.out.Set(u.cpu.SP, sp)
	f.PC, f.SP = pc, sp
}
