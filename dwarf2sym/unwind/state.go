package unwind

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

func errorf(section string, offset uint64, format string, args ...any) *bin.Error {
	return &bin.Error{Section: section, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// Rules are kept for the registers that Breakpad has a name for, in slots.
// Slot 0 is the return address; the others are in the order of DWARF numbers.
const (
	maxSlots = 128
	slotRA   = 0
)

// slotMask is a set of slots.
type slotMask [2]uint64

func (m *slotMask) add(slot int)     { m[slot>>6] |= 1 << (slot & 63) }
func (m *slotMask) remove(slot int)  { m[slot>>6] &^= 1 << (slot & 63) }
func (m slotMask) has(slot int) bool { return m[slot>>6]>>(slot&63)&1 != 0 }
func (m slotMask) empty() bool       { return m[0]|m[1] == 0 }
func (m slotMask) with(o slotMask) slotMask {
	return slotMask{m[0] | o[0], m[1] | o[1]}
}

// ruleKind is a kind of rule (DWARF 5, 6.4.1).
type ruleKind uint8

const (
	ruleNone  ruleKind = iota // no rule: the calling convention applies
	ruleSame                  // unchanged
	ruleUndef                 // not recoverable
	ruleAt                    // saved at CFA + val
	ruleIs                    // is CFA + val
	ruleReg                   // is register ref + val; also for the CFA itself
	ruleExpr                  // is the value of postfix expression ref
	rulePC                    // is the value of expression ref, which depends on the pc
	ruleLost                  // not expressible in postfix
	ruleEnd                   // return address of the outermost frame
)

// regRule is a register's rule, or the CFA's. Rules with equal effect are
// equal values.
type regRule struct {
	kind ruleKind
	ref  uint32
	val  int64
}

// rowState is a row: the rule of the CFA and the rules of all slots. Slots that are not
// in set have the zero rule.
type rowState struct {
	cfa   regRule
	set   slotMask
	perPC slotMask // slots with rules that depend on the pc

	signed bool // arm64: the return address has pointer authentication bits

	regs [maxSlots]regRule
}

func (s *rowState) put(slot int, r regRule) {
	if s.regs[slot].kind == rulePC {
		s.perPC.remove(slot)
	}
	s.regs[slot] = r
	switch r.kind {
	case ruleNone:
		s.set.remove(slot)
		return
	case rulePC:
		s.perPC.add(slot)
	}
	s.set.add(slot)
}

// clear removes all rules.
func (s *rowState) clear() {
	for w, m := range s.set {
		for ; m != 0; m &= m - 1 {
			s.regs[64*w+bits.TrailingZeros64(m)] = regRule{}
		}
	}
	s.set, s.perPC, s.cfa, s.signed = slotMask{}, slotMask{}, regRule{}, false
}

// savedState is a state that stores only the rules that are set, for CIEs and
// DW_CFA_remember_state.
type savedState struct {
	cfa    regRule
	rules  []slotRule
	signed bool
}

type slotRule struct {
	slot uint8
	rule regRule
}

// save writes the state into c, reusing its memory.
func (s *rowState) save(c *savedState) {
	c.cfa, c.rules, c.signed = s.cfa, c.rules[:0], s.signed
	for w, m := range s.set {
		for ; m != 0; m &= m - 1 {
			i := 64*w + bits.TrailingZeros64(m)
			c.rules = append(c.rules, slotRule{uint8(i), s.regs[i]})
		}
	}
}

func (s *rowState) load(c *savedState) {
	s.clear()
	s.cfa, s.signed = c.cfa, c.signed
	for _, r := range c.rules {
		s.put(int(r.slot), r.rule)
	}
}

func (c *savedState) rule(slot int) regRule {
	for _, r := range c.rules {
		if int(r.slot) == slot {
			return r.rule
		}
	}
	return regRule{}
}

// regTable is what the decoder needs to know about a CPU and one numbering of its
// registers.
type regTable struct {
	id      uint32 // distinguishes the numberings of a CPU
	table   *cfi.Names
	regs    []cfi.Reg // by slot; slot 0 has cfi.RA
	columns []uint32  // by slot
	slots   []uint8   // by DWARF number; 0 for no slot
	saved   slotMask  // callee-saved
	sp      int       // slot, or -1
	pc      int       // slot, or -1
	bits    uint      // of a word
	spIsCFA bool      // the caller's stack pointer is the CFA
}

// newRegTable returns the register numbers for CIEs whose return-address column is ra.
func newRegTable(table *cfi.Names, ra uint64, id uint32) *regTable {
	a := table.Arch()
	r := &regTable{
		id: id, sp: -1, pc: -1, bits: 8 * uint(a.PtrSize),
		table: table, regs: []cfi.Reg{cfi.RA}, columns: []uint32{0},
		slots: make([]uint8, a.Numbers(ra)),
		// On z/Architecture the CFA is 160 bytes above the stack pointer
		// (s390x ELF ABI supplement, "Stack frame").
		spIsCFA: a != arch.S390X,
	}
	for n := range a.Numbers(ra) {
		name, ok := a.CIERegName(ra, n)
		if !ok || len(r.regs) == maxSlots {
			continue
		}
		slot := len(r.regs)
		r.regs, r.columns = append(r.regs, table.Lookup(name)), append(r.columns, uint32(n))
		r.slots[n] = uint8(slot)
		switch {
		case name == a.SP:
			r.sp = slot
		case name == a.PC:
			r.pc = slot
		case slices.Contains(a.CalleeSaved, name):
			r.saved.add(slot)
		}
	}
	return r
}

// slot returns the slot of a DWARF register number, or 0 if Breakpad has no name for the
// register.
func (r *regTable) slot(column uint64) int {
	if column < uint64(len(r.slots)) {
		return int(r.slots[column])
	}
	return 0
}

// reg returns the register with a DWARF number, which must have a slot.
func (r *regTable) reg(column uint64) cfi.Reg { return r.regs[r.slot(column)] }

// describe returns the name of a register for messages.
func (r *regTable) describe(column uint64) string {
	if r.slot(column) != 0 {
		return r.table.Name(r.reg(column))
	}
	return "DWARF register " + strconv.FormatUint(column, 10)
}

// wrap reduces v to a word, sign-extended.
func (r *regTable) wrap(v int64) int64 {
	if r.bits == 32 {
		return int64(int32(v))
	}
	return v
}
