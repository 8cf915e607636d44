package walk

import (
	"strconv"

	"github.com/symtool/symtool/symfmt/arch"
)

// cpus are the CPUs whose stacks are walked.
var cpus = map[*arch.Arch]*cpu{
	arch.X86:     newCPU(arch.X86, 1, byWin, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.X86_64:  newCPU(arch.X86_64, 1, bySymbols, byEHFrame, bySFrame, bySignalFrame, byLeaf, byReturn, byFramePointer, byScan),
	arch.ARM:     newCPU(arch.ARM, 2, bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan),
	arch.ARM64:   newCPU(arch.ARM64, 4, bySignalFrame, bySymbols, byEHFrame, bySFrame, byReturn, byFramePointer, byScan),
	arch.MIPS:    newCPU(arch.MIPS, 8, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byScan),
	arch.MIPS64:  newCPU(arch.MIPS64, 8, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byScan),
	arch.PPC:     newCPU(arch.PPC, 4, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.PPC64:   newCPU(arch.PPC64, 4, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.RISCV:   newCPU(arch.RISCV, 2, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.RISCV64: newCPU(arch.RISCV64, 2, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
	arch.S390X:   newCPU(arch.S390X, 2, bySymbols, byEHFrame, bySFrame, bySignalFrame, byReturn, byFramePointer, byScan),
}

// names are prefix0 to prefix(n-1), and more.
func names(prefix string, n int, more ...string) (all []string) {
	for i := range n {
		all = append(all, prefix+strconv.Itoa(i))
	}
	return append(all, more...)
}
