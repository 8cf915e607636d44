package lint

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// cfiFacts track the STACK CFI records: the rules in force, and the parts of a block where they
// cannot be used. They are updated before rules see a record.
type cfiFacts struct {
	sets ruleSets

	set   *ruleSet // of the record
	odd   oddity   // what is wrong with the record
	block int      // its INIT in Facts.Blocks
	at    symfmt.RVA

	row      []setRule // in force, ordered by register
	broken   bool      // a record of the block does not parse: readers drop all from here on
	useless  bool      // .cfa and .ra cannot both be computed
	since    symfmt.RVA
	reported oddity // what was found in the block, of the kinds that are reported once
	noCFA    bool   // the block began without
	noRA     bool
	holes    []hole

	compared bool // clashes were reported
}

// oddity is a set of things that are wrong with a record, each seen by one rule.
type oddity uint8

const (
	oddOrphan    oddity = 1 << iota // row before any INIT
	oddOutside                      // row outside of its INIT
	oddBackwards                    // row at a lower address than the record before
	oddSame                         // row at the address of the row before
	oddNothing                      // row that changes nothing
	oddLostBase                     // .cfa by a callee-saved register that has no rule
	oddScratch                      // .cfa by a register that calls do not keep
)

// onceABlock are found once in a block.
const onceABlock = oddLostBase | oddScratch

// hole is a part of a block in which .cfa or .ra cannot be computed.
type hole struct {
	block    int32
	rva, end symfmt.RVA
}

// see takes in a record. An INIT is already the last of f.Blocks.
func (c *cfiFacts) see(f *Facts, r *symfmt.Record) {
	c.odd, c.set = 0, nil
	switch r.Kind {
	case symfmt.KindCFIInit:
		c.finish(f, f.Blocks.Len()-2)
		c.init(f, r)
	case symfmt.KindCFI:
		c.next(f, r)
	}
}

func (c *cfiFacts) init(f *Facts, r *symfmt.Record) {
	c.block, c.at, c.since = f.Blocks.Len()-1, r.RVA, r.RVA
	c.sets.fresh(f.Arch)
	c.set = c.sets.of(r.Name)
	c.row = c.row[:0]
	c.reported, c.broken = 0, c.set.fault != nil
	c.apply()
	c.useless = c.broken || !c.usable()
	c.noCFA, c.noRA = inForce(c.row, cfi.CFA) == nil, inForce(c.row, cfi.RA) == nil
	c.judge()
}

func (c *cfiFacts) next(f *Facts, r *symfmt.Record) {
	c.sets.fresh(f.Arch)
	c.set = c.sets.of(r.Name)
	switch r.Owner {
	case symfmt.OwnerMissing:
		c.odd = oddOrphan
		return
	case symfmt.OwnerLost: // which is reported
		return
	}
	b := f.Blocks.At(c.block)
	switch {
	case r.RVA < b.RVA || uint64(r.RVA-b.RVA) >= b.Size:
		c.odd = oddOutside
		return
	case r.RVA < c.at || b.Rows == 1 && r.RVA == c.at:
		c.odd = oddBackwards
	case r.RVA == c.at:
		c.odd = oddSame
	default:
		c.at = r.RVA
	}
	c.broken = c.broken || c.set.fault != nil
	if c.apply() == 0 && c.set.fault == nil {
		c.odd |= oddNothing
	}
	c.note(!c.broken && c.usable())
	c.judge()
}

// note tracks holes. A row that is out of order counts from the highest address so far.
func (c *cfiFacts) note(usable bool) {
	if usable != c.useless {
		return
	}
	if usable && c.at > c.since {
		c.holes = append(c.holes, hole{int32(c.block), c.since, c.at})
	}
	c.useless, c.since = !usable, c.at
}

// finish ends a block.
func (c *cfiFacts) finish(f *Facts, block int) {
	if block < 0 {
		return
	}
	if b := f.Blocks.At(block); c.useless && b.Size > 0 {
		c.holes = append(c.holes, hole{int32(block), c.since, b.RVA + symfmt.RVA(b.Size)})
	}
	c.useless = false
}

// maxRow is how many registers with a rule are followed: no CPU has more. Rules of
// others count as new in each record.
const maxRow = 512

// apply puts the record's rules in force, and returns how many differ from those before.
func (c *cfiFacts) apply() (changed int) {
	for _, rule := range c.set.rules {
		i, found := slices.BinarySearchFunc(c.row, rule.reg, func(r setRule, reg cfi.Reg) int { return int(r.reg) - int(reg) })
		switch {
		case !found && len(c.row) >= maxRow && rule.reg >= 0:
			changed++
		case !found:
			c.row = slices.Insert(c.row, i, rule)
			changed++
		case c.row[i].expr != rule.expr:
			c.row[i] = rule
			changed++
		}
	}
	return changed
}

// usable reports whether a reader gets .cfa and .ra from the rules in force, or the frame is the
// outermost one.
func (c *cfiFacts) usable() bool {
	cfa, ra := inForce(c.row, cfi.CFA), inForce(c.row, cfi.RA)
	return cfa != nil && ra != nil && !cfa.fails && !cfa.undef && !ra.fails
}

// judge checks what the rule for .cfa depends on.
func (c *cfiFacts) judge() {
	var odd oddity
	if cfa := inForce(c.row, cfi.CFA); cfa != nil {
		if cfa.saved != cfi.NoReg && inForce(c.row, cfa.saved) == nil {
			odd |= oddLostBase
		}
		if cfa.scratch != cfi.NoReg {
			odd |= oddScratch
		}
	}
	odd &^= c.reported
	c.reported |= odd & onceABlock
	c.odd |= odd
}

// inForce returns the rule of a register in force.
func inForce(row []setRule, reg cfi.Reg) *setRule {
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
