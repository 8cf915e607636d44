package walk

import (
	"github.com/symtool/symtool/resolve"
)

// byPrologue is the step by the frame pointer, if the function certainly has a frame pointer at the
// frame's address. In code without frame pointers the register may hold anything, so all of these
// conditions must hold:
//
//   - The function's first instructions, starting at the address of its FUNC record, save the old
//     frame pointer and set the new one, and the frame's address is past them. If compilers set it
//     later, or not at all, there is no step.
//   - The frame made a call: at a call the function's own frame is complete, whereas a function
//     that was interrupted may just be removing it.
//   - The register points to a frame: it is aligned, not below the stack pointer, and in the dump's
//     memory, and the frame contains an address that follows a call.
func (u *unwinder) byPrologue(f *Frame) (Step, bool) {
	if f.Interrupted || f.Handler || f.Source != resolve.Func || !u.setsFrame(f) {
		return Step{}, false
	}
	reg, word := u.cpu.Reg(u.cpu.Arch.FP), uint64(u.cpu.Arch.PtrSize)
	fp, ok := u.in.Get(reg)
	if !ok || fp%word != 0 || fp < f.SP {
		return Step{}, false
	}
	pc, ok1 := u.ReadWord(fp + word)
	saved, ok2 := u.ReadWord(fp)
	if pc = u.clean(pc); !ok1 || !ok2 || u.call(pc) != CallYes {
		return Step{}, false
	}
	s := Step{By: ByFramePointer, PC: pc, SP: fp + 2*word, Regs: u.stepRegs(ByFramePointer), FPOnly: true}
	s.CFA, s.HasCFA = s.SP, true
	s.NoSP = u.cpu.FreeRecord
	s.Regs.Reset()
	s.Regs.Set(reg, saved)
	return s, true
}

// prologue is the number of bytes at the start of a function that are decoded.
const prologue = 48

// setsFrame reports whether the function begins by setting up a frame, and the frame's address is
// past those instructions.
func (u *unwinder) setsFrame(f *Frame) bool {
	if u.cpu.MakesFrame == nil {
		return false
	}
	n := u.cpu.MakesFrame(u.code(f.Start, prologue))
	return n > 0 && f.Inst >= f.Start+uint64(n)
}
