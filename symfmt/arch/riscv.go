package arch

import (
	"debug/elf"
	"encoding/binary"
)

// riscvRegs are numbered by the RISC-V ELF psABI, "DWARF register numbers".
// Breakpad calls the floating-point registers f0 to f31, not ft0, fs0, fa0.
var riscvRegs = join(
	run(0, "zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1"),
	series(10, "a", 8),
	run(18, indexed("s", 2, 12)...),
	run(28, "t3", "t4", "t5", "t6"),
	series(32, "f", 32),
	series(96, "v", 32),
	run(4096+0x8, "vstart"), // CSRs have their number plus 4096
	run(4096+0xf, "vcsr"),
	run(4096+0xc20, "vl", "vtype", "vlenb"), // vlenb: the size of a vector in bytes; frames with vectors use it in their CFA
	unnumbered("pc"),
)

var (
	riscvSaved      = indexed("s", 0, 12)
	riscvSavedFloat = append([]string{"f8", "f9"}, indexed("f", 18, 28)...) // fs0 to fs11
)

var riscvGeneral = []string{
	"ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc",
}

const riscvFlags = 0x5 // EF_RISCV_RVC, double-precision floating point

var riscvMapping = Mapping{Letters: "d", Open: "x"}

var riscvNops = []Nop{{0x00000013, 4}, {0x0001, 2}}

var riscvShown = Shown{Regs: shown(append([]string{"pc"}, riscvGeneral[:len(riscvGeneral)-1]...)...)}

// RISCV is the 32-bit RISC-V.
var RISCV = finish(&Arch{
	Name:             "riscv",
	Aliases:          []string{"riscv32"},
	PtrSize:          4,
	Machine:          elf.EM_RISCV,
	Relocs:           relocsRISCV,
	Class:            elf.ELFCLASS32,
	Order:            binary.LittleEndian,
	ELFFlags:         riscvFlags,
	Mapping:          riscvMapping,
	PC:               "pc",
	SP:               "sp",
	FP:               "s0",
	RA:               "ra",
	ReturnAddress:    1,
	CalleeSaved:      riscvSaved,
	CalleeSavedFloat: riscvSavedFloat,
	Constant:         []string{"vlenb"},
	General:          riscvGeneral,
	Nops:             riscvNops,
	Shown:            riscvShown,
	Regs:             riscvRegs,
})

// RISCV64 is the 64-bit RISC-V.
var RISCV64 = finish(&Arch{
	Name:             "riscv64",
	PtrSize:          8,
	Machine:          elf.EM_RISCV,
	Relocs:           relocsRISCV,
	Class:            elf.ELFCLASS64,
	Order:            binary.LittleEndian,
	ELFFlags:         riscvFlags,
	Mapping:          riscvMapping,
	PC:               "pc",
	SP:               "sp",
	FP:               "s0",
	RA:               "ra",
	ReturnAddress:    1,
	CalleeSaved:      riscvSaved,
	CalleeSavedFloat: riscvSavedFloat,
	Constant:         []string{"vlenb"},
	General:          riscvGeneral,
	Nops:             riscvNops,
	Shown:            riscvShown,
	Regs:             riscvRegs,
})

// Types of relocations that LLVM and binutils write and debug/elf does not name.
const (
	r_RISCV_PLT32      = 59
	r_RISCV_SETULEB128 = 60
	r_RISCV_SUBULEB128 = 61
)

var relocsRISCV = map[uint32]Reloc{
	uint32(elf.R_RISCV_NONE):         {RelocIgnored, 0},
	uint32(elf.R_RISCV_32):           {RelocAbs, 4},
	uint32(elf.R_RISCV_64):           {RelocAbs, 8},
	uint32(elf.R_RISCV_SET8):         {RelocAbs, 1},
	uint32(elf.R_RISCV_SET16):        {RelocAbs, 2},
	uint32(elf.R_RISCV_SET32):        {RelocAbs, 4},
	uint32(elf.R_RISCV_32_PCREL):     {RelocPC, 4},
	r_RISCV_PLT32:                    {RelocPC, 4},
	uint32(elf.R_RISCV_ADD8):         {RelocAdd, 1},
	uint32(elf.R_RISCV_ADD16):        {RelocAdd, 2},
	uint32(elf.R_RISCV_ADD32):        {RelocAdd, 4},
	uint32(elf.R_RISCV_ADD64):        {RelocAdd, 8},
	uint32(elf.R_RISCV_SUB8):         {RelocSub, 1},
	uint32(elf.R_RISCV_SUB16):        {RelocSub, 2},
	uint32(elf.R_RISCV_SUB32):        {RelocSub, 4},
	uint32(elf.R_RISCV_SUB64):        {RelocSub, 8},
	uint32(elf.R_RISCV_SET6):         {RelocSet6, 1},
	uint32(elf.R_RISCV_SUB6):         {RelocSub6, 1},
	r_RISCV_SETULEB128:               {RelocSetULEB, 0},
	r_RISCV_SUBULEB128:               {RelocSubULEB, 0},
	uint32(elf.R_RISCV_RELAX):        {RelocIgnored, 0},
	uint32(elf.R_RISCV_ALIGN):        {RelocIgnored, 0},
	uint32(elf.R_RISCV_TLS_DTPREL32): {RelocIgnored, 0},
	uint32(elf.R_RISCV_TLS_DTPREL64): {RelocIgnored, 0},
}
