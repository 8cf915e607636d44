// Package follow compares the rules of STACK CFI with the instructions of a binary.
//
// The follower walks through the instructions of a STACK CFI INIT and tracks, for each register,
// how far the CFA is above it. It takes the rule at the first instruction, and from then on the
// instructions alone. Where it cannot get from one instruction to the next (behind an indirect
// jump, a call that does not return, a landing pad) it starts again with the rule there: such code
// is anchored, and rules are compared with each other through it.
package follow

import "github.com/symtool/symtool/symfmt/cfi"

// stepKind is where control goes after an instruction.
type stepKind uint8

const (
	stepNext     stepKind = iota
	stepBad               // no instruction, or one that is not known
	stepCall              // to target, or to where is not known (target 0)
	stepJump              // to target only
	stepBranch            // to target or on
	stepIndirect          // to where is not known
	stepReturn
	stepStop // never goes on
	stepTrap // likewise, and is for kernels
)

// step is the effect of an instruction beside the change of the state.
type step struct {
	size   int
	kind   stepKind
	target uint64
}

// CPU is what the follower needs about a CPU.
type CPU struct {
	entry int64             // CFA less stack pointer at a function's first instruction, and at its return
	regs  [frameRegs]string // names in rules
	// step decodes the first instruction of code, which is at addr, and changes the state
	// accordingly.
	step func(code []byte, addr uint64, s *frameState) step
	// nop is the length of the padding that code begins with, 0 for none.
	nop func(code []byte) int
	// clobber forgets what a call does not keep.
	clobber uint16
	// saves are the registers that a function keeps for its caller, .ra first. link reports whether
	// .ra is in a register at the first instruction.
	saves []string
	link  bool
}

// follower compares the rules of blocks with instructions.
type follower struct {
	cpu    *CPU
	table  *Table
	base   uint64     // address of RVA 0
	numReg []int      // by cfi.Reg: number in a frameState, -1
	rules  []saveRule // by stackRow.saves: made when it is needed

	// Of the block that is followed:
	b     *Block
	code  []byte
	start uint64 // address of code[0]
	state []frameState
	index []int32 // by offset in code: in state, plus 1
	order []uint32
	sites map[uint32]bool // calls
	now   []pathItem      // to follow first
	later []pathItem      // returns of calls
	ends  []uint32        // offsets behind instructions that do not go on
	jumps []frameState
	exits []exitFact
	bad   [reasonCount]int
	clash []clashFact
	self  bool
	long  bool          // it has more than maxInstructions
	ruled uint16        // of the caller's registers, see ruledSaves
	save  *saveMismatch // what check found of the caller's registers

	calls map[uint64]struct{} // targets of calls, of all blocks
	stats Stats
}

type pathItem struct {
	at, from uint32
	s        frameState
}

// exitFact is a return, or a jump to another function.
type exitFact struct {
	at     uint32
	off    int32
	target uint64 // 0 for a return
}

// clashFact is a place where code that was anchored at a rule meets other code.
type clashFact struct {
	at         uint32
	have, came int32
}

func newFollower(cpu *CPU, table *Table, base uint64) *follower {
	f := &follower{cpu: cpu, table: table, base: base, calls: map[uint64]struct{}{}}
	f.stats.NotCompared, f.stats.AbstainedBy = map[string]int{}, map[string]int{}
	f.numReg = make([]int, table.Names.Len())
	for i := range f.numReg {
		f.numReg[i] = -1
	}
	for i, name := range cpu.regs {
		if r := table.Names.Lookup(name); name != "" && r >= 0 && int(r) < len(f.numReg) {
			f.numReg[r] = i
		}
	}
	return f
}

// ruleAt returns the register and the offset of the rule at an offset of the code; reg is -1 if it
// has another form.
func (f *follower) ruleAt(at uint32) (row *Row, reg int, off int64) {
	row = f.table.Row(f.b, f.b.RVA+cfiRVA(f.start-f.blockAddr()+uint64(at)))
	if row == nil {
		return nil, -1, 0
	}
	p := f.table.cfa(row)
	if p.Kind != PlaceSum || p.Base < 0 || int(p.Base) >= len(f.numReg) {
		return row, -1, 0
	}
	return row, f.numReg[p.Base], p.Off
}

type cfiRVA = cfi.RVA

func (f *follower) blockAddr() uint64 { return f.base + uint64(f.b.RVA) }

// anchor makes the state that the rule at an offset implies; ok is false where it implies nothing.
func (f *follower) anchor(at uint32) (s frameState, ok bool) {
	_, reg, off := f.ruleAt(at)
	if reg < 0 {
		return s, false
	}
	s.anchored = true
	s.set(reg, off)
	row, _, _ := f.ruleAt(at)
	s.saves = f.anchoredSaves(f.saveRule(row.saves))
	return s, true
}
