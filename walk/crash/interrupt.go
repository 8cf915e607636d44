package crash

import "github.com/symtool/symtool/symfmt/arch"

// Numbers of exceptions that a program may raise by a software interrupt, and the instructions of one byte that do it.
const (
	vectorBreakpoint = 3 // #BP
	vectorOverflow   = 4 // #OF
	opInt3           = 0xcc
	opInt            = 0xcd // followed by a number
	opInto           = 0xce // in 32-bit code
)

// interruptBefore returns the software interrupt that ended the process, or nil. The processor reports it when it is
// done, so that the process is at the instruction after it. What is there prevails if it could be at fault itself: data
// before it may look like an interrupt.
func (a *Analysis) interruptBefore(code Code) *Instruction {
	cpu := a.context.Arch
	if cpu != arch.X86 && cpu != arch.X86_64 {
		return nil
	}
	vector, short := byte(0), byte(0)
	switch {
	case a.isOverflowTrap():
		vector = vectorOverflow
		if cpu == arch.X86 {
			short = opInto
		}
	case a.isBreakpointTrap():
		vector, short = vectorBreakpoint, opInt3
	default:
		return nil
	}
	pc := a.context.PC()
	if b, _ := code(pc-2, 2); len(b) == 2 && b[0] == opInt && b[1] == vector {
		return instructionOf(a.d, a.context, code, pc-2)
	}
	if b, _ := code(pc-1, 1); short != 0 && len(b) == 1 && b[0] == short {
		return instructionOf(a.d, a.context, code, pc-1)
	}
	return nil
}

// isOverflowTrap reports whether the system reports an overflow trap, or one of its faults without an address that the
// instruction cannot have caused: Linux reports both in the same way.
func (a *Analysis) isOverflowTrap() bool {
	if a.windows() {
		return a.d.Crash.Code == winIntOverflow
	}
	return a.linux() && a.isGPFault() && (a.Instruction == nil || a.faultless())
}

// isBreakpointTrap reports whether Linux reports a breakpoint that the program contains. Other systems set the process
// back to it.
func (a *Analysis) isBreakpointTrap() bool {
	c := a.d.Crash
	return a.linux() && c.Code == sigTRAP && c.Flags == siKernel && (a.Instruction == nil || !a.Instruction.interrupts)
}
