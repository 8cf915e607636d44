package walk

import (
	"strconv"
	"sync"

	"github.com/symtool/symtool/symfmt/arch"
)

// cpus are those whose stacks are walked, each made when it is asked for: a
// process walks those of one or two.
var cpus = map[*arch.Arch]func() *cpu{
	arch.X86: lazyCPU(arch.X86, 1, func() []string {
		return []string{"$eip", "$esp", "$ebp", "$ebx", "$esi", "$edi", "$eax", "$ecx", "$edx", "$eflags"}
	}, byWin, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.X86_64: lazyCPU(arch.X86_64, 1, func() []string {
		return []string{"$rax", "$rdx", "$rcx", "$rbx", "$rsi", "$rdi", "$rbp", "$rsp", "$r8", "$r9", "$r10", "$r11", "$r12", "$r13", "$r14", "$r15", "$rip"}
	}, bySymbols, byEHFrame, bySFrame, bySignalFrame, byLeaf, byReturn, byFramePointer, byScan),
	arch.ARM:     lazyCPU(arch.ARM, 2, func() []string { return names("r", 13, "sp", "lr", "pc") }, bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan),
	arch.ARM64:   lazyCPU(arch.ARM64, 4, func() []string { return names("x", 31, "sp", "pc") }, bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan),
	arch.MIPS:    lazyCPU(arch.MIPS, 8, func() []string { return mipsGeneral }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byScan),
	arch.MIPS64:  lazyCPU(arch.MIPS64, 8, func() []string { return mipsGeneral }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byScan),
	arch.PPC:     lazyCPU(arch.PPC, 4, func() []string { return names("r", 32, "lr", "srr0") }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.PPC64:   lazyCPU(arch.PPC64, 4, func() []string { return names("r", 32, "lr", "srr0") }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.RISCV:   lazyCPU(arch.RISCV, 2, func() []string { return riscvGeneral }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.RISCV64: lazyCPU(arch.RISCV64, 2, func() []string { return riscvGeneral }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.S390X:   lazyCPU(arch.S390X, 2, func() []string { return names("r", 16, "pswa") }, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
}

var mipsGeneral = []string{
	"$at", "$v0", "$v1", "$a0", "$a1", "$a2", "$a3", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5", "$t6", "$t7",
	"$s0", "$s1", "$s2", "$s3", "$s4", "$s5", "$s6", "$s7", "$t8", "$t9", "$gp", "$sp", "$fp", "$ra", "$pc",
}

var riscvGeneral = []string{
	"ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
	"s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6", "pc",
}

// cpuOf returns what walking needs to know of a CPU.
func cpuOf(a *arch.Arch) *cpu {
	if made := cpus[a]; made != nil {
		return made()
	}
	return nil
}

// lazyCPU makes a CPU whose frames keep the registers of kept.
func lazyCPU(a *arch.Arch, call uint64, kept func() []string, techniques ...technique) func() *cpu {
	return sync.OnceValue(func() *cpu { return newCPU(a, call, techniques...).keep(kept()...) })
}

// names are prefix0 to prefix(n-1), and more.
func names(prefix string, n int, more ...string) (all []string) {
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return append(all, more...)
}
