package varread

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/dw"
)

// die returns a DIE to read into. It belongs to the caller until release is called with the previous top.
func (v *Reader) die() *dwarf.DIE {
	if v.top == len(v.dies) {
		v.dies = append(v.dies, &dwarf.DIE{})
	}
	v.top++
	return v.dies[v.top-1]
}

// release releases the DIEs from top on.
func (v *Reader) release(top int) { v.top = top }

// dieAt reads the DIE that u refers to. The DIE is valid until release, its unit until the end of a batch.
func (v *Reader) dieAt(u *units.Unit, ref dwarf.Value) (*units.Unit, *dwarf.DIE, bool) {
	if !ref.IsRef() {
		return nil, nil, false
	}
	d, off, ok := v.placeOf(u, ref)
	if !ok {
		return nil, nil, false
	}
	return v.dieIn(d, off)
}

// dieIn reads the DIE at an offset of d that another DIE refers to.
func (v *Reader) dieIn(d *units.Data, off uint64) (*units.Unit, *dwarf.DIE, bool) {
	u := v.opener.Unit(d, off)
	if u != nil && !v.begins(u, off) {
		v.badReference(d, off, "no DIE begins here, though others refer to it")
		return nil, nil, false
	}
	if u != nil {
		die := v.die()
		if u.Head(int(off-u.Off), die) == nil && die.Tag != 0 {
			if _, err := u.Take(die); err == nil {
				v.check(u, die)
				return u, die, true
			}
		}
	}
	v.badReference(d, off, "no DIE can be read here, though others refer to it")
	return nil, nil, false
}

// begins reports whether a DIE begins at off, or may begin there as far as is known.
func (v *Reader) begins(u *units.Unit, off uint64) bool {
	if u.Starts == nil {
		u.Starts = &dwarf.Starts{}
		if u == &v.main {
			u.Starts = &v.starts
		}
		u.Starts.Reset(u.Len())
	}
	return u.Begins(int(off - u.Off))
}

// check reports an attribute of d whose form is of a wrong class.
func (v *Reader) check(u *units.Unit, d *dwarf.DIE) {
	if d.Misfit.Is() && u.D == v.main.D {
		off := u.Off + uint64(d.Pos)
		v.host.Problem(off, fmt.Sprintf("%s of the DIE at %#x", d.Misfit.Name(), off), u.MisfitError(d.Pos, d.Misfit))
	}
}

// children calls fn with each child of a DIE.
func (v *Reader) children(u *units.Unit, d *dwarf.DIE, fn func(c *dwarf.DIE)) {
	if !d.Children {
		return
	}
	if pos, err := u.Over(d); err == nil {
		v.childrenAt(u, pos, fn)
	}
}

// childrenAt calls fn with each DIE from pos to the end of the list of siblings.
func (v *Reader) childrenAt(u *units.Unit, pos int, fn func(c *dwarf.DIE)) {
	defer v.release(v.top)
	c := v.die()
	top := v.top
	for pos < u.Len() {
		v.release(top)
		if u.Head(pos, c) != nil || c.Tag == 0 {
			return
		}
		next, err := u.Take(c)
		if err != nil {
			return
		}
		v.check(u, c)
		fn(c)
		if next, err = u.SkipTree(c, next); err != nil {
			return
		}
		pos = next
	}
}

// nameID returns the number of the name of a DIE, without its scopes.
func (v *Reader) nameID(u *units.Unit, die *dwarf.DIE) varjoin.NameID {
	name := die.Value(dw.AtName)
	if name.Kind != dwarf.Strp || v.skeleton != nil { // every other half has its own section
		text, _ := u.Text(name)
		v.Meter.Spend(uint64(len(text)))
		return v.AddName(text)
	}
	key := dieKey{u.D, name.U}
	id, ok := v.nameAt.get(key) // units share most of their names
	if !ok {
		text, _ := u.Text(name)
		id = uint32(v.AddName(text))
		v.nameAt.put(key, id)
	}
	v.Meter.Spend(uint64(len(v.Name(varjoin.NameID(id)))))
	return varjoin.NameID(id)
}
