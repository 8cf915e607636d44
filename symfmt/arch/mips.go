package arch

import (
	"debug/elf"
	"encoding/binary"
)

// mipsRegs are numbered as GCC (gcc/config/mips/mips.h, GP_DBX_FIRST,
// FP_DBX_FIRST, MD_DBX_FIRST), GNU as and LLVM number them; the MIPS
// supplements have no table. The names follow the o32 ABI, also on
// mips64: Breakpad uses one table for both.
var mipsRegs = join(
	run(0, "$zero", "$at", "$v0", "$v1", "$a0", "$a1", "$a2", "$a3"),
	series(8, "$t", 8),
	series(16, "$s", 8),
	run(24, "$t8", "$t9", "$k0", "$k1", "$gp", "$sp", "$fp", "$ra"),
	series(32, "$f", 32),
	run(64, "$hi", "$lo"),
	unnumbered("$pc", "$fcsr", "$fir"),
)

var mipsGeneral = []string{
	"$at", "$v0", "$v1", "$a0", "$a1", "$a2", "$a3", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7",
	"$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$t8", "$t9", "$gp", "$sp", "$fp", "$ra", "$pc",
}

var mipsNops = []Nop{{0, 4}}

// mipsShown shows 16 digits for the 32-bit CPU, too, because Breakpad has one context for both.
var mipsShown = Shown{
	Regs:   shown("$gp", "$sp", "$fp", "$ra", "$pc", "$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7"),
	Digits: 16,
}

// MIPS is the 32-bit MIPS with the o32 ABI, of either byte order.
var MIPS = finish(&Arch{
	Name:             "mips",
	PtrSize:          4,
	Machine:          elf.EM_MIPS,
	Relocs:           relocsMIPS,
	Class:            elf.ELFCLASS32,
	Order:            binary.LittleEndian,
	BothOrders:       true,
	Signals:          MIPSSignals,
	ELFFlags:         0x70001000, // EF_MIPS_ARCH_32R2, EF_MIPS_ABI_O32
	PC:               "$pc",
	SP:               "$sp",
	FP:               "$fp",
	RA:               "$ra",
	ReturnAddress:    31,
	CalleeSaved:      []string{"$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$fp"},
	CalleeSavedFloat: indexed("$f", 20, 32), // the odd ones are the upper halves of the even ones
	General:          mipsGeneral,
	Nops:             mipsNops,
	Shown:            mipsShown,
	Regs:             mipsRegs,
})

// MIPS64 is the 64-bit MIPS with the n64 ABI, where a function restores $gp.
var MIPS64 = finish(&Arch{
	Name:             "mips64",
	PtrSize:          8,
	Machine:          elf.EM_MIPS,
	Relocs:           relocsMIPS,
	Class:            elf.ELFCLASS64,
	Order:            binary.LittleEndian,
	BothOrders:       true,
	Signals:          MIPSSignals,
	ELFFlags:         0x80000000, // EF_MIPS_ARCH_64R2; n64 has no flag
	PC:               "$pc",
	SP:               "$sp",
	FP:               "$fp",
	RA:               "$ra",
	ReturnAddress:    31,
	CalleeSaved:      []string{"$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$gp", "$fp"},
	CalleeSavedFloat: indexed("$f", 24, 32),
	General:          mipsGeneral,
	Nops:             mipsNops,
	Shown:            mipsShown,
	Regs:             mipsRegs,
})

var relocsMIPS = map[uint32]Reloc{
	uint32(elf.R_MIPS_NONE):         {RelocIgnored, 0},
	uint32(elf.R_MIPS_16):           {RelocAbs, 2},
	uint32(elf.R_MIPS_32):           {RelocAbs, 4},
	uint32(elf.R_MIPS_64):           {RelocAbs, 8},
	uint32(elf.R_MIPS_PC32):         {RelocPC, 4},
	uint32(elf.R_MIPS_TLS_DTPREL32): {RelocIgnored, 0},
	uint32(elf.R_MIPS_TLS_DTPREL64): {RelocIgnored, 0},
}
