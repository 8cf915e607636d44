package code

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Registers of RISC-V: x0 to x31 have their own numbers. Of floating-point registers, those count that functions must
// restore: fs0 to fs11.
const (
	riscvRA = 1
	riscvSP = 2
	riscvT0 = 5
	riscvT1 = 6
	riscvFP = 8
	riscvA0 = 10
	riscvA7 = 17
	riscvFS = 32
)

// floatsRISCV are the numbers in instructions of fs0 to fs11.
var floatsRISCV = [...]uint8{8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27}

// cpuRISCV64 is the 64-bit RISC-V (RISC-V Calling Conventions, "Register Convention").
var cpuRISCV64 = cpu{
	step: stepRISCV64, longest: 4, word: 8, calls: insn.RISCV64, labels: labelsRISCV64, stubs: stubsRISCV64, alignment: 2,
	skip: execcode.PaddingOf(&object.File{Arch: arch.RISCV64, CodeOrder: binary.LittleEndian}),
	sp:   riscvSP, fp: riscvFP, ra: riscvRA,
	saved:   []uint8{riscvFP, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43},
	changed: 1<<riscvRA | 7<<riscvT0 | 0xff<<riscvA0 | 15<<28,
	bases:   []uint8{riscvSP, riscvFP, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 5, 6, 7, 28, 29, 30, 31, 10, 11, 12, 13, 14, 15, 16, 17, 1},
	dwarf:   dwarfRISCV64,
	entry:   entryRISCV64(),
}

// dwarfRISCV64 returns the DWARF number of a register (RISC-V DWARF Specification, "Register Numbers").
func dwarfRISCV64(reg uint8) uint64 {
	const f0 = 32
	if i := int(reg) - riscvFS; i >= 0 && i < len(floatsRISCV) {
		return f0 + uint64(floatsRISCV[i])
	}
	return uint64(reg)
}

// entryRISCV64 is the state at the start of a function.
func entryRISCV64() (s state) {
	for i := range s.regs {
		s.regs[i] = initially(uint8(i))
	}
	s.regs[0], s.regs[riscvSP] = value{base: constant}, value{base: cfa}
	return s
}
