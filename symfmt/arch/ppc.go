package arch

import (
	"debug/elf"
	"encoding/binary"
)

// PowerPC has two numberings. On Linux, GCC, GNU as and LLVM use the same one
// for .eh_frame and .debug_frame, which the 64-bit ELF V2 ABI (section 2.4)
// adopted: lr is 65. The older supplements (System V PowerPC, table 3-48;
// 64-bit ELF 1.9, section 3.6), which other compilers follow in .debug_frame,
// number lr 108, which is v31 in the first numbering. The return address column
// of a CIE identifies the numbering.
//
// Breakpad's PowerPC walker uses no CFI. The names are the same as in rust-minidump's
// context (minidump/src/context.rs: srr0, r0, cr, xer, lr, ctr, vrsave) and the
// ABI's for the rest.
var ppcRegs = join(
	series(0, "r", 32),
	series(32, "f", 32),
	run(65, "lr", "ctr"),
	run(68, "cr0", "cr1", "cr2", "cr3", "cr4", "cr5", "cr6", "cr7"), // fields of cr; a saved cr2 is a saved cr
	run(76, "xer"),
	series(77, "v", 32),
	run(109, "vrsave", "vscr"),
	unnumbered("srr0", "cr"),
)

var ppcAlt = &Numbering{
	ReturnAddress: 108,
	names: byNumber(join(
		series(0, "r", 32),
		series(32, "f", 32),
		run(64, "cr", "fpscr", "msr"),
		run(101, "xer"),
		run(108, "lr", "ctr"),
		series(1124, "v", 32),
	)),
}

var ppcGeneral = append(indexed("r", 0, 32), "lr", "srr0")

// The 32-bit ABI and both 64-bit ABIs agree on these.
var (
	ppcSaved      = indexed("r", 14, 32)
	ppcSavedFloat = append(append(indexed("f", 14, 32), indexed("v", 20, 32)...), "cr2", "cr3", "cr4")
)

// PPC is the 32-bit PowerPC.
var PPC = finish(&Arch{
	Name:             "ppc",
	PtrSize:          4,
	Machine:          elf.EM_PPC,
	Relocs:           relocsPPC,
	Class:            elf.ELFCLASS32,
	Order:            binary.BigEndian,
	BothOrders:       true,
	PC:               "srr0",
	SP:               "r1",
	FP:               "r31",
	RA:               "lr",
	ReturnAddress:    65,
	CalleeSaved:      ppcSaved,
	CalleeSavedFloat: ppcSavedFloat,
	General:          ppcGeneral,
	Shown:            Shown{Regs: shown("srr0", "r1")},
	Regs:             ppcRegs,
	Nops:             []Nop{{0x60000000, 4}},
	Alt:              ppcAlt,
})

// PPC64 is the 64-bit PowerPC of either byte order.
var PPC64 = finish(&Arch{
	Name:             "ppc64",
	Aliases:          []string{"ppc64le"},
	PtrSize:          8,
	Machine:          elf.EM_PPC64,
	Relocs:           relocsPPC64,
	Class:            elf.ELFCLASS64,
	Order:            binary.LittleEndian,
	BothOrders:       true,
	ELFFlags:         2, // ELFv2; big-endian systems use ELFv1
	PC:               "srr0",
	SP:               "r1",
	FP:               "r31",
	RA:               "lr",
	ReturnAddress:    65,
	CalleeSaved:      ppcSaved,
	CalleeSavedFloat: ppcSavedFloat,
	General:          ppcGeneral,
	Shown:            Shown{Regs: shown("srr0", "r1")},
	Regs:             ppcRegs,
	Nops:             []Nop{{0x60000000, 4}, {0x60420000, 4}},
	Alt:              ppcAlt,
})

var relocsPPC = map[uint32]Reloc{
	uint32(elf.R_PPC_NONE):     {RelocIgnored, 0},
	uint32(elf.R_PPC_ADDR16):   {RelocAbs, 2},
	uint32(elf.R_PPC_UADDR16):  {RelocAbs, 2},
	uint32(elf.R_PPC_ADDR32):   {RelocAbs, 4},
	uint32(elf.R_PPC_UADDR32):  {RelocAbs, 4},
	uint32(elf.R_PPC_REL32):    {RelocPC, 4},
	uint32(elf.R_PPC_DTPREL32): {RelocIgnored, 0},
}

var relocsPPC64 = map[uint32]Reloc{
	uint32(elf.R_PPC64_NONE):     {RelocIgnored, 0},
	uint32(elf.R_PPC64_ADDR16):   {RelocAbs, 2},
	uint32(elf.R_PPC64_UADDR16):  {RelocAbs, 2},
	uint32(elf.R_PPC64_ADDR32):   {RelocAbs, 4},
	uint32(elf.R_PPC64_UADDR32):  {RelocAbs, 4},
	uint32(elf.R_PPC64_ADDR64):   {RelocAbs, 8},
	uint32(elf.R_PPC64_UADDR64):  {RelocAbs, 8},
	uint32(elf.R_PPC64_REL32):    {RelocPC, 4},
	uint32(elf.R_PPC64_REL64):    {RelocPC, 8},
	uint32(elf.R_PPC64_TOC):      {RelocIgnored, 0},
	uint32(elf.R_PPC64_DTPREL64): {RelocIgnored, 0},
}
