package walk

import (
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// cpu is what the walker needs about a CPU beside arch.Arch.
type cpu struct {
	arch   *arch.Arch
	pc, sp cfi.Reg

	// call is how far before a return address the call is, at least in part: symbols and rules are
	// looked up at that address.
	call uint64

	// clean removes the bits of a program counter that do not belong to the address.
	clean func(u *unwinder, pc uint64) uint64

	align   uint64    // of instructions, in bytes
	ra      cfi.Reg   // the link register, NoReg without
	saved   []cfi.Reg // callee-saved
	layouts []layout  // of frames with a frame pointer
	darwin  []layout  // on Apple's systems, where they differ

	techniques []technique
	kept       []cfi.Reg // the registers that frames keep
}

// newCPU describes a CPU. Frames keep the general registers.
func newCPU(a *arch.Arch, call uint64, techniques ...technique) *cpu {
	c := &cpu{arch: a, call: call, clean: func(_ *unwinder, pc uint64) uint64 { return pc }, techniques: techniques}
	c.pc, c.sp, c.ra = c.reg(a.PC), c.reg(a.SP), cfi.NoReg
	if a.RA != "" {
		c.ra = c.reg(a.RA)
	}
	for _, name := range a.CalleeSaved {
		c.saved = append(c.saved, c.reg(name))
	}
	if clean := cleaners[a]; clean != nil {
		c.clean = clean
	}
	for _, name := range a.General {
		c.kept = append(c.kept, c.reg(name))
	}
	c.align = alignments[a]
	c.layouts = c.withRegisters(layouts[a])
	if a == arch.ARM {
		c.darwin = c.withRegisters(darwinARM)
	}
	return c
}

// reg returns the register with a name, which must be one of the CPU's.
func (c *cpu) reg(name string) cfi.Reg {
	i, ok := c.arch.RegIndex(name)
	if !ok {
		panic("walk: no register " + name + " of " + c.arch.Name)
	}
	return cfi.Reg(i)
}
