package facts

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// Rows tracks the STACK CFI records: the rules in force, and the parts of a block where
// they cannot be used. It is updated before rules see a record.
type Rows struct {
	Sets ruleSets

	Set   *RuleSet // rule set of the record
	Odd   Oddity   // what is wrong with the record
	Block int      // index of its INIT in Facts.Blocks
	At    symfmt.RVA

	Row      []setRule // rules in force, sorted by register
	broken   bool      // a record of the block does not parse: readers drop everything from there on
	useless  bool      // .cfa and .ra cannot both be computed
	since    symfmt.RVA
	reported Oddity // oddities found in the block, of the kinds reported once per block
	NoCFA    bool   // the block began without a rule for .cfa
	NoRA     bool
	holes    []hole
}

// Oddity is a set of things that are wrong with a record, each seen by one rule.
type Oddity uint8

const (
	OddOrphan    Oddity = 1 << iota // row before any INIT
	OddOutside                      // row outside its INIT
	OddBackwards                    // row at a lower address than the record before
	OddSame                         // row at the address of the row before
	OddNothing                      // row that changes nothing
	OddLostBase                     // .cfa depends on a callee-saved register without a rule
	OddScratch                      // .cfa depends on a register that calls do not preserve
)

// onceABlock are the oddities reported once per block.
const onceABlock = OddLostBase | OddScratch

// hole is a part of a block where .cfa or .ra cannot be computed.
type hole struct {
	block    int32
	RVA, end symfmt.RVA
}

// see updates the state for a record. An INIT is already the last element of f.Blocks.
func (c *Rows) see(f *Facts, r *symfmt.Record) {
	c.Odd, c.Set = 0, nil
	switch r.Kind {
	case symfmt.KindCFIInit:
		c.finish(f, f.Blocks.Len()-2)
		c.init(f, r)
	case symfmt.KindCFI:
		c.next(f, r)
	}
}

func (c *Rows) init(f *Facts, r *symfmt.Record) {
	c.Block, c.At, c.since = f.Blocks.Len()-1, r.RVA, r.RVA
	c.Sets.fresh(f.Arch)
	c.Set = c.Sets.of(r.Name)
	c.Row = c.Row[:0]
	c.reported, c.broken = 0, c.Set.Fault != nil
	c.apply()
	c.useless = c.broken || !c.usable()
	c.NoCFA, c.NoRA = InForce(c.Row, cfi.CFA) == nil, InForce(c.Row, cfi.RA) == nil
	c.judge()
}

func (c *Rows) next(f *Facts, r *symfmt.Record) {
	c.Sets.fresh(f.Arch)
	c.Set = c.Sets.of(r.Name)
	switch r.Owner {
	case symfmt.OwnerMissing:
		c.Odd = OddOrphan
		return
	case symfmt.OwnerLost: // the malformed INIT is reported
		return
	}
	b := f.Blocks.At(c.Block)
	switch {
	case r.RVA < b.RVA || uint64(r.RVA-b.RVA) >= b.Size:
		c.Odd = OddOutside
		return
	case r.RVA < c.At || b.Rows == 1 && r.RVA == c.At:
		c.Odd = OddBackwards
	case r.RVA == c.At:
		c.Odd = OddSame
	default:
		c.At = r.RVA
	}
	c.broken = c.broken || c.Set.Fault != nil
	if c.apply() == 0 && c.Set.Fault == nil {
		c.Odd |= OddNothing
	}
	c.note(!c.broken && c.usable())
	c.judge()
}

// note tracks holes. A row that is out of order counts from the highest address so far.
func (c *Rows) note(usable bool) {
	if usable != c.useless {
		return
	}
	if usable && c.At > c.since {
		c.holes = append(c.holes, hole{int32(c.Block), c.since, c.At})
	}
	c.useless, c.since = !usable, c.At
}

// finish ends a block.
func (c *Rows) finish(f *Facts, block int) {
	if block < 0 {
		return
	}
	if b := f.Blocks.At(block); c.useless && b.Size > 0 {
		c.holes = append(c.holes, hole{int32(block), c.since, b.RVA + symfmt.RVA(b.Size)})
	}
	c.useless = false
}

// maxRow is how many registers with a rule are tracked: no CPU has more. Rules for further
// registers count as new in each record.
const maxRow = 512

// apply puts the record's rules in force, and returns how many differ from the earlier ones.
func (c *Rows) apply() (changed int) {
	for _, rule := range c.Set.rules {
		i, found := slices.BinarySearchFunc(c.Row, rule.reg, func(r setRule, reg cfi.Reg) int { return int(r.reg) - int(reg) })
		switch {
		case !found && len(c.Row) >= maxRow && rule.reg >= 0:
			changed++
		case !found:
			c.Row = slices.Insert(c.Row, i, rule)
			changed++
		case c.Row[i].expr != rule.expr:
			c.Row[i] = rule
			changed++
		}
	}
	return changed
}

// usable reports whether a reader can compute .cfa and .ra from the rules in force, or the frame is
// the outermost one.
func (c *Rows) usable() bool {
	cfa, ra := InForce(c.Row, cfi.CFA), InForce(c.Row, cfi.RA)
	return cfa != nil && ra != nil && !cfa.fails && !cfa.undef && !ra.fails
}

// judge checks what the rule for .cfa depends on.
func (c *Rows) judge() {
	var odd Oddity
	if cfa := InForce(c.Row, cfi.CFA); cfa != nil {
		if cfa.Saved != cfi.NoReg && InForce(c.Row, cfa.Saved) == nil {
			odd |= OddLostBase
		}
		if cfa.Scratch != cfi.NoReg {
			odd |= OddScratch
		}
	}
	odd &^= c.reported
	c.reported |= odd & onceABlock
	c.Odd |= odd
}

// InForce returns the rule in force for a register.
func InForce(row []setRule, reg cfi.Reg) *setRule {
	for i := range row {
		if row[i].reg >= reg {
			if row[i].reg == reg {
				return &row[i]
			}
			break
		}
	}
	return nil
}
