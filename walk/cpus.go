package walk

import (
	"strconv"

	"github.com/symtool/symtool/symfmt/arch"
)

// cpus are the CPUs whose stacks are walked, with the registers that frames keep.
var cpus = map[*arch.Arch]*cpu{
	arch.X86: newCPU(arch.X86, 1, byWin, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan).
		keep("$eip", "$esp", "$ebp", "$ebx", "$esi", "$edi", "$eax", "$ecx", "$edx", "$eflags"),
	arch.X86_64: newCPU(arch.X86_64, 1, bySymbols, byEHFrame, bySFrame, bySignalFrame, byLeaf, byReturn, byFramePointer, byScan).
		keep("$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi", "$rbp", "$rsp", "$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15", "$rip"),
	arch.ARM:     newCPU(arch.ARM, 2, bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan).keep(names("r", 13, "sp", "lr", "pc")...),
	arch.ARM64:   newCPU(arch.ARM64, 4, bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan).keep(names("x", 31, "sp", "pc")...),
	arch.MIPS:    newCPU(arch.MIPS, 8, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byScan).keep(mipsGeneral...),
	arch.MIPS64:  newCPU(arch.MIPS64, 8, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byScan).keep(mipsGeneral...),
	arch.PPC:     newCPU(arch.PPC, 4, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan).keep(names("r", 32, "lr", "srr0")...),
	arch.PPC64:   newCPU(arch.PPC64, 4, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan).keep(names("r", 32, "lr", "srr0")...),
	arch.RISCV:   newCPU(arch.RISCV, 2, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan).keep(riscvGeneral...),
	arch.RISCV64: newCPU(arch.RISCV64, 2, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan).keep(riscvGeneral...),
	arch.S390X:   newCPU(arch.S390X, 2, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan).keep(names("r", 16, "pswa")...),
}

var mipsGeneral = []string{
	"$at", "$v0", "$v1", "$a0", "$a1", "$a2", "$a3", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7",
	"$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$t8", "$t9", "$gp", "$sp", "$fp", "$ra", "$pc",
}

var riscvGeneral = []string{
	"ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc",
}

// names are prefix0 to prefix(n-1), and more.
func names(prefix string, n int, more ...string) (all []string) {
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return append(all, more...)
}
