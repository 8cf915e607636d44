package crash

import "github.com/symtool/symtool/symfmt/arch"

// Numbers of exceptions that a program may raise with a software interrupt, and the one-byte opcodes that do so.
const (
	vectorBreakpoint = 3 // #BP
	vectorOverflow   = 4 // #OF
	opInt3           = 0xcc
	opInt            = 0xcd // followed by a number
	opInto           = 0xce // in 32-bit code
)

// interruptBefore returns the software interrupt that ended the process, or nil. The processor reports the interrupt
// after executing it, so the program counter is at the next instruction. If that instruction could be at fault itself,
// it takes precedence: the bytes before it may be data that look like an interrupt.
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

// isOverflowTrap reports whether the system reports an overflow trap, or reports a fault without an address that the
// instruction cannot have caused: Linux reports both in the same way.
func (a *Analysis) isOverflowTrap() bool {
	if a.windows() {
		return a.d.Crash.Code == winIntOverflow
	}
	return a.linux() && a.isGPFault() && (a.Instruction == nil || a.faultless())
}

// isBreakpointTrap reports whether Linux reports a breakpoint in the program's code. Other systems set the program
// counter back to the breakpoint.
func (a *Analysis) isBreakpointTrap() bool {
	c := a.d.Crash
	return a.linux() && c.Code == sigTRAP && c.Flags == siKernel && (a.Instruction == nil || !a.Instruction.interrupts)
}
