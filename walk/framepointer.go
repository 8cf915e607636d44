package walk

import (
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/walk/dump"
)

// layout says where a function with a frame pointer keeps what its caller needs, in words from the
// address in that register.
type layout struct {
	reg     string // the frame pointer
	fp, ra  int    // where the caller's frame pointer and the return address are
	sp      int    // the caller's stack pointer, or where it is saved
	spSaved bool
	// leaf is where a function that calls no other has the caller's frame pointer, while its return
	// address is still in the link register; sp counts. Only if hasLeaf.
	leaf, leafSP int
	hasLeaf      bool
	// often says that compilers use the register for other values unless an option keeps the frame
	// pointer: it takes both signs to believe a record.
	often bool

	base cfi.Reg // reg
}

// withRegisters resolves the names in layouts.
func (c *cpu) withRegisters(list []layout) []layout {
	out := make([]layout, len(list))
	for i, l := range list {
		l.base = c.reg(l.reg)
		out[i] = l
	}
	return out
}

// layoutsOf returns the layouts of the process.
func (u *unwinder) layoutsOf() []layout {
	switch u.d.System.OS {
	case dump.IOS, dump.MacOS:
		if len(u.cpu.apple) > 0 {
			return u.cpu.apple
		}
	case dump.Windows:
		if u.cpu.noWindowsFP {
			return nil
		}
	}
	return u.cpu.layouts
}

// record is the frame that a frame pointer leads to.
type record struct {
	base   cfi.Reg // that has led there
	next   uint64  // the caller's frame pointer
	pc, sp uint64
	chain  bool // next leads to memory above, or is the end
	call   bool // pc looks like a return address
}

// byFramePointer takes the caller from the frame that the frame pointer points to, as the CPU's
// convention defines it.
func byFramePointer(u *unwinder, f *Frame) outcome {
	if !u.may[ByFramePointer] {
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

// chainEnds reports whether the frame pointer is 0, as the code with which programs and threads
// begin leaves it.
func (u *unwinder) chainEnds(list []layout) bool {
	known := false
	for i := range list {
		fp, ok := u.in.Get(list[i].base)
		if known = known || ok; ok && fp != 0 {
			return false
		}
	}
	return known
}

// bestRecord returns the record with the most signs of being one.
func (u *unwinder) bestRecord(list []layout) (best record, ok bool) {
	for i := range list {
		r, valid := u.readRecord(&list[i])
		if !valid || list[i].often && !(r.call && r.chain) {
			continue
		}
		if !ok || r.chain && !best.chain {
			best, ok = r, true
		}
	}
	return best, ok
}

// readRecord reads a record and reports whether it may be one. One sign is enough at first: that
// the next frame pointer leads on, or that the return address is one. Code that was made at run
// time is in no module, and the program's first function leaves anything in the frame pointer.
func (u *unwinder) readRecord(l *layout) (r record, ok bool) {
	fp, ok := u.in.Get(l.base)
	if !ok {
		return r, false
	}
	word := uint64(u.cpu.arch.PtrSize)
	low := u.words(fp, min(l.fp, l.ra))
	r = record{base: l.base, sp: u.words(fp, l.sp)}
	if fp%word != 0 || low < u.frame.SP || low > fp || fp+2*word < fp {
		u.note("%v: %s is %#x, no frame", ByFramePointer, l.reg, fp)
		return r, false
	}
	var ok1, ok2, ok3 bool
	r.pc, ok1 = u.ReadWord(u.words(fp, l.ra))
	r.next, ok2 = u.ReadWord(u.words(fp, l.fp))
	if ok3 = true; l.spSaved {
		r.sp, ok3 = u.ReadWord(r.sp)
	}
	if !ok1 || !ok2 || !ok3 {
		u.note("%v: no memory at %s, %#x", ByFramePointer, l.reg, fp)
		return r, false
	}
	r.pc = u.cpu.clean(u, r.pc)
	if r.pc < FirstPage && r.next == 0 && !u.frame.Interrupted {
		return r, true // the end of the chain
	}
	up := u.isFramePointer(r.next, r.sp)
	r.chain, r.call = up || r.next == 0, u.isReturn(r.pc)
	if !r.call && (!up || !u.isAddress(r.pc)) {
		u.note("%v: at %#x are %#x and %#x, no frame", ByFramePointer, fp, r.next, r.pc)
		return r, false
	}
	return r, true
}

// isFramePointer reports whether a value may be the frame pointer of a function whose stack pointer
// is sp.
func (u *unwinder) isFramePointer(fp, sp uint64) bool {
	if fp < sp || fp%uint64(u.cpu.arch.PtrSize) != 0 {
		return false
	}
	_, ok := u.ReadWord(fp)
	return ok
}

// isAddress reports whether a value may be an address of code at all.
func (u *unwinder) isAddress(pc uint64) bool {
	return pc >= FirstPage && pc%u.cpu.align == 0 && u.isCanonical(pc)
}

// isCanonical reports whether the unused bits of an address are as the CPU demands.
func (u *unwinder) isCanonical(pc uint64) bool { return u.cpu.arch.IsCanonical(pc) }

// isNowhere reports whether there is certainly no code at an address: it is not
// canonical, or the dump shows memory there that cannot be executed. On Windows
// that is not certain, as memory protection may be off.
func (u *unwinder) isNowhere(pc uint64) bool {
	if !u.isCanonical(pc) {
		return true
	}
	if !u.isLinux() || u.d.ModuleAt(pc) >= 0 {
		return false
	}
	m := u.d.MappingAt(pc)
	return m != nil && (m.Read || m.Write) && !m.Exec
}

// chainWords returns where return addresses are, in words from the end of a link of the back chain;
// false on CPUs without back chains.
func (u *unwinder) chainWords() (int, bool) {
	if u.cpu.appleChain > 0 && u.d.System.OS == dump.MacOS {
		return u.cpu.appleChain, true
	}
	return u.cpu.backChain, u.cpu.backChain > 0
}

// words is the address n words from another.
func (u *unwinder) words(addr uint64, n int) uint64 {
	return addr + uint64(n)*uint64(u.cpu.arch.PtrSize)
}

// byBackChain takes the caller from the word at the stack pointer. A function
// saves its return address in its caller's frame.
func (u *unwinder) byBackChain(f *Frame, words int) outcome {
	word := uint64(u.cpu.arch.PtrSize)
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
		u.note("%v: %#x is no back chain", ByFramePointer, sp)
		return nothing
	}
	next, _ := u.ReadWord(sp)
	if pc > 1 && !u.isReturn(pc) && (next <= sp || !u.isAddress(pc)) { // 1: see Breakpad's stackwalker_ppc.cc
		u.note("%v: %#x is no return address", ByFramePointer, pc)
		return nothing
	}
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
