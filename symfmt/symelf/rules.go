package symelf

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
)

// ruleSet is a compiled set of rules: instructions and losses for each numbering of the
// return address. A file may have a set for each row, so the compiler holds the bytes of
// both.
type ruleSet struct {
	known          bool
	hasCFA, hasRA  bool
	hasSP, hasLink bool   // has rules for the stack pointer, the link register
	fatal          string // why the following code has no frames: the CFA or return address cannot be expressed

	code [3]int // column c's code is compiler.code[code[c]:code[c+1]]
	lost [2]int // column c's losses are compiler.lost[lost[c]]
}

// draft is the set being compiled, by column.
type draft struct {
	code [2][]byte
	lost [2]lostRules
}

// column selects the DWARF register that holds the return address in a CIE.
type column int

const (
	linkColumn column = iota // the usual one: the link register, if any
	pcColumn                 // the program counter, for rules that also restore the link register
)

// lostRules counts rules by the reason why they are left out. There are few reasons.
type lostRules []lostRule

type lostRule struct {
	why string
	n   int
}

func (l *lostRules) add(why string, n int) {
	if n == 0 {
		return
	}
	for i := range *l {
		if (*l)[i].why == why {
			(*l)[i].n += n
			return
		}
	}
	*l = append(*l, lostRule{why, n})
}

// Reasons why rules, rows or blocks are left out; see also expr.go.
const (
	whyUnreadable = "their rules have no meaning"
	whyNoCFA      = "no rule for .cfa or .ra"
	whyNoCFARule  = "the rule for .cfa or .ra cannot be expressed in DWARF"
	whyPC         = "the program counter has a rule besides .ra"
	whyLink       = "in .eh_frame the link register is the return address"
	whyOutside    = "outside their STACK CFI INIT"
	whyNoCode     = "no code or no address"
)

// compiler compiles each rule set once.
type compiler struct {
	arch  *arch.Arch
	names *cfi.Names
	expr  postfix
	table *symfmt.RuleTable
	sets  []ruleSet
	code  []byte      // of all sets
	lost  []lostRules // of all sets: the first is empty, and most sets with equal losses share a list
	draft draft

	pc, sp, link cfi.Reg
	ra           [2]uint64 // return address by column
	hasPC        bool      // there is a pcColumn
}

func newCompiler(a *arch.Arch, order byteOrder, table *symfmt.RuleTable) *compiler {
	names := table.Names()
	if names.Arch() != a {
		names = cfi.NewNames(a)
	}
	c := &compiler{arch: a, names: names, table: table, sets: make([]ruleSet, table.Len()), lost: []lostRules{nil}}
	c.expr = postfix{names: names, order: order}
	c.pc, c.sp, c.link = c.names.Lookup(a.PC), c.names.Lookup(a.SP), cfi.NoReg
	if a.RA != "" {
		c.link = c.names.Lookup(a.RA)
	}
	c.ra[linkColumn] = a.ReturnAddress
	if c.ra[pcColumn], c.hasPC = a.RegNumber(a.PC); c.hasPC && c.ra[pcColumn] == a.ReturnAddress {
		c.hasPC = false
	}
	return c
}

// set returns a rule set, compiling it at its first use.
func (c *compiler) set(id symfmt.RuleID) *ruleSet {
	s := &c.sets[id]
	if !s.known {
		s.known = true
		c.compile(s, id)
	}
	return s
}

// instructions returns a set's instructions.
func (c *compiler) instructions(s *ruleSet, col column) []byte {
	return c.code[s.code[col]:s.code[col+1]]
}

// losses returns what a set loses.
func (c *compiler) losses(s *ruleSet, col column) lostRules { return c.lost[s.lost[col]] }

// keepLosses returns the index of l in c.lost. It searches only the last few lists
// before it adds one.
func (c *compiler) keepLosses(l lostRules) int {
	if len(l) == 0 {
		return 0
	}
	for i := len(c.lost) - 1; i > max(0, len(c.lost)-5); i-- {
		if slices.Equal(c.lost[i], l) {
			return i
		}
	}
	c.lost = append(c.lost, slices.Clone(l))
	return len(c.lost) - 1
}

func (c *compiler) compile(s *ruleSet, id symfmt.RuleID) {
	d := &c.draft
	for col := range d.code {
		d.code[col], d.lost[col] = d.code[col][:0], d.lost[col][:0]
	}
	c.translate(s, id)
	s.code[0] = len(c.code)
	for col := range d.code {
		c.code = append(c.code, d.code[col]...)
		s.code[col+1], s.lost[col] = len(c.code), c.keepLosses(d.lost[col])
	}
}

// translate compiles a set into the draft.
func (c *compiler) translate(s *ruleSet, id symfmt.RuleID) {
	rules, err := c.table.Rules(id)
	rules = c.names.Translate(rules)
	if err != nil {
		s.fatal = whyUnreadable
		return
	}
	var row cfi.Row
	row.Apply(rules)
	s.hasCFA, s.hasRA = !row.CFA.IsZero(), !row.RA.IsZero()
	s.hasSP, s.hasLink = !row.Rule(c.sp).IsZero(), c.link != cfi.NoReg && !row.Rule(c.link).IsZero()
	if s.hasCFA {
		code, why := c.defineCFA(row.CFA)
		if why != "" {
			s.fatal = whyNoCFARule
			return
		}
		c.draft.add(code)
	}
	if s.hasRA {
		for col := range c.ra {
			code, why := c.rule(c.ra[col], row.RA, true)
			if why != "" {
				s.fatal = whyNoCFARule
				return
			}
			c.draft.code[col] = append(c.draft.code[col], code...)
		}
	}
	for _, r := range row.Regs {
		c.register(s, r, row.RA)
	}
}

func (d *draft) add(code []byte) {
	for col := range d.code {
		d.code[col] = append(d.code[col], code...)
	}
}

func (d *draft) lose(why string) {
	for col := range d.lost {
		d.lost[col].add(why, 1)
	}
}

// register adds the rule of a register that is neither .cfa nor .ra.
func (c *compiler) register(s *ruleSet, r cfi.Rule, ra cfi.Expr) {
	d := &c.draft
	if r.Reg == c.pc {
		if !s.hasRA || !r.Expr.Equal(ra) {
			d.lose(whyPC)
		}
		return
	}
	n, ok := c.arch.RegNumber(c.names.Name(r.Reg))
	if !ok {
		d.lose(whyRegister)
		return
	}
	code, why := c.rule(n, r.Expr, false)
	if why != "" {
		d.lose(why)
		code = binary.AppendUvarint([]byte{dw.CFAUndefined}, n) // otherwise an earlier rule would stay in force
	}
	if r.Reg == c.link {
		d.code[pcColumn] = append(d.code[pcColumn], code...)
		if !s.hasRA || !r.Expr.Equal(ra) {
			d.lost[linkColumn].add(whyLink, 1)
		}
		return
	}
	d.add(code)
}

// defineCFA returns the instruction for the rule of .cfa.
func (c *compiler) defineCFA(e cfi.Expr) (code []byte, why string) {
	if e.IsUndef() || e.Check() != nil {
		return nil, whyFails
	}
	if base, off, ok := e.AsOffset(); ok && base != cfi.CFA {
		n, numbered := c.arch.RegNumber(c.names.Name(base))
		align := -int64(c.arch.PtrSize)
		switch {
		case !numbered:
			return nil, whyRegister
		case off >= 0:
			return binary.AppendUvarint(binary.AppendUvarint([]byte{dw.CFADefCFA}, n), uint64(off)), ""
		case off%align == 0:
			return bin.AppendSLEB(binary.AppendUvarint([]byte{dw.CFADefCFASF}, n), off/align), ""
		}
	}
	c.expr.cfa = false
	ops, why := c.expr.translate(e)
	if why != "" {
		return nil, why
	}
	return append(binary.AppendUvarint([]byte{dw.CFADefCFAExpression}, uint64(len(ops))), ops...), ""
}

// rule returns the instruction for the rule of register n; ra is set for the
// return address, for which a small number marks the outermost frame.
func (c *compiler) rule(n uint64, e cfi.Expr, ra bool) (code []byte, why string) {
	if e.IsUndef() || ra && e.EndsStack() {
		return binary.AppendUvarint([]byte{dw.CFAUndefined}, n), ""
	}
	if e.Check() != nil {
		return nil, whyFails
	}
	if base, off, ok := e.AsLoad(); ok && base == cfi.CFA {
		if k, ok := c.factored(off); ok {
			return savedAt(n, k), ""
		}
	}
	if base, off, ok := e.AsOffset(); ok {
		k, aligned := c.factored(off)
		switch {
		case base == cfi.CFA && aligned && k >= 0:
			return binary.AppendUvarint(binary.AppendUvarint([]byte{dw.CFAValOffset}, n), uint64(k)), ""
		case base == cfi.CFA && aligned:
			return bin.AppendSLEB(binary.AppendUvarint([]byte{dw.CFAValOffsetSF}, n), k), ""
		case base != cfi.CFA && off == 0:
			from, numbered := c.arch.RegNumber(c.names.Name(base))
			if !numbered {
				return nil, whyRegister
			}
			if from == n {
				return binary.AppendUvarint([]byte{dw.CFASameValue}, n), ""
			}
			return binary.AppendUvarint(binary.AppendUvarint([]byte{dw.CFARegister}, n), from), ""
		}
	}
	return c.expression(n, e)
}

// factored divides an offset by the data alignment factor.
func (c *compiler) factored(off int64) (int64, bool) {
	size := int64(c.arch.PtrSize)
	return off / -size, off%size == 0
}

func savedAt(n uint64, k int64) []byte {
	switch {
	case k < 0:
		return bin.AppendSLEB(binary.AppendUvarint([]byte{dw.CFAOffsetExtendedSF}, n), k)
	case n < 64:
		return binary.AppendUvarint([]byte{dw.CFAOffset | byte(n)}, uint64(k))
	}
	return binary.AppendUvarint(binary.AppendUvarint([]byte{dw.CFAOffsetExtended}, n), uint64(k))
}

// expression returns the rule as operations.
func (c *compiler) expression(n uint64, e cfi.Expr) (code []byte, why string) {
	op := byte(dw.CFAValExpression)
	address, load := e.CutLoad()
	if load {
		op = dw.CFAExpression
	}
	c.expr.cfa = true
	ops, why := c.expr.translate(address)
	if why != "" {
		return nil, why
	}
	return append(binary.AppendUvarint(binary.AppendUvarint([]byte{op}, n), uint64(len(ops))), ops...), ""
}

// advance advances by delta bytes of code.
func (w *buffer) advance(delta uint64) {
	for ; delta > 1<<32-1; delta -= 1<<32 - 1 {
		w.u8(dw.CFAAdvanceLoc4)
		w.u32(1<<32 - 1)
	}
	switch {
	case delta == 0:
	case bits.Len64(delta) <= 6:
		w.u8(dw.CFAAdvanceLoc | byte(delta))
	case delta < 1<<8:
		w.u8(dw.CFAAdvanceLoc1, byte(delta))
	case delta < 1<<16:
		w.u8(dw.CFAAdvanceLoc2)
		w.u16(uint16(delta))
	default:
		w.u8(dw.CFAAdvanceLoc4)
		w.u32(uint32(delta))
	}
}
