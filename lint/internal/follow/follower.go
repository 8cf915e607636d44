// Package follow compares the rules of STACK CFI with the instructions of a binary.
//
// The follower walks through the instructions of a STACK CFI INIT and tracks the CFA's offset from
// each register. It takes the rule at the first instruction, and from then on relies on the
// instructions alone. Where it cannot get from one instruction to the next (after an indirect jump,
// a call that does not return, or at a landing pad), it starts again from the rule there. Such code
// is anchored: in it, rules are only compared with each other.
package follow

import "github.com/symtool/symtool/symfmt/cfi"

// stepKind says where control goes after an instruction.
type stepKind uint8

const (
	stepNext     stepKind = iota
	stepBad               // not an instruction, or an unknown one
	stepCall              // to target, or to an unknown address (target 0)
	stepJump              // only to target
	stepBranch            // to target or to the next instruction
	stepIndirect          // to an unknown address
	stepReturn
	stepStop // does not continue
	stepTrap // like stepStop, but only in user code
)

// step is the effect of an instruction, apart from the change to the state.
type step struct {
	size   int
	kind   stepKind
	target uint64
}

// CPU describes a CPU for the follower.
type CPU struct {
	entry int64             // CFA minus stack pointer at a function's first instruction, and at its return
	regs  [frameRegs]string // names used in rules
	// step decodes the first instruction of code, which is at addr, and updates the
	// state.
	step func(code []byte, addr uint64, s *frameState) step
	// nop returns the length of the padding at the start of code, or 0.
	nop func(code []byte) int
	// clobber is the set of registers that a call does not preserve.
	clobber uint16
	// saves are the registers that a function preserves for its caller, .ra first. link reports
	// whether .ra is in a register at the first instruction.
	saves []string
	link  bool
}

// follower compares the rules of blocks with instructions.
type follower struct {
	cpu    *CPU
	table  *Table
	base   uint64     // address of RVA 0
	numReg []int      // by cfi.Reg: index in a frameState, or -1
	rules  []saveRule // by Row.saves; computed on demand

	// State of the current block:
	b     *Block
	code  []byte
	start uint64 // address of the first byte of code
	state []frameState
	index []int32 // by offset in code: index in state plus 1, or inside, or 0
	order []uint32
	sites map[uint32]bool // offsets of calls
	now   []pathItem      // paths to follow first
	later []pathItem      // paths after calls
	ends  []uint32        // offsets after instructions that do not continue
	jumps []pathItem

	refuted map[uint32]bool // frameState.from of code that other paths lead to
	exits   []exitFact
	leaves  map[uint64]bool // where control leaves the block: targets of exits, even if the stack there is unknown
	bad     [reasonCount]int
	clash   []clashFact
	self    bool
	long    bool          // the block has more than maxInstructions
	ruled   uint16        // the caller's registers that need rules; see ruledSaves
	save    *saveMismatch // finding of check about the caller's registers

	calls  map[uint64]bool            // targets of calls in all blocks; true if they move the stack or frame pointer
	codeAt func(addr uint64) []byte   // like Binary.Code, or nil
	tables bool                       // like Binary.Tables
	begins func(from, to uint64) bool // like Binary.Begins
	stats  Stats

	confirmed map[uint64]bool // targets of jumps at which the stack agrees with the target's rules
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

// clashFact is an instruction where code anchored at a rule meets other code with a different stack
// pointer.
type clashFact struct {
	at         uint32
	have, came int32
}

func newFollower(cpu *CPU, table *Table, base uint64) *follower {
	f := &follower{cpu: cpu, table: table, base: base, calls: map[uint64]bool{}, confirmed: map[uint64]bool{}}
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

// ruleAt returns the register and offset of the rule at an offset of the code; reg is -1 if the
// rule has another form.
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

// anchor returns the state implied by the rule at an offset; ok is false if it implies none.
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
