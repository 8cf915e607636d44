package code

import (
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/symfmt/arch"
)

// maxRegs is how many registers of a CPU may be followed.
const maxRegs = 44

// regSet is a set of registers.
type regSet uint64

func (r regSet) has(reg uint8) bool { return r>>reg&1 != 0 }

// cpu is what the follower needs to know about a CPU. Registers have numbers below maxRegs.
type cpu struct {
	// step decodes the first instruction of code, and changes the state.
	step func(code []byte, addr uint64, s *state) step
	// longest is the maximum length of an instruction.
	longest uint64
	// isa is the bit of an address that distinguishes instruction sets, or 0.
	isa   uint64
	word  int // the size of an address in bytes
	calls insn.Step
	skip  execcode.Padding
	// labels calls fn with the addresses that the instructions of code have as operands, and whether these may be other
	// numbers in a file that can be loaded at any address.
	labels func(code []byte, addr uint64, fn func(label uint64, absolute bool))
	// stubs returns the offsets of the stubs in a procedure linkage table.
	stubs func(code []byte) []int
	// alignment is that of functions, but for those optimized for size.
	alignment uint64

	sp, fp  uint8
	ra      uint8   // what holds the return address at the start of a function; on x86-64 it is none of the registers
	saved   []uint8 // what functions must restore
	changed regSet  // what they may change
	bases   []uint8 // the registers that a rule may be based on, by preference
	dwarf   func(reg uint8) uint64
	entry   state // at the start of a function
}

// cpus has the CPUs whose code is followed.
var cpus = map[*arch.Arch]*cpu{arch.X86_64: &cpuAMD64, arch.ARM64: &cpuARM64, arch.RISCV64: &cpuRISCV64, arch.ARM: &cpuARM}

// leaves reports whether a function may return in a state, or go on in another: the stack pointer, the return address
// and the registers that functions must restore are as they were at its start.
func (c *cpu) leaves(s *state) bool {
	for _, r := range c.saved {
		if s.regs[r] != c.entry.regs[r] {
			return false
		}
	}
	return s.regs[c.sp] == c.entry.regs[c.sp] && s.regs[c.ra] == c.entry.regs[c.ra] && c.hasReturn(s)
}

// hasReturn reports whether the return address is where it was at the start of a function.
func (c *cpu) hasReturn(s *state) bool {
	for i := range c.entry.slots {
		if k := &c.entry.slots[i]; s.load(k.place) != k.value {
			return false
		}
	}
	return true
}
