package code

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/execcode"
	"github.com/symtool/symtool/internal/insn"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/arch"
)

// Registers of 32-bit ARM: r0 to r15 have their own numbers. Of floating-point registers, those count that functions must
// restore: d8 to d15.
const (
	arm32IP = 12
	arm32SP = 13
	arm32LR = 14
	arm32PC = 15
	arm32D8 = 16
)

// Numbers of Linux's system calls on ARM.
const (
	arm32Sigreturn   = 119
	arm32Clone       = 120
	arm32RTSigreturn = 173
	arm32Clone3      = 435
)

// cpuARM is 32-bit ARM with both instruction sets (Procedure Call Standard for the Arm Architecture, section 6.1). Addresses of
// Thumb's instructions have bit 0 set.
var cpuARM = cpu{
	step: stepARM, longest: 4, isa: 1, word: 4, calls: callsARM, labels: labelsARM, stubs: stubsARM, alignment: 2,
	skip: execcode.PaddingOf(&object.File{Arch: arch.ARM, CodeOrder: binary.LittleEndian}),
	sp:   arm32SP, fp: 11, ra: arm32LR,
	saved:   []uint8{4, 5, 6, 7, 8, 9, 10, 11, 16, 17, 18, 19, 20, 21, 22, 23},
	changed: changedARM,
	bases:   []uint8{arm32SP, 11, 7, 4, 5, 6, 8, 9, 10, arm32IP, 0, 1, 2, 3},
	dwarf:   dwarfARM,
	entry:   entryARM(),
}

const changedARM regSet = 0xf | 1<<arm32IP | 1<<arm32LR

// dwarfARM returns the DWARF number of a register (DWARF for the Arm Architecture, section 4.1).
func dwarfARM(reg uint8) uint64 {
	const d0 = 256
	if reg >= arm32D8 {
		return d0 + 8 + uint64(reg-arm32D8)
	}
	return uint64(reg)
}

// entryARM is the state at the start of a function.
func entryARM() (s state) {
	for i := range arm32D8 + 8 {
		s.regs[i] = initially(uint8(i))
	}
	s.regs[arm32SP], s.regs[arm32PC] = value{base: cfa}, value{}
	return s
}

// callsARM is an insn.Step for both instruction sets.
func callsARM(code []byte, addr uint64) (size int, kind insn.Kind, target uint64) {
	if addr&1 == 0 {
		if size, kind, target = insn.ARM(code, addr); kind == insn.Direct && code[3]>>4 == 15 {
			target |= 1
		}
		return size, kind, target
	}
	if size, kind, target = insn.Thumb(code, addr&^1); kind == insn.Direct && code[3]>>4&1 != 0 {
		target |= 1
	}
	return size, kind, target
}

// labelsARM does nothing: most addresses are in literals, relative to instructions that add PC.
func labelsARM([]byte, uint64, func(uint64, bool)) {}

// stubsARM returns the offsets of the stubs in a procedure linkage table, which jump through a word that the linker fills.
func stubsARM(code []byte) (all []int) {
	for off := 0; off+4 <= len(code); off += 4 {
		if w := binary.LittleEndian.Uint32(code[off:]); w&0xfffff000 == 0xe28fc000 { // add ip, pc, ...
			all = append(all, off)
		}
	}
	return all
}
