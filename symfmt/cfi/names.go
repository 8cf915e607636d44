package cfi

import (
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
)

// Reg is a register or variable of a Names. The CPU's registers come first, as
// in arch.Arch.Regs, then their other names, as in arch.Arch.OtherNames, then
// further names in order of first use.
type Reg int32

// Pseudo-registers.
const (
	CFA   Reg = -1 // .cfa
	RA    Reg = -2 // .ra
	NoReg Reg = -3
)

// Names numbers the registers and variables used in rules. The expressions of
// one module share a Names; only those can be compared. Because parsing adds
// names, it must not run concurrently with any other use of the Names.
// Evaluating, comparing and printing may run concurrently.
type Names struct {
	arch   *arch.Arch
	wide   bool // words have 64 bits
	mask   uint64
	sp, pc Reg
	saved  []Reg // the registers that keep their values without a rule
	known  int   // number of registers in arch
	homes  []Reg // registers that the other names refer to
	others []string
	index  map[string]Reg
	words  []uint32 // scratch space of the parser
}

// NewNames returns the names of a CPU's registers. For a module of an unknown
// CPU, a is nil: words have 64 bits, and no register has a special meaning.
func NewNames(a *arch.Arch) *Names {
	n := &Names{arch: a, wide: true, mask: ^uint64(0), sp: NoReg, pc: NoReg}
	if a == nil {
		return n
	}
	if a.PtrSize == 4 {
		n.wide, n.mask = false, 1<<32-1
	}
	n.known = len(a.Regs)
	n.sp, n.pc = n.Lookup(a.SP), n.Lookup(a.PC)
	for _, name := range slices.Concat(a.CalleeSaved, a.Constant) {
		n.saved = append(n.saved, n.Lookup(name))
	}
	for _, other := range a.OtherNames {
		n.homes = append(n.homes, n.Lookup(other.Reg))
		n.others = append(n.others, other.Name)
	}
	return n
}

// Arch returns the CPU; it may be nil.
func (n *Names) Arch() *arch.Arch { return n.arch }

// Len returns the number of registers and variables; every Reg is below it.
func (n *Names) Len() int { return n.known + len(n.others) }

// Known reports whether r is .cfa, .ra, or a register of the CPU under any of its names.
func (n *Names) Known(r Reg) bool { return r > NoReg && int(r) < n.known+len(n.homes) }

// Home returns the register in arch.Arch.Regs that r is another name for, or r itself.
func (n *Names) Home(r Reg) Reg {
	if i := int(r) - n.known; i >= 0 && i < len(n.homes) {
		return n.homes[i]
	}
	return r
}

// Lookup returns the register with a name, or NoReg.
func (n *Names) Lookup(name string) Reg {
	switch name {
	case ".cfa":
		return CFA
	case ".ra":
		return RA
	}
	if n.arch != nil {
		if i, ok := n.arch.RegIndex(name); ok {
			return Reg(i)
		}
		if i, ok := n.arch.OtherIndex(name); ok {
			return Reg(n.known + i)
		}
	}
	if r, ok := n.index[name]; ok {
		return r
	}
	return NoReg
}

// intern is like Lookup but adds a new name. It returns NoReg if there are
// already maxNames.
func (n *Names) intern(name string) Reg {
	if r := n.Lookup(name); r != NoReg {
		return r
	}
	return n.internOther(name)
}

// internOther is like intern, for a name that the CPU does not have.
func (n *Names) internOther(name string) Reg {
	if r, ok := n.index[name]; ok {
		return r
	}
	if len(n.others)-len(n.homes) >= maxNames {
		return NoReg
	}
	if n.index == nil {
		n.index = make(map[string]Reg)
	}
	name = strings.Clone(name) // so as not to keep the whole input in memory
	r := Reg(n.known + len(n.others))
	n.others = append(n.others, name)
	n.index[name] = r
	return r
}

// Name returns the name of a register.
func (n *Names) Name(r Reg) string {
	switch {
	case r == CFA:
		return ".cfa"
	case r == RA:
		return ".ra"
	case r < 0 || int(r) >= n.Len():
		return "?"
	case int(r) < n.known:
		return n.arch.Regs[r].Name
	}
	return n.others[int(r)-n.known]
}

// wrap truncates v to the word size and sign-extends it: the form of constants.
func (n *Names) wrap(v uint64) uint64 {
	if n.wide {
		return v
	}
	return uint64(int64(int32(v)))
}
