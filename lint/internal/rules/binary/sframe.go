package binary

import (
	"errors"
	"fmt"

	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/follow"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/symsframe"
)

func checkSFrame(p *check.Pass, b *check.Image) {
	section, err := symsframe.Open(b.File)
	if errors.Is(err, symsframe.ErrNone) {
		return
	}
	b.Problem(".sframe", err)
	rows := b.Rows()
	if err != nil || len(section.Headers) == 0 || rows.CPU == nil || symsframe.CPU(section.Headers[0].ABI) != rows.CPU {
		return
	}
	for _, problem := range section.Problems {
		b.Problem(".sframe", problem.Err)
	}
	c := sframeCheck{p, b, section, rows}
	for i := range rows.Blocks {
		c.block(&rows.Blocks[i])
	}
}

type sframeCheck struct {
	p       *check.Pass
	image   *check.Image
	section *sframe.Section
	rows    *follow.Table
}

// block compares the rules at the addresses of a block's rows and of .sframe's rows in it, and
// reports the first difference.
func (c *sframeCheck) block(b *follow.Block) {
	for _, row := range c.rows.RowsOf(b) {
		if c.at(b, row.RVA) {
			return
		}
	}
	fde := c.section.FindFDE(c.image.Addr(b.RVA))
	if fde < 0 || c.section.FDEs[fde].Mask {
		return
	}
	start := c.section.FDEs[fde].Start
	for rows := c.section.Rows(fde); rows.Next(); {
		rva := c.image.RVA(start + uint64(rows.Row.Start))
		if uint64(rva-b.RVA) < b.Size && c.at(b, rva) {
			return
		}
	}
}

// at compares the rules at an address, and reports whether they differ.
func (c *sframeCheck) at(b *follow.Block, rva symfmt.RVA) bool {
	_, want, err := c.section.Find(c.image.Addr(rva))
	row := c.rows.Row(b, rva)
	if err != nil || row == nil {
		return false
	}
	for i, rule := range [...]sframe.Rule{want.CFA, want.RA, want.FP} {
		have := c.rows.Place(row, i)
		if have.Kind == follow.PlaceOther || c.same(i, have, rule) {
			continue
		}
		c.p.ReportAt(int(row.Line), rva, "at 0x%x %s is %s, in .sframe %s", uint64(rva), [...]string{".cfa", ".ra", "the frame pointer"}[i],
			c.say(have), c.say(c.place(rule)))
		return true
	}
	return false
}

// same reports whether two rules for .cfa, .ra or the frame pointer (which: 0, 1, 2) agree.
func (c *sframeCheck) same(which int, have follow.Place, rule sframe.Rule) bool {
	want := c.place(rule)
	if want.Kind == follow.PlaceOther || have == want {
		return true
	}
	// .sframe only marks an outermost frame as such, and before version 3 it does not do even that.
	if have.Kind == follow.PlaceUndef || which == 0 && want.Kind == follow.PlaceNone {
		return true
	}
	none := func(p follow.Place) bool {
		return p.Kind == follow.PlaceNone || p.Kind == follow.PlaceSum && p.Off == 0 && p.Base == c.own(which)
	}
	if none(have) && none(want) {
		return true
	}
	// .sframe says nothing else about an outermost frame.
	return want.Kind == follow.PlaceUndef && which != 1
}

// own returns the register that holds a value before any rule moves it.
func (c *sframeCheck) own(which int) cfi.Reg {
	switch which {
	case 1:
		return c.rows.Names.Lookup(c.rows.CPU.RA)
	case 2:
		return c.rows.FramePointer()
	}
	return cfi.NoReg
}

// place returns the place that a rule of .sframe computes.
func (c *sframeCheck) place(r sframe.Rule) follow.Place {
	p := follow.Place{Base: cfi.CFA, Off: r.Offset}
	switch r.Kind {
	case sframe.Same:
		return follow.Place{}
	case sframe.Undefined:
		return follow.Place{Kind: follow.PlaceUndef}
	case sframe.Value:
		p.Kind = follow.PlaceSum
	default:
		p.Kind = follow.PlaceLoad
	}
	if r.Reg != sframe.CFA {
		p.Base = c.register(uint64(r.Reg))
		if p.Base == cfi.NoReg {
			return follow.Place{Kind: follow.PlaceOther}
		}
	}
	return p
}

// register returns the register with a DWARF number.
func (c *sframeCheck) register(number uint64) cfi.Reg {
	for i := range c.rows.CPU.Regs {
		if c.rows.CPU.Regs[i].DWARF == number && number != arch.NoDWARF {
			return cfi.Reg(i)
		}
	}
	return cfi.NoReg
}

func (c *sframeCheck) say(p follow.Place) string {
	switch p.Kind {
	case follow.PlaceNone:
		return "not changed"
	case follow.PlaceUndef:
		return "undefined"
	case follow.PlaceSum:
		return fmt.Sprintf("%s %+d", c.rows.Names.Name(p.Base), p.Off)
	}
	return fmt.Sprintf("at %s %+d", c.rows.Names.Name(p.Base), p.Off)
}
