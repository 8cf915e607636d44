package arch

import (
	"debug/elf"
	"encoding/binary"
)

// ARM is the 32-bit ARM, AArch32. DWARF numbers: DWARF for the Arm
// Architecture (AADWARF32), section 4.1; s0 to s31 are the VFPv2 numbers that
// it calls legacy. The numbers 16 to 63 are obsolete there.
var ARM = finish(&Arch{
	Name:          "arm",
	Aliases:       []string{"armv6", "armv7", "armv7k", "armv7s"},
	PtrSize:       4,
	Machine:       elf.EM_ARM,
	Relocs:        relocsARM,
	Class:         elf.ELFCLASS32,
	Order:         binary.LittleEndian,
	Mapping:       Mapping{Letters: "adt"},
	BothOrders:    true,
	ELFFlags:      0x05000000, // EABI 5
	PC:            "pc",
	SP:            "sp",
	FP:            "r11",
	RA:            "lr",
	ReturnAddress: 14,
	CalleeSaved:   []string{"r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11"},
	// AAPCS32, section 6.1.2.1: s16 to s31, which are d8 to d15.
	CalleeSavedFloat: append(indexed("d", 8, 16), indexed("s", 16, 32)...),
	General:          append(indexed("r", 0, 13), "sp", "lr", "pc"),
	Shown:            Shown{Regs: append(shown(append(indexed("r", 0, 11), "r12")...), ShownReg{"fp", "r11"}, ShownReg{"sp", "sp"}, ShownReg{"lr", "lr"}, ShownReg{"pc", "pc"})},
	ISABit:           1, // Thumb
	// The first of the two 2-byte units of Thumb's 4-byte nop is in the lower half.
	Nops: []Nop{{0xe320f000, 4}, {0xe1a00000, 4}, {0x8000f3af, 4}, {0xbf00, 2}, {0x46c0, 2}},
	Regs: join(
		series(0, "r", 13),
		run(13, "sp", "lr", "pc"),
		series(64, "s", 32),
		series(96, "f", 8),
		series(256, "d", 32),
		unnumbered("cpsr"),
	),
})

var relocsARM = map[uint32]Reloc{
	uint32(elf.R_ARM_NONE):      {RelocIgnored, 0},
	uint32(elf.R_ARM_ABS8):      {RelocAbs, 1},
	uint32(elf.R_ARM_ABS16):     {RelocAbs, 2},
	uint32(elf.R_ARM_ABS32):     {RelocAbs, 4},
	uint32(elf.R_ARM_TARGET1):   {RelocAbs, 4},
	uint32(elf.R_ARM_REL32):     {RelocPC, 4},
	uint32(elf.R_ARM_PREL31):    {RelocPC31, 4},
	uint32(elf.R_ARM_TARGET2):   {RelocIgnored, 0},
	uint32(elf.R_ARM_GOT_PREL):  {RelocIgnored, 0},
	uint32(elf.R_ARM_TLS_LDO32): {RelocIgnored, 0},
	uint32(elf.R_ARM_TLS_LE32):  {RelocIgnored, 0},
	uint32(elf.R_ARM_V4BX):      {RelocIgnored, 0},
}
