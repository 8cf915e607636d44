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
	),
})
