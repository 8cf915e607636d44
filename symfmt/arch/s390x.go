package arch

import (
	"debug/elf"
	"encoding/binary"
)

// S390X is the 64-bit z/Architecture. DWARF numbers: zSeries ELF ABI
// supplement, table "DWARF register number mapping", and for v16 to v31 the
// s390x supplement 1.6. Breakpad does not walk s390x stacks; the names are the
// ABI's, which binutils and elfutils print.
var S390X = finish(&Arch{
	Name:             "s390x",
	Aliases:          []string{"s390"},
	PtrSize:          8,
	Machine:          elf.EM_S390,
	Relocs:           relocsS390X,
	Class:            elf.ELFCLASS64,
	Order:            binary.BigEndian,
	PC:               "pswa",
	SP:               "r15",
	FP:               "r11",
	RA:               "r14",
	ReturnAddress:    14,
	CalleeSaved:      []string{"r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13"},
	CalleeSavedFloat: indexed("f", 8, 16),
	General:          append(indexed("r", 0, 16), "pswa"),
	Nops:             []Nop{{0x0707, 2}, {0x0700, 2}, {0x47000000, 4}, {0xa7040000, 4}, {0xc00400000000, 6}},
	Shown:            Shown{Regs: shown(append([]string{"pswa"}, indexed("r", 0, 16)...)...)}, // Breakpad does not know the CPU
	Regs: join(
		series(0, "r", 16),
		run(16, "f0", "f2", "f4", "f6", "f1", "f3", "f5", "f7"),
		run(24, "f8", "f10", "f12", "f14", "f9", "f11", "f13", "f15"),
		series(32, "cr", 16),
		series(48, "a", 16),
		run(64, "pswm", "pswa"),
		run(68, "v16", "v18", "v20", "v22", "v17", "v19", "v21", "v23"),
		run(76, "v24", "v26", "v28", "v30", "v25", "v27", "v29", "v31"),
	),
})

var relocsS390X = map[uint32]Reloc{
	uint32(elf.R_390_NONE):      {RelocIgnored, 0},
	uint32(elf.R_390_8):         {RelocAbs, 1},
	uint32(elf.R_390_16):        {RelocAbs, 2},
	uint32(elf.R_390_32):        {RelocAbs, 4},
	uint32(elf.R_390_64):        {RelocAbs, 8},
	uint32(elf.R_390_PC16):      {RelocPC, 2},
	uint32(elf.R_390_PC32):      {RelocPC, 4},
	uint32(elf.R_390_PC64):      {RelocPC, 8},
	uint32(elf.R_390_PLT32):     {RelocPC, 4},
	uint32(elf.R_390_PLT64):     {RelocPC, 8},
	uint32(elf.R_390_TLS_LDO32): {RelocIgnored, 0},
	uint32(elf.R_390_TLS_LDO64): {RelocIgnored, 0},
}
