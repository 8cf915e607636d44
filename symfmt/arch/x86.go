package arch

import (
	"debug/elf"
	"encoding/binary"
)

// X86 is the 32-bit x86. DWARF numbers: System V ABI, Intel386 supplement,
// table 2.14.
//
// STACK WIN programs written by Microsoft's linker also refer to the general
// registers by CodeView number, $17 (CV_REG_EAX) to $24 (CV_REG_EDI), most often
// to those that functions save: $20, $22, $23 and $24.
var X86 = finish(&Arch{
	Name:          "x86",
	Aliases:       []string{"i386", "i686"},
	PtrSize:       4,
	Machine:       elf.EM_386,
	Relocs:        relocsX86,
	Class:         elf.ELFCLASS32,
	Order:         binary.LittleEndian,
	PC:            "$eip",
	SP:            "$esp",
	FP:            "$ebp",
	ReturnAddress: 8,
	CalleeSaved:   []string{"$ebx", "$ebp", "$esi", "$edi"},
	General:       []string{"$eip", "$esp", "$ebp", "$ebx", "$esi", "$edi", "$eax", "$ecx", "$edx", "$eflags"},
	Shown: Shown{
		Regs:  shown("$eip", "$esp", "$ebp", "$ebx", "$esi", "$edi"),
		Whole: append(shown("$eax", "$ecx", "$edx"), ShownReg{"efl", "$eflags"}),
	},
	OtherNames: alsoCalled(
		[]string{"$17", "$18", "$19", "$20", "$21", "$22", "$23", "$24"},
		[]string{"$eax", "$ecx", "$edx", "$ebx", "$esp", "$ebp", "$esi", "$edi"}),
	Regs: join(
		run(0, "$eax", "$ecx", "$edx", "$ebx", "$esp", "$ebp", "$esi", "$edi", "$eip", "$eflags"),
		series(11, "$st", 8),
		series(21, "$xmm", 8),
		series(29, "$mm", 8),
		run(37, "$fcw", "$fsw", "$mxcsr"),
		run(40, "$es", "$cs", "$ss", "$ds", "$fs", "$gs"),
		run(48, "$tr", "$ldtr"),
		series(93, "$k", 8),
		unnumbered("$pkru"),
	),
})

var relocsX86 = map[uint32]Reloc{
	uint32(elf.R_386_NONE):       {RelocIgnored, 0},
	uint32(elf.R_386_8):          {RelocAbs, 1},
	uint32(elf.R_386_16):         {RelocAbs, 2},
	uint32(elf.R_386_32):         {RelocAbs, 4},
	uint32(elf.R_386_PC8):        {RelocPC, 1},
	uint32(elf.R_386_PC16):       {RelocPC, 2},
	uint32(elf.R_386_PC32):       {RelocPC, 4},
	uint32(elf.R_386_PLT32):      {RelocPC, 4},
	uint32(elf.R_386_GOTOFF):     {RelocIgnored, 0},
	uint32(elf.R_386_GOTPC):      {RelocIgnored, 0},
	uint32(elf.R_386_TLS_LE):     {RelocIgnored, 0},
	uint32(elf.R_386_TLS_LDO_32): {RelocIgnored, 0},
	uint32(elf.R_386_SIZE32):     {RelocIgnored, 0},
}
