package varread

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
)

// inherited adds the static variables that only the DIE has which the DIE of a scope is an instance of: gcc describes
// them once, not in each instance.
func (v *Reader) inherited(d *dwarf.DIE, scope int32) {
	ref := d.Value(dw.AtAbstractOrigin)
	if !v.Locals || !ref.IsRef() {
		return
	}
	od, off, ok := v.opener.Locate(&v.main, ref)
	if !ok {
		return
	}
	all, met := v.statics[dieKey{od, off}]
	if !met {
		all = v.staticsOf(dieKey{od, off})
		v.statics[dieKey{od, off}] = all
	}
	for _, key := range all {
		if number := v.number(key); !v.fn.Has(scope, number) {
			if u, die, ok := v.dieIn(key.d, key.off); ok {
				code, _ := u.Block(die.Attr(dw.AtLocation))
				v.fn.Variable(scope, number, v.expr(u, code))
			}
		}
	}
}

// staticsOf returns the variables in a DIE that have an address.
func (v *Reader) staticsOf(key dieKey) (all []dieKey) {
	defer v.release(v.top)
	u, die, ok := v.dieIn(key.d, key.off)
	if !ok {
		return nil
	}
	v.children(u, die, func(c *dwarf.DIE) {
		a := c.Attr(dw.AtLocation)
		if c.Tag != dw.TagVariable || a == nil || !a.IsBlock() || c.Flag(dw.AtDeclaration) || !v.Meter.Spend(locationCost) {
			return
		}
		if code, _ := u.Block(a); len(code) > 0 && (code[0] == dw.OpAddr || code[0] == dw.OpAddrx || code[0] == dw.OpGNUAddrIndex) {
			all = append(all, dieKey{u.D, u.Off + uint64(c.Pos)})
		}
	})
	return all
}
