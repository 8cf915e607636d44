package walk

import (
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// STACK WIN records say how to get from a function of 32-bit Windows to its caller: with a program
// over registers and sizes (type 4), or with sizes alone (type 0, FPO). The specification is
// Breakpad's symbol_files.md, "Interpreting a STACK WIN record"; its stackwalker_x86.cc adds
// searches of the stack, because those sizes are often wrong.
//
// Differences from Breakpad:
//
//   - The size of the arguments on top of a frame is taken from the function that the frame called,
//     as the specification says. Breakpad, since it prints inlined functions, takes it from the
//     topmost frame that has a size (TestWinParametersOfTheCallee).
//   - Registers with CodeView's numbers ($22) are registers; Breakpad takes them for variables of
//     the program (TestWinRecords).
//   - The parameter size of a PUBLIC record is used, as the specification says; Breakpad reads it
//     and drops it (TestWinParameterSizes).
//   - Programs read all memory of the dump, not only the thread's stack
//     (TestWinProgramReadsOtherMemory).
//   - A caller with the frame's own %esp is rejected, even for the topmost frame: a call leaves its
//     return address there (TestWinStuck).
//   - The search for a saved %ebp covers at most maxSavedBytes (TestWinRecoversEBP).

// maxSavedBytes is the number of bytes searched for a saved frame pointer: enough for four saved
// registers, and for a search that went too far. The size in the record is not trusted, because it
// may be 4 GB.
const maxSavedBytes = 4096

// alignedWords is the number of words, from the computed address on, that may contain the return
// address of a function that aligned its stack to 16 bytes.
const alignedWords = 4

// byWin uses the STACK WIN records of the symbol file.
func byWin(u *unwinder, f *Frame) outcome {
	if u.module == nil {
		return nothing
	}
	r := u.module.resolver(u.ctx)
	if r == nil {
		return nothing
	}
	rec := u.winRecord(r, u.rva)
	if rec.win == nil {
		if rec.err != nil {
			u.note("STACK WIN: %v", rec.err)
		}
		return nothing
	}
	// The caller's step needs the size of the frame's arguments, which are in the caller's frame.
	u.frame.paramSize = rec.win.ParameterSize
	w := winStep{u: u, rec: rec, win: rec.win, regs: &u.win.regs, vars: u.win.vars, by: ByWinProgram}
	if rec.program == nil {
		w.by = ByWinFPO
	}
	if !u.may[w.by] {
		return nothing
	}
	return w.run(f)
}

// winStep is the step from a frame to its caller by a STACK WIN record.
// Addresses have 32 bits and wrap around.
type winStep struct {
	u    *unwinder
	rec  *winRecord
	win  *symfmt.StackWin
	regs *winRegs
	vars *cfi.Regs // registers and variables of the frame, then of the caller
	by   Technique

	trust   Trust
	esp     uint32 // of the frame
	callee  uint32 // bytes of arguments of the frame's callee
	raStart uint32 // where the return address should be
	offset  uint32 // from raStart to where it was found
	keepEBX bool
}

func (w *winStep) run(f *Frame) outcome {
	u := w.u
	w.trust = TrustCFI
	w.esp = uint32(u.frame.SP)
	if u.callee != nil && !u.frame.Interrupted {
		w.callee = uint32(u.callee.paramSize)
	}
	w.raStart = w.esp + w.callee + uint32(w.win.LocalSize) + uint32(w.win.SavedRegisterSize)
	w.adjust()
	w.begin()
	if err := w.evaluate(); err != nil {
		u.note("%v: %v", w.by, err)
		at, pc, ok := w.scan(w.esp, w.words())
		if !ok {
			return nothing
		}
		w.vars.Set(w.regs.eip, uint64(pc))
		w.vars.Set(w.regs.esp, uint64(at+4))
		w.trust, w.by = TrustScan, ByScan
	}
	if w.get(w.regs.eip) != 0 || w.get(w.regs.ebp) != 0 {
		w.improve()
	} // otherwise it is the end of the stack
	return w.done(f)
}

func (w *winStep) get(r cfi.Reg) uint32 {
	v, _ := w.vars.Get(r)
	return uint32(v)
}

// onStack reports whether an address is in the same region of memory as the stack.
func (w *winStep) onStack(addr uint32) bool {
	r := w.u.d.Memory.Find(uint64(w.esp))
	return r != nil && uint64(addr) >= r.Addr && uint64(addr)-r.Addr < uint64(len(r.Data)) && uint64(len(r.Data))-(uint64(addr)-r.Addr) >= 4
}

// words returns the number of words searched for a return address.
func (w *winStep) words() int {
	if w.u.frame.Trust == TrustContext {
		return scanWordsContext
	}
	return scanWords
}

// scan looks for a return address in n words from start on. If it finds none, at is start. A search
// of more than alignedWords words needs the technique ByScan.
func (w *winStep) scan(start uint32, n int) (at, pc uint32, ok bool) {
	if n > alignedWords && !w.u.may[ByScan] {
		return 0, 0, false
	}
	for i := range n {
		at = start + 4*uint32(i)
		v, known := w.u.ReadWord(uint64(at))
		if !known || at < start {
			break
		}
		if w.u.isReturn(v) {
			return at, uint32(v), true
		}
	}
	return start, 0, false
}

// adjust corrects the location of the return address, which may be preceded by words that align the
// stack.
func (w *winStep) adjust() {
	at, pc, ok := w.scan(w.raStart, alignedWords)
	if ok && at == w.raStart && w.win.Type == 0 && w.u.frame.Trust == TrustContext && uint64(pc) == w.u.frame.PC {
		// A system call of Windows XP has returned, and the stack still contains the address to
		// which it returned, the frame's own program counter. The frame's return address is
		// above it.
		at, _, _ = w.scan(at+4, alignedWords)
	}
	w.raStart = at
}

// begin sets the frame's variables that programs use.
func (w *winStep) begin() {
	w.vars.Reset()
	for _, r := range []cfi.Reg{w.regs.ebp, w.regs.esp, w.regs.ebx} {
		if v, ok := w.u.in.Get(r); ok {
			w.vars.Set(r, v)
		}
	}
}

// evaluate computes the caller's registers.
func (w *winStep) evaluate() error {
	if w.rec.program == nil {
		return w.fpo()
	}
	p := w.rec.program
	if p.err != nil {
		return p.err
	}
	if v, ok := w.u.in.Get(w.regs.ebp); ok && p.aligns {
		// The function has aligned %esp, and only %ebp shows by how much.
		w.raStart = uint32(v) + 4
	}
	sizes := [...]uint64{w.win.ParameterSize, uint64(w.callee), w.win.SavedRegisterSize, w.win.LocalSize}
	for i, r := range p.sizes {
		w.vars.Set(r, sizes[i])
	}
	for _, r := range p.raStart {
		w.vars.Set(r, uint64(w.raStart))
	}
	w.u.note("%v: %s", w.by, w.win.Program)
	if err := p.code.Run(w.vars, w.u); err != nil {
		return err
	}
	if !w.vars.Assigned(w.regs.eip) || !w.vars.Assigned(w.regs.esp) {
		return errWinProgram
	}
	return nil
}

// fpo computes the caller's registers from sizes: %eip, %esp, and %ebp if the
// function uses it as a general register.
func (w *winStep) fpo() error {
	u := w.u
	u.note("%v: %d bytes of locals, %d of saved registers, %d of arguments on top, base pointer %v",
		w.by, w.win.LocalSize, w.win.SavedRegisterSize, w.callee, w.win.AllocatesBasePtr)
	eip, ok := u.ReadWord(uint64(w.raStart))
	if !ok {
		return errWinMemory
	}
	w.vars.Set(w.regs.eip, eip)
	if w.win.AllocatesBasePtr {
		ebp, ok := u.ReadWord(uint64(w.esp + w.callee + uint32(w.win.SavedRegisterSize) - 8))
		if !ok {
			return errWinMemory
		}
		w.vars.Set(w.regs.ebp, ebp)
	}
	w.vars.Set(w.regs.esp, uint64(w.raStart+4))
	// Most functions that preserve %ebp without using it preserve %ebx, too.
	w.keepEBX = !w.win.AllocatesBasePtr
	return nil
}

type winError string

func (e winError) Error() string { return string(e) }

const (
	errWinProgram winError = "the program does not set both $eip and $esp"
	errWinMemory  winError = "the dump has no memory where the return address is"
)

// improve searches the stack if the computed values cannot be right.
func (w *winStep) improve() {
	if eip := w.get(w.regs.eip); w.u.d.ModuleAt(uint64(eip)) < 0 {
		start := w.raStart + 4
		if at, pc, ok := w.scan(start, w.words()); ok {
			w.u.note("%v: %#x is not code, but %#x at %#x is", w.by, eip, pc, at)
			w.vars.Set(w.regs.eip, uint64(pc))
			w.vars.Set(w.regs.esp, uint64(at+4))
			w.offset, w.trust = at-start, TrustCFIScan
		}
	}
	if w.rec.program != nil || w.win.AllocatesBasePtr {
		w.recoverEBP()
	}
}

// recoverEBP searches the area of saved registers for the caller's %ebp, if the computed one does
// not point to the stack, or points to a frame that the search has skipped. It begins at the
// highest address, since functions save %ebp early.
func (w *winStep) recoverEBP() {
	ebp := w.get(w.regs.ebp)
	passed := w.trust != TrustCFI && ebp <= w.raStart+w.offset
	if !passed && w.onStack(ebp) {
		return
	}
	end := w.esp + w.callee
	n := min(uint64(uint32(w.win.SavedRegisterSize))+uint64(w.offset), maxSavedBytes)
	for at := end + uint32(n); at >= end; at -= 4 {
		v, ok := w.u.ReadWord(uint64(at))
		if !ok {
			return
		}
		if w.onStack(uint32(v)) {
			w.u.note("%v: $ebp is %#x rather than %#x", w.by, v, ebp)
			w.vars.Set(w.regs.ebp, v)
			return
		}
		if at < 4 {
			return
		}
	}
}

// done sets the known registers of the caller.
func (w *winStep) done(f *Frame) outcome {
	out := w.u.out
	if v, ok := w.vars.Get(w.regs.ebp); ok {
		out.Set(w.regs.ebp, v)
	}
	for _, r := range []cfi.Reg{w.regs.ebx, w.regs.esi, w.regs.edi} {
		if v, ok := w.vars.Get(r); ok && (w.vars.Assigned(r) || w.keepEBX && r == w.regs.ebx) {
			out.Set(r, v)
		}
	}
	w.u.leave(f, uint64(w.get(w.regs.eip)), uint64(w.get(w.regs.esp)))
	f.Trust, f.By = w.trust, w.by
	return found
}
