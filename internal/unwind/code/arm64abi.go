package code

import (
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
)

// Registers of arm64: x0 to x30 have their own numbers. Of vector registers, those count that functions must restore.
const (
	armFP = 29
	armLR = 30
	armSP = 31 // where an instruction does not take it as zero
	armD8 = 32 // d8 to d15
)

// The keys of a signed return address, as the n of its value.
const (
	keyA = 1
	keyB = 2
)

// cpuARM64 is arm64 (Procedure Call Standard for the Arm 64-bit Architecture, section 6).
var cpuARM64 = cpu{
	step: stepARM64, longest: 4, word: 8, calls: insn.ARM64, skip: execcode.ARM64, labels: labelsARM64, stubs: stubsARM64, alignment: 4,
	sp: armSP, fp: armFP, ra: armLR,
	saved:   []uint8{19, 20, 21, 22, 23, 24, 25, 26, 27, 28, armFP, armD8, armD8 + 1, armD8 + 2, armD8 + 3, armD8 + 4, armD8 + 5, armD8 + 6, armD8 + 7},
	changed: 1<<19 - 1 | 1<<armLR,
	bases:   []uint8{armSP, armFP, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 9, 10, 11, 12, 13, 14, 15, 16, 17, 0, 1, 2, 3, 4, 5, 6, 7, 8, 18},
	dwarf:   dwarfARM64,
	entry:   entryARM64(),
}

// dwarfARM64 returns the DWARF number of a register (DWARF for the Arm 64-bit Architecture, section 4.1).
func dwarfARM64(reg uint8) uint64 {
	const v8 = 72
	if reg >= armD8 {
		return v8 + uint64(reg-armD8)
	}
	return uint64(reg)
}

// entryARM64 is the state at the start of a function.
func entryARM64() (s state) {
	for i := range s.regs {
		s.regs[i] = initially(uint8(i))
	}
	s.regs[armSP] = value{base: cfa}
	return s
}
