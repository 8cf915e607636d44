package varread

import (
	"bytes"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// callSite reads a call with its arguments.
func (v *Reader) callSite(d *dwarf.DIE) (next int, err error) {
	u, f := &v.main, &v.fn
	pos, err := u.Take(d)
	if err != nil {
		return 0, err
	}
	gnu := d.Tag == dw.TagGNUCallSite
	ret, origin := d.Value(dw.AtCallReturnPC), d.Value(dw.AtCallOrigin)
	tail := d.Flag(dw.AtCallTailCall)
	if gnu {
		ret, origin, tail = d.Value(dw.AtLowPC), d.Value(dw.AtAbstractOrigin), d.Flag(dw.AtGNUTailCall)
	}
	s := varjoin.Site{Tail: tail}
	var ok bool
	if s.Return, ok = u.Address(ret); !ok && tail {
		// clang gives the address of the jump. The instruction after it is not executed.
		if s.Return, ok = u.Address(d.Value(dw.AtCallPC)); ok {
			s.Return++
		}
	}
	at := d.Attr(dw.AtCallTarget)
	if gnu {
		at = d.Attr(dw.AtGNUCallSiteTarget)
	}
	if at != nil && !origin.IsRef() {
		if code, ok := u.Block(at); ok {
			s.TargetAt = v.expr(u, code)
		}
	}
	end, err := u.SkipTree(d, pos)
	if err != nil || !ok {
		return end, err
	}
	v.arguments(d, pos)
	if f.Keeps(&s) {
		s.Target = v.callee(origin)
		if word, ok := v.Imports[s.Target]; ok {
			s.TargetAt = v.addExpr([]vars.Op{{Code: vars.OpAddr, U: uint64(v.module.RVA(word))}, {Code: vars.OpDeref, U: uint64(u.AddrSize)}})
		}
		f.Site(s)
	}
	return end, nil
}

// arguments reads the arguments of a call.
func (v *Reader) arguments(d *dwarf.DIE, pos int) {
	u := &v.main
	if !d.Children {
		return
	}
	v.childrenAt(u, pos, func(c *dwarf.DIE) {
		if c.Tag != dw.TagCallSiteParameter && c.Tag != dw.TagGNUCallSiteParam {
			return
		}
		loc, value := c.Attr(dw.AtLocation), c.Attr(dw.AtCallValue)
		if value == nil {
			value = c.Attr(dw.AtGNUCallSiteValue)
		}
		if value == nil {
			return
		}
		what, _ := u.Block(value)
		p := vars.SiteParam{Value: v.expr(u, what)}
		if loc != nil {
			where, _ := u.Block(loc)
			p.Location = v.expr(u, where)
		} else if param, ok := v.parameter(u, removedParam(c)); ok {
			p.Location = v.addExpr([]vars.Op{param})
		}
		if p.Location != 0 && p.Value != 0 {
			v.fn.Param(p)
		}
	})
}

// removedParam returns the reference to a parameter that gcc removed from the called function. Locations in that
// function use DW_OP_GNU_parameter_ref to get its value.
func removedParam(c *dwarf.DIE) dwarf.Value {
	if ref := c.Value(dw.AtCallParameter); ref.IsRef() {
		return ref
	}
	return c.Value(dw.AtAbstractOrigin)
}

// parameter returns the operation for a parameter that has no location. Its name identifies it within a
// function.
func (v *Reader) parameter(u *units.Unit, ref dwarf.Value) (op vars.Op, ok bool) {
	defer v.release(v.top)
	u, d, ok := v.dieAt(u, ref)
	if !ok {
		return op, false
	}
	for u, d := range v.chain(u, d) {
		if name, ok := u.Text(d.Value(dw.AtName)); ok && len(name) > 0 {
			return vars.Op{Code: vars.OpParam, Data: bytes.Clone(name)}, v.Meter.Spend(uint64(len(name)))
		}
	}
	return op, false
}
