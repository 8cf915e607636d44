package walk

import (
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/internal/cpu"
)

// byReturn handles functions without rules whose return address is where the call left it: a
// function that was just entered; an address outside code, such as after a call of a null pointer;
// or, on CPUs with a link register, a leaf function. Only the topmost frame, or a frame that a
// signal interrupted, can be such a case.
func byReturn(u *unwinder, f *Frame) outcome {
	if !u.may[ByReturn] || !u.frame.Interrupted {
		return nothing
	}
	if u.cpu.Arch.RA != "" {
		return u.byLinkRegister(f)
	}
	if u.isInFunction() || u.isExecutable(u.frame.PC) && u.frame.Module < 0 {
		return nothing
	}
	pc, _ := u.ReadWord(u.frame.SP)
	if !u.isReturn(pc) {
		u.note("%v: %#x is not a return address", ByReturn, pc)
		return nothing
	}
	u.keepSaved()
	u.leave(f, pc, u.frame.SP+uint64(u.cpu.Arch.PtrSize))
	f.Trust, f.By = TrustScan, ByReturn
	return found
}

// isInFunction reports whether the frame may be past the first instruction of a function.
func (u *unwinder) isInFunction() bool {
	return u.isCode(u.frame.PC) && u.frame.PC != u.frame.Start && !u.frame.Data
}

// byLinkRegister takes the return address from the link register. Breakpad does the same on
// arm64, with the trust of a frame pointer.
func (u *unwinder) byLinkRegister(f *Frame) outcome {
	lr, _ := u.in.Get(u.cpu.RA)
	pc := u.clean(lr)
	if !u.isReturn(pc) || !u.isFresh(pc) {
		u.note("%v: %s is %#x, which does not lead to the caller", ByReturn, u.cpu.Arch.RA, lr)
		return nothing
	}
	u.keepSaved()
	sp := u.frame.SP
	if u.isInFunction() {
		sp = u.leafChain(u.leafRecord(sp), pc)
	}
	u.leave(f, pc, sp)
	f.Trust, f.By = TrustFramePtr, ByReturn
	return found
}

// isFresh reports whether the link register still has the frame's own return address. After a call
// the register points into the function that made the call, and so such a function is recognised.
// On ARM it points to another function just as often, because functions return by loading pc.
func (u *unwinder) isFresh(pc uint64) bool {
	if !u.isInFunction() {
		return true
	}
	if u.cpu.LoadsPC {
		return u.isLeafRecord(&u.cpu.Layouts[0])
	}
	r, hasRecord := u.bestRecord(u.layoutsOf())
	if hasRecord && r.pc == pc {
		return false // the frame pointer is set up and is more reliable
	}
	module := u.d.ModuleAt(pc - u.cpu.Call)
	if module != u.frame.Module {
		return true
	}
	if u.frame.Start == 0 {
		return !hasRecord // no symbols say where functions begin
	}
	return u.startOf(module, pc-u.cpu.Call) != u.frame.Start
}

// startOf returns the address of the function that contains an address of a
// module, or 0 if it is unknown.
func (u *unwinder) startOf(module int, addr uint64) uint64 {
	base := u.d.Modules[module].Addr
	r := u.stateOf(module).resolver(u.ctx)
	if r == nil {
		return 0
	}
	if ok, err := r.Nearest(u.ctx, rva(addr-base), &u.at); !ok || err != nil {
		return 0
	}
	return base + uint64(u.at.Start)
}

// leafRecord restores the caller's frame pointer if a leaf function has saved it nevertheless, and
// returns the caller's stack pointer.
func (u *unwinder) leafRecord(sp uint64) uint64 {
	list := u.layoutsOf()
	for i := range list {
		if l := &list[i]; u.isLeafRecord(l) {
			fp, _ := u.in.Get(l.Base)
			next, _ := u.ReadWord(u.words(fp, l.Leaf))
			u.out.Set(l.Base, next)
			return max(sp, u.words(fp, l.LeafSP))
		}
	}
	return sp
}

// isLeafRecord reports whether the frame pointer leads to the record of a leaf function: in place
// of the return address, the record has the caller's frame pointer, which leads to a complete
// record.
func (u *unwinder) isLeafRecord(l *cpu.Layout) bool {
	fp, ok := u.in.Get(l.Base)
	if !l.HasLeaf || !ok || fp%uint64(u.cpu.Arch.PtrSize) != 0 || fp < u.frame.SP {
		return false
	}
	next, ok := u.ReadWord(u.words(fp, l.Leaf))
	if !ok || !u.isFramePointer(next, u.words(fp, l.LeafSP)) {
		return false
	}
	pc, ok := u.ReadWord(u.words(next, l.RA))
	return ok && u.isReturn(u.clean(pc))
}

// leafChain returns the stack pointer of a leaf function's caller, on CPUs with back chains. If the
// function has its own frame, the chain leads to the caller's frame, which may contain the
// function's return address. Otherwise the function has its caller's stack pointer.
func (u *unwinder) leafChain(sp, pc uint64) uint64 {
	words, ok := u.chainWords()
	if !ok {
		return sp
	}
	up, ok := u.ReadWord(sp)
	if !ok || !u.isFramePointer(up, sp+1) {
		return sp
	}
	saved, _ := u.ReadWord(u.words(up, words))
	if saved != pc && u.isReturn(saved) {
		return sp
	}
	return up
}

// keepSaved copies the frame's callee-saved registers to the caller.
func (u *unwinder) keepSaved() {
	for _, r := range u.cpu.Saved {
		if v, ok := u.in.Get(r); ok {
			u.out.Set(r, v)
		}
	}
}

// byLeaf handles functions of 64-bit Windows without unwind information. By the system's convention
// they neither move the stack pointer nor save registers, so the return address is on top of the
// stack (Microsoft, "x64 stack usage", leaf functions; Breakpad's "simulating a return from leaf
// function"). Only the topmost frame can be such a function.
func byLeaf(u *unwinder, f *Frame) outcome {
	if !u.may[ByReturn] || u.d.System.OS != dump.Windows || u.frame.Trust != TrustContext {
		return nothing
	}
	pc, ok := u.ReadWord(u.frame.SP)
	if !ok || !u.isReturn(pc) {
		u.note("%v: the word on top of the stack is not a return address", ByReturn)
		return nothing
	}
	u.keepAll()
	u.leave(f, pc, u.frame.SP+8)
	f.Trust, f.By = TrustScan, ByReturn
	return found
}

// keepAll copies all registers of the frame to the caller.
func (u *unwinder) keepAll() {
	for _, r := range u.cpu.Kept {
		if v, ok := u.in.Get(r); ok {
			u.out.Set(r, v)
		}
	}
}
