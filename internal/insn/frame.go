package insn

// Frame is what is known at the start of an instruction: the effect of the instructions before it on the stack,
// and what they prepared.
type Frame struct {
	Stack

	// Size is a constant in the register Sizer that will be subtracted from the stack pointer for a
	// large frame; only calls may come between. 0 means none.
	Size  int64
	Sizer uint8

	// Sums is the set of registers to which earlier instructions added, and that were not written since: a jump to
	// one of them belongs to a switch.
	Sums uint32

	// Outer means that an instruction accessed memory through the frame pointer while it still had the caller's
	// value: a frame that this function did not set up.
	Outer bool
}

// Stack is the effect on the stack since a function was entered: where the CFA is (the value of the stack
// pointer before the call), and which registers were saved. Registers are identified by their DWARF numbers.
type Stack struct {
	SP, FP           int64 // distances of the CFA from the stack pointer and from the frame pointer
	SPKnown, FPKnown bool

	Saved  uint32    // the caller's registers that are on the stack, and for certain nowhere else
	At     [32]int32 // where they are saved, relative to the CFA
	Signed bool      // arm64: the return address is signed
	Popped bool      // x86-64: the return address was popped, and its slot overwritten: it may be elsewhere

	saves uint32 // registers whose saves are tracked

	// Listed means that the registers in saves are known to be saved. Otherwise, only pushes count as saves on
	// x86-64: a mov may store another value than the caller's, as in languages whose functions preserve no registers.
	Listed bool
}

// Enter returns the frame at the first instruction of a function, where the stack pointer is sp bytes below the CFA.
// Only saves of the registers in the bit set saves are tracked: others do not hold the caller's values.
func Enter(sp int64, saves uint32) Frame {
	return Frame{Stack: Stack{SP: sp, SPKnown: true, saves: saves}}
}

// save records that a register was stored at an offset from the CFA.
func (f *Stack) save(reg uint8, at int64) {
	if f.saves>>reg&1 == 0 || f.Saved>>reg&1 != 0 || at != int64(int32(at)) {
		return
	}
	f.Saved |= 1 << reg
	f.At[reg] = int32(at)
}

// restore records that a register was loaded from an offset; known is false if the offset is unknown.
func (f *Stack) restore(reg uint8, at int64, known bool) {
	if known && f.Saved>>reg&1 != 0 && int64(f.At[reg]) == at {
		f.Saved &^= 1 << reg
		f.At[reg] = 0
	}
}

// found records that a register is loaded from off above the stack pointer. If the stack pointer is unknown and the
// register is saved, its save determines where the stack pointer is.
func (f *Stack) found(reg uint8, off int64) {
	if !f.SPKnown && f.Saved>>reg&1 != 0 {
		f.SP, f.SPKnown = off-int64(f.At[reg]), true
	}
}

// at notes an access to memory through the frame pointer, whose register number is fp.
func (f *Frame) at(fp uint8) {
	f.Outer = f.Outer || !f.FPKnown && f.saves>>fp&1 != 0 && f.Saved>>fp&1 == 0
}

// grow moves the stack pointer down by n bytes.
func (f *Stack) grow(n int64) { f.SP += n }

// push moves the stack pointer down by n bytes that are written; n is 0 if a call wrote them.
func (f *Stack) push(n int64) {
	f.Popped = f.Popped || f.SPKnown && f.SP < wordAMD64
	f.grow(n)
}

// lose marks the stack pointer as unknown.
func (f *Stack) lose() { f.SP, f.SPKnown = 0, false }

// Flow is where control goes after an instruction.
type Flow uint8

// The possible flows.
const (
	Next   Flow = iota
	Bad         // the bytes do not decode
	Call        // to a function, and then to the next instruction, unless the function does not return
	Jump        // to the target
	Branch      // to the target or to the next instruction
	Switch      // to an unknown target, through a table
	Leave       // to an unknown target in another function
	Return
	Stop // nowhere: traps
)

// Effect decodes the first instruction of code, which is at addr, and updates the frame. It returns the
// instruction's size and, for jumps and calls, the target, or 0 if it is unknown.
type Effect func(code []byte, addr uint64, f *Frame) (size int, flow Flow, target uint64)
