package insn

// Frame is what is known where an instruction begins: what those before it have done to the stack, and what they
// prepare.
type Frame struct {
	Stack

	// Size is a constant in the register Sizer, from which a large frame is subtracted; only calls are
	// between. 0 if there is none.
	Size  int64
	Sizer uint8

	// Sums has the registers that instructions before added to, and none has written since: a jump to one is that of a
	// switch.
	Sums uint32

	// Outer means that an instruction accessed memory through the frame pointer while that had the caller's value: a frame
	// that this function did not make.
	Outer bool
}

// Stack is what instructions have done to the stack since a function was entered: where the CFA, the value of
// the stack pointer before the call, is, and which registers were saved. Registers have their DWARF numbers.
type Stack struct {
	SP, FP           int64 // of the CFA from the stack pointer, and from the frame pointer
	SPKnown, FPKnown bool

	Saved  uint32    // registers of the caller that are on the stack, and nowhere else for certain
	At     [32]int32 // their places, relative to the CFA
	Signed bool      // arm64: the return address is signed
	Popped bool      // x86-64: the return address was taken from the stack, and its place written: it may be elsewhere

	saves uint32 // registers whose saves count

	// Listed means that the registers in saves are known to be saved. Otherwise only pushes of x86-64 save: a mov may
	// store another value than the caller's, as in languages whose functions preserve no registers.
	Listed bool
}

// Enter returns the frame at the first instruction of a function, sp bytes below the CFA. Only saves of the registers
// in saves count: others have other values than the caller's.
func Enter(sp int64, saves uint32) Frame {
	return Frame{Stack: Stack{SP: sp, SPKnown: true, saves: saves}}
}

// save records that a register was stored at a place.
func (f *Stack) save(reg uint8, at int64) {
	if f.saves>>reg&1 == 0 || f.Saved>>reg&1 != 0 || at != int64(int32(at)) {
		return
	}
	f.Saved |= 1 << reg
	f.At[reg] = int32(at)
}

// restore records that a register was loaded from a place; known is false if the place is not.
func (f *Stack) restore(reg uint8, at int64, known bool) {
	if known && f.Saved>>reg&1 != 0 && int64(f.At[reg]) == at {
		f.Saved &^= 1 << reg
		f.At[reg] = 0
	}
}

// found records that a register is loaded from off above the stack pointer. If that is unknown, and the register is
// saved, it is where the save is.
func (f *Stack) found(reg uint8, off int64) {
	if !f.SPKnown && f.Saved>>reg&1 != 0 {
		f.SP, f.SPKnown = off-int64(f.At[reg]), true
	}
}

// at notes an access of memory through the frame pointer, whose number is fp.
func (f *Frame) at(fp uint8) {
	f.Outer = f.Outer || !f.FPKnown && f.saves>>fp&1 != 0 && f.Saved>>fp&1 == 0
}

// grow moves the stack pointer down.
func (f *Stack) grow(n int64) { f.SP += n }

// push moves the stack pointer down by a word that is written, or by nothing if a call wrote it.
func (f *Stack) push(n int64) {
	f.Popped = f.Popped || f.SPKnown && f.SP < wordAMD64
	f.grow(n)
}

// lose forgets where the stack pointer is.
func (f *Stack) lose() { f.SP, f.SPKnown = 0, false }

// Flow says where control goes after an instruction.
type Flow uint8

// The flows.
const (
	Next   Flow = iota
	Bad         // the bytes do not decode
	Call        // and then to the next instruction, unless the function does not return
	Jump        // to the target
	Branch      // to the target or to the next instruction
	Switch      // to an unknown place, by a table
	Leave       // to an unknown place, in another function
	Return
	Stop // nowhere: traps
)

// Effect decodes the first instruction of code, which is at addr, and updates the frame. It returns the
// instruction's size and, of jumps and calls, the target; 0 if it is unknown.
type Effect func(code []byte, addr uint64, f *Frame) (size int, flow Flow, target uint64)
