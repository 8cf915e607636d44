package arch

import (
	"debug/elf"
	"encoding/binary"
)

// ARM64 is AArch64. DWARF numbers: DWARF for the Arm 64-bit Architecture
// (AADWARF64), section 4.1. RA_SIGN_STATE (34) is not a register and has no name.
// v0 to v31 are the lower parts of z0 to z31; GCC uses their numbers for both. A
// function restores the lower halves of v8 to v15 (AAPCS64, section 6.1.2), d8 to d15, the names used
// by rules made from Apple's compact unwind information.
var ARM64 = finish(&Arch{
	Name:             "arm64",
	Aliases:          []string{"aarch64", "arm64e"},
	PtrSize:          8,
	Machine:          elf.EM_AARCH64,
	Relocs:           relocsARM64,
	Class:            elf.ELFCLASS64,
	Order:            binary.LittleEndian,
	Mapping:          Mapping{Letters: "dx"},
	BothOrders:       true,
	Narrow:           true,
	PC:               "pc",
	SP:               "sp",
	FP:               "x29",
	RA:               "x30",
	ReturnAddress:    30,
	CalleeSaved:      []string{"x19", "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29"},
	CalleeSavedFloat: indexed("v", 8, 16),
	Constant:         []string{"vg"},
	General:          append(indexed("x", 0, 31), "sp", "pc"),
	Shown:            Shown{Regs: append(shown(indexed("x", 0, 29)...), ShownReg{"fp", "x29"}, ShownReg{"lr", "x30"}, ShownReg{"sp", "sp"}, ShownReg{"pc", "pc"})},
	AddressTag:       0xff << 56,
	OtherNames:       alsoCalled(indexed("d", 0, 32), indexed("v", 0, 32)),
	Regs: join(
		series(0, "x", 31),
		run(31, "sp", "pc"),
		run(46, "vg", "ffr"), // vg: 8-byte granules in an SVE vector; SVE frames use it in their CFA
		series(48, "p", 16),
		series(64, "v", 32),
		series(96, "z", 32),
		unnumbered("cpsr"), // PSTATE, as contexts in dumps call it
	),
})

// Types of relocations that LLVM writes and debug/elf does not name.
const (
	r_AARCH64_PLT32      = 314
	r_AARCH64_GOTPCREL32 = 315
)

var relocsARM64 = map[uint32]Reloc{
	uint32(elf.R_AARCH64_P32_ABS32):    {RelocAbs, 4}, // of ILP32
	uint32(elf.R_AARCH64_P32_ABS16):    {RelocAbs, 2},
	uint32(elf.R_AARCH64_P32_PREL32):   {RelocPC, 4},
	uint32(elf.R_AARCH64_P32_PREL16):   {RelocPC, 2},
	uint32(elf.R_AARCH64_NONE):         {RelocIgnored, 0},
	uint32(elf.R_AARCH64_NULL):         {RelocIgnored, 0},
	uint32(elf.R_AARCH64_ABS16):        {RelocAbs, 2},
	uint32(elf.R_AARCH64_ABS32):        {RelocAbs, 4},
	uint32(elf.R_AARCH64_ABS64):        {RelocAbs, 8},
	uint32(elf.R_AARCH64_PREL16):       {RelocPC, 2},
	uint32(elf.R_AARCH64_PREL32):       {RelocPC, 4},
	uint32(elf.R_AARCH64_PREL64):       {RelocPC, 8},
	r_AARCH64_PLT32:                    {RelocPC, 4},
	r_AARCH64_GOTPCREL32:               {RelocIgnored, 0},
	uint32(elf.R_AARCH64_TLS_DTPREL64): {RelocIgnored, 0},
}
