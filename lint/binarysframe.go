package lint

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/symsframe"
)

func checkSFrame(p *Pass) (func(*symfmt.Record), func()) {
	return atEnd(p, func() {
		section, err := symsframe.Open(p.binary.File)
		if errors.Is(err, symsframe.ErrNone) {
			return
		}
		p.binary.problem(".sframe", err)
		rows := p.binary.ready()
		if err != nil || len(section.Headers) == 0 || rows.cpu == nil || symsframe.CPU(section.Headers[0].ABI) != rows.cpu {
			return
		}
		for _, problem := range section.Problems {
			p.binary.problem(".sframe", problem.Err)
		}
		c := sframeCheck{p, section, rows}
		for i := range rows.blocks {
			c.block(&rows.blocks[i])
		}
	})
}

type sframeCheck struct {
	p       *Pass
	section *sframe.Section
	rows    *stackRows
}

// block compares the rows of a block, at their own addresses and at those of .sframe's rows, and
// reports the first difference.
func (c *sframeCheck) block(b *rowBlock) {
	for i := b.first; i < b.end; i++ {
		if c.at(b, c.rows.rows[i].rva) {
			return
		}
	}
	fde := c.section.FindFDE(c.p.binary.addr(b.rva))
	if fde < 0 || c.section.FDEs[fde].Mask {
		return
	}
	start := c.section.FDEs[fde].Start
	for rows := c.section.Rows(fde); rows.Next(); {
		rva := c.p.binary.rva(start + uint64(rows.Row.Start))
		if uint64(rva-b.rva) < b.size && c.at(b, rva) {
			return
		}
	}
}

// at compares at an address; true for a difference.
func (c *sframeCheck) at(b *rowBlock, rva symfmt.RVA) bool {
	_, want, err := c.section.Find(c.p.binary.addr(rva))
	row := c.rows.row(b, rva)
	if err != nil || row == nil {
		return false
	}
	for i, rule := range [...]sframe.Rule{want.CFA, want.RA, want.FP} {
		have := c.rows.places[row.rules[i]]
		if have.kind == placeOther || c.same(i, have, rule) {
			continue
		}
		c.p.ReportAt(int(row.line), rva, "at 0x%x %s is %s, in .sframe %s", uint64(rva), [...]string{".cfa", ".ra", "the frame pointer"}[i],
			c.say(have), c.say(c.place(rule)))
		return true
	}
	return false
}

// same compares a rule of .cfa, .ra or the frame pointer (which: 0, 1, 2).
func (c *sframeCheck) same(which int, have place, rule sframe.Rule) bool {
	want := c.place(rule)
	if want.kind == placeOther || have == want {
		return true
	}
	// An outermost frame has only that it is one, and before version 3 not even
	// that.
	if have.kind == placeUndef || which == 0 && want.kind == placeNone {
		return true
	}
	none := func(p place) bool {
		return p.kind == placeNone || p.kind == placeSum && p.off == 0 && p.base == c.own(which)
	}
	if none(have) && none(want) {
		return true
	}
	// .sframe says no more than that about an outermost frame.
	return want.kind == placeUndef && which != 1
}

// own returns the register that holds a value which no rule has moved.
func (c *sframeCheck) own(which int) cfi.Reg {
	switch which {
	case 1:
		return c.rows.names.Lookup(c.rows.cpu.RA)
	case 2:
		return c.rows.regs[2]
	}
	return cfi.NoReg
}

// place is a rule of .sframe.
func (c *sframeCheck) place(r sframe.Rule) place {
	p := place{base: cfi.CFA, off: r.Offset}
	switch r.Kind {
	case sframe.Same:
		return place{}
	case sframe.Undefined:
		return place{kind: placeUndef}
	case sframe.Value:
		p.kind = placeSum
	default:
		p.kind = placeLoad
	}
	if r.Reg != sframe.CFA {
		p.base = c.register(uint64(r.Reg))
		if p.base == cfi.NoReg {
			return place{kind: placeOther}
		}
	}
	return p
}

// register is the one with a DWARF number.
func (c *sframeCheck) register(number uint64) cfi.Reg {
	for i := range c.rows.cpu.Regs {
		if c.rows.cpu.Regs[i].DWARF == number && number != arch.NoDWARF {
			return cfi.Reg(i)
		}
	}
	return cfi.NoReg
}

func (c *sframeCheck) say(p place) string {
	switch p.kind {
	case placeNone:
		return "not changed"
	case placeUndef:
		return "undefined"
	case placeSum:
		return fmt.Sprintf("%s %+d", c.rows.names.Name(p.base), p.off)
	}
	return fmt.Sprintf("at %s %+d", c.rows.names.Name(p.base), p.off)
}
