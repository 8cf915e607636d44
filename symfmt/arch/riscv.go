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

var riscvNops = []Nop{{0x00000013, 4}, {0x0001, 2}}

var riscvShown = Shown{Regs: shown(append([]string{"pc"}, riscvGeneral[:len(riscvGeneral)-1]...)...)}

// RISCV is the 32-bit RISC-V.
var RISCV = finish(&Arch{
	Name:             "riscv",
	Aliases:          []string{"riscv32"},
	PtrSize:          4,
	Machine:          elf.EM_RISCV,
	Class:            elf.ELFCLASS32,
	Order:            binary.LittleEndian,
	ELFFlags:         riscvFlags,
	PC:               "pc",
	SP:               "sp",
	FP:               "s0",
	RA:               "ra",
	ReturnAddress:    1,
	CalleeSaved:      riscvSaved,
	CalleeSavedFloat: riscvSavedFloat,
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
	Class:            elf.ELFCLASS64,
	Order:            binary.LittleEndian,
	ELFFlags:         riscvFlags,
	PC:               "pc",
	SP:               "sp",
	FP:               "s0",
	RA:               "ra",
	ReturnAddress:    1,
	CalleeSaved:      riscvSaved,
	CalleeSavedFloat: riscvSavedFloat,
	General:          riscvGeneral,
	Nops:             riscvNops,
	Shown:            riscvShown,
	Regs:             riscvRegs,
})
