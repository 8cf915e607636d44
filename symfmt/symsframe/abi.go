package symsframe

import (
	"encoding/binary"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
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

// ABIOf returns the ABI of a CPU with a byte order; ok is false if SFrame does
// not support it.
func ABIOf(cpu *arch.Arch, order binary.ByteOrder) (abi sframe.ABI, ok bool) {
	for abi, a := range cpus {
		if a != nil && a == cpu && sframe.ABI(abi).Order() == order {
			return sframe.ABI(abi), true
		}
	}
	return 0, false
}

// ruleRegs are the registers that SFrame rows describe.
type ruleRegs struct {
	abi    sframe.ABI
	names  *cfi.Names
	sp, fp cfi.Reg
	ra     cfi.Reg // cfi.NoReg if the return address is never in a register
	above  int64   // offset of the CFA from the caller's stack pointer
	entry  int64   // offset of the CFA from the stack pointer at a function's entry
}

func newRuleRegs(names *cfi.Names, abi sframe.ABI) ruleRegs {
	cpu := CPU(abi)
	r := ruleRegs{abi: abi, names: names, sp: names.Lookup(cpu.SP), fp: names.Lookup(cpu.FP), ra: cfi.NoReg, above: -int64(abi.CallerSP(0))}
	if cpu.RA != "" {
		r.ra = names.Lookup(cpu.RA)
	}
	r.entry = r.above - int64(abi.FixedRA())
	return r
}

// reg returns a rule's base, or cfi.NoReg if STACK CFI has no name for it.
func (r *ruleRegs) reg(reg sframe.Reg) cfi.Reg {
	if reg == sframe.CFA {
		return cfi.CFA
	}
	name, ok := CPU(r.abi).RegName(uint64(reg))
	if !ok {
		return cfi.NoReg
	}
	return r.names.Lookup(name)
}
