package arch

import (
	"debug/elf"
	"encoding/binary"
)

var x86_64General = append([]string{"$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi", "$rbp", "$rsp"},
	append(indexed("$r", 8, 16), "$rip")...)

// X86_64 is the 64-bit x86, including x32: Breakpad calls both x86_64. DWARF
// numbers: System V ABI, AMD64 supplement, figure 3.36.
var X86_64 = finish(&Arch{
	Name:             "x86_64",
	Aliases:          []string{"amd64", "x86_64h"},
	PtrSize:          8,
	Machine:          elf.EM_X86_64,
	Relocs:           relocsX86_64,
	Class:            elf.ELFCLASS64,
	Order:            binary.LittleEndian,
	Narrow:           true,
	PC:               "$rip",
	SP:               "$rsp",
	FP:               "$rbp",
	ReturnAddress:    16,
	CalleeSaved:      []string{"$rbx", "$rbp", "$r12", "$r13", "$r14", "$r15"},
	CalleeSavedFloat: indexed("$xmm", 6, 16), // on Windows; none in the System V ABI
	General:          x86_64General,
	Shown:            Shown{Regs: shown(x86_64General...)},
	CanonicalBits:    48,
	Regs: join(
		run(0, "$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi", "$rbp", "$rsp"),
		run(8, indexed("$r", 8, 16)...),
		run(16, "$rip"),
		series(17, "$xmm", 16),
		series(33, "$st", 8),
		series(41, "$mm", 8),
		run(49, "$rflags", "$es", "$cs", "$ss", "$ds", "$fs", "$gs"),
		run(58, "$fs.base", "$gs.base"),
		run(62, "$tr", "$ldtr", "$mxcsr", "$fcw", "$fsw"),
		run(67, indexed("$xmm", 16, 32)...),
		series(118, "$k", 8),
		run(130, indexed("$r", 16, 32)...),
		unnumbered("$pkru"),
	),
})

var relocsX86_64 = map[uint32]Reloc{
	uint32(elf.R_X86_64_NONE):     {RelocIgnored, 0},
	uint32(elf.R_X86_64_8):        {RelocAbs, 1},
	uint32(elf.R_X86_64_16):       {RelocAbs, 2},
	uint32(elf.R_X86_64_32):       {RelocAbs, 4},
	uint32(elf.R_X86_64_32S):      {RelocAbs, 4},
	uint32(elf.R_X86_64_64):       {RelocAbs, 8},
	uint32(elf.R_X86_64_PC8):      {RelocPC, 1},
	uint32(elf.R_X86_64_PC16):     {RelocPC, 2},
	uint32(elf.R_X86_64_PC32):     {RelocPC, 4},
	uint32(elf.R_X86_64_PLT32):    {RelocPC, 4},
	uint32(elf.R_X86_64_PC64):     {RelocPC, 8},
	uint32(elf.R_X86_64_GOTPCREL): {RelocIgnored, 0},
	uint32(elf.R_X86_64_GOTPC32):  {RelocIgnored, 0},
	uint32(elf.R_X86_64_GOTOFF64): {RelocIgnored, 0},
	uint32(elf.R_X86_64_DTPOFF32): {RelocIgnored, 0},
	uint32(elf.R_X86_64_DTPOFF64): {RelocIgnored, 0},
	uint32(elf.R_X86_64_TPOFF32):  {RelocIgnored, 0},
	uint32(elf.R_X86_64_TPOFF64):  {RelocIgnored, 0},
	uint32(elf.R_X86_64_SIZE32):   {RelocIgnored, 0},
	uint32(elf.R_X86_64_SIZE64):   {RelocIgnored, 0},
}
