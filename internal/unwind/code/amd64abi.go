package code

import (
	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
)

// raAMD64 stands for the return address.
const raAMD64 = 16

// cpuAMD64 is x86-64, whose registers have their DWARF numbers (System V ABI, AMD64 supplement, 3.2).
var cpuAMD64 = cpu{
	step: stepAMD64, longest: 15, word: 8, calls: insn.AMD64, skip: execcode.X86, labels: labelsAMD64, stubs: stubsAMD64, alignment: 16,
	sp: amdSP, fp: amdBP, ra: raAMD64,
	saved:   []uint8{amdBX, amdBP, 12, 13, 14, 15},
	changed: 1<<amdAX | 1<<amdCX | 1<<amdDX | 1<<amdSI | 1<<amdDI | 1<<8 | 1<<9 | 1<<10 | 1<<11,
	bases:   []uint8{amdSP, amdBP, amdBX, 12, 13, 14, 15, 10, 11, amdAX, 8, 9},
	dwarf:   func(reg uint8) uint64 { return uint64(reg) },
	entry:   entryAMD64(),
}

// entryAMD64 is the state at the start of a function.
func entryAMD64() (s state) {
	for i := range 16 {
		s.regs[i] = value{base: initial, off: int64(i)}
	}
	s.regs[amdSP] = value{base: cfa, off: -8}
	s.slots = []slot{{place{cfa, -8}, value{base: initial, off: raAMD64}, 8}}
	return s
}
