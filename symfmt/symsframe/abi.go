package symsframe

import (
	"encoding/binary"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/arch"
)

// cpus are the CPUs by ABI.
var cpus = [...]*arch.Arch{
	sframe.AArch64BE: arch.ARM64,
	sframe.AArch64LE: arch.ARM64,
	sframe.AMD64:     arch.X86_64,
	sframe.S390X:     arch.S390X,
}

// CPU returns the CPU of a known ABI.
func CPU(abi sframe.ABI) *arch.Arch { return cpus[abi] }

// ABIOf returns the ABI of a CPU with a byte order; ok is false for those that
// SFrame does not know.
func ABIOf(cpu *arch.Arch, order binary.ByteOrder) (abi sframe.ABI, ok bool) {
	for abi, a := range cpus {
		if a != nil && a == cpu && sframe.ABI(abi).Order() == order {
			return sframe.ABI(abi), true
		}
	}
	return 0, false
}

// ruleRegs are the registers that SFrame rows are about, by their names in
// STACK CFI.
type ruleRegs struct {
	abi    sframe.ABI
	cpu    *arch.Arch
	sp, fp string
	ra     string // "" where the return address is never in a register
	above  int64  // the CFA is so far above the caller's stack pointer
	entry  int64  // the CFA at a function's entry is so far above the stack pointer
}

func newRuleRegs(abi sframe.ABI) ruleRegs {
	cpu := CPU(abi)
	r := ruleRegs{abi: abi, cpu: cpu, ra: cpu.RA, sp: cpu.SP, fp: cpu.FP, above: -int64(abi.CallerSP(0))}
	r.entry = r.above - int64(abi.FixedRA())
	return r
}

// name returns the name of a rule's base; "" if STACK CFI has none for it.
func (r *ruleRegs) name(reg sframe.Reg) string {
	if reg == sframe.CFA {
		return ".cfa"
	}
	name, _ := r.cpu.RegName(uint64(reg))
	return name
}
