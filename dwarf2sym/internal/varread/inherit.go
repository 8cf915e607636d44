package varread

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// abstractVar is a variable in a DIE that scopes are instances of.
type abstractVar struct {
	number uint32      // in packed functions
	whole  vars.ExprID // the location of a static variable or the value of a constant; otherwise 0
}

// inherited adds the variables of a scope that are missing from its DIE, d, but not from the DIE that d is an instance
// of: compilers leave out variables that have no location in an instance, and gcc describes static variables once, not
// in each instance. Variables inside blocks are not added: the instance has its own blocks, and gcc's copies of blocks
// have no values.
func (v *Reader) inherited(d *dwarf.DIE, scope int32) {
	ref := d.Value(dw.AtAbstractOrigin)
	if !ref.IsRef() {
		return
	}
	od, off, ok := v.placeOf(&v.main, ref)
	if !ok {
		return
	}
	key := dieKey{od, off}
	n, met := v.abstractOf.get(key)
	if !met {
		n = uint32(len(v.abstractEnds))
		v.addAbstract(key)
		v.abstractEnds = append(v.abstractEnds, len(v.abstract))
		v.abstractOf.put(key, n)
	}
	all := v.abstract[:v.abstractEnds[n]]
	if n > 0 {
		all = all[v.abstractEnds[n-1]:]
	}
	v.marks++
	for number := range v.fn.Numbers(scope) {
		v.mark(number)
	}
	for _, a := range all {
		if !v.mark(a.number) && v.Meter.Spend(locationCost) {
			v.addVariable(scope, a.number, a.whole)
		}
	}
}

// mark notes that the scope being marked has a variable. It reports whether that was already noted.
func (v *Reader) mark(number uint32) (known bool) {
	if n := int(number) + 1; n > len(v.marked) {
		v.marked = append(v.marked, make([]uint64, n-len(v.marked))...)
	}
	known = v.marked[number] == v.marks
	v.marked[number] = v.marks
	return known
}

// addAbstract appends the variables in the DIE at key to v.abstract.
func (v *Reader) addAbstract(key dieKey) {
	defer v.release(v.top)
	u, die, ok := v.dieIn(key.d, key.off)
	if !ok {
		return
	}
	v.children(u, die, func(c *dwarf.DIE) {
		isParam := c.Tag == dw.TagFormalParameter
		if !isParam && (c.Tag != dw.TagVariable || !v.Locals) || c.Flag(dw.AtDeclaration) || !v.Meter.Spend(locationCost) {
			return
		}
		number := v.number(dieKey{u.D, u.Off + uint64(c.Pos)})
		if u == &v.main {
			v.describe(number, c)
		}
		v.abstract = append(v.abstract, abstractVar{number, v.wholeLocation(u, c)})
	})
}
