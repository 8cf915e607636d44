package varread

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// scope reads the contents of a scope, from pos on.
func (v *Reader) scope(pos int, scope int32) (next int, err error) {
	u, f := &v.main, &v.fn
	if f.Level(scope) > dwarf.MaxDepth {
		return 0, u.Errorf(pos, "scopes nested more than %d deep", dwarf.MaxDepth)
	}
	defer v.release(v.top)
	d := v.die()
	for pos < u.Len() {
		if err := u.Head(pos, d); err != nil {
			return 0, err
		}
		switch d.Tag {
		case 0:
			return u.Over(d)
		case dw.TagFormalParameter, dw.TagVariable:
			if pos, err = u.Take(d); err != nil {
				return 0, err
			}
			v.check(u, d)
			if d.Tag == dw.TagFormalParameter || v.Locals {
				v.variable(d, scope)
			}
			pos, err = u.SkipTree(d, pos)
		case dw.TagInlinedSubroutine, dw.TagLexicalBlock, dw.TagTryBlock, dw.TagCatchBlock, dw.TagWithStmt:
			if pos, err = u.Take(d); err != nil {
				return 0, err
			}
			if d.Children {
				inner := v.openScope(d, scope)
				if pos, err = v.scope(pos, inner); inner != scope {
					v.inherited(d, inner)
				}
			}
		case dw.TagGNUFormalParamPack:
			if pos, err = u.Over(d); err == nil && d.Children {
				pos, err = v.scope(pos, scope)
			}
		case dw.TagCallSite, dw.TagGNUCallSite:
			pos, err = v.callSite(d)
		default: // functions inside it are left to the host
			if pos, err = u.Over(d); err == nil {
				pos, err = u.SkipTree(d, pos)
			}
		}
		if err != nil {
			return 0, err
		}
	}
	return pos, nil
}

// openScope opens the scope for a DIE and returns its number. A block without code counts as part of the scope
// around it.
func (v *Reader) openScope(d *dwarf.DIE, around int32) int32 {
	low, ranges := d.Value(dw.AtLowPC), d.Value(dw.AtRanges)
	kind := vars.BlockScope
	if d.Tag == dw.TagInlinedSubroutine {
		kind = vars.InlineScope
	} else if low.Kind == dwarf.None && ranges.Kind == dwarf.None {
		return around
	}
	return v.fn.Open(kind, around, func(to []dwarf.Span) []dwarf.Span {
		from := len(to)
		to, _ = v.main.Spans(low, d.Value(dw.AtHighPC), ranges, to)
		return to[:from+len(dwarf.Tidy(to[from:]))]
	})
}

// locationCost is the memory that a location takes until its function ends: variables may share a list.
const locationCost = 24

// variable reads a variable or parameter of a scope.
func (v *Reader) variable(d *dwarf.DIE, scope int32) {
	u := &v.main
	if d.Flag(dw.AtDeclaration) {
		return
	}
	number := v.numberOf(u, d)
	var whole vars.ExprID
	switch loc := d.Attr(dw.AtLocation); {
	case loc == nil:
		if c := d.Attr(dw.AtConstValue); c != nil {
			whole = v.constValue(u, c)
		} else {
			whole = v.abstractLocation(d)
		}
	case loc.IsBlock():
		code, _ := u.Block(loc)
		whole = v.expr(u, code)
	case loc.IsList():
		if err := v.locate(loc); err != nil && !v.Meter.Exhausted {
			v.host.Problem(u.Off+uint64(d.Pos), fmt.Sprintf("the location of the variable at %#x", u.Off+uint64(d.Pos)), err)
		}
	}
	v.addVariable(scope, number, whole)
}

// addVariable adds a variable of a scope to the function, with its location in the whole scope or the list that was
// added before.
func (v *Reader) addVariable(scope int32, number uint32, whole vars.ExprID) {
	if v.fn.Variable(scope, number, whole) {
		v.vars[number].located = true
	}
}

// locate adds the location list of the function's next variable.
func (v *Reader) locate(list *dwarf.Attr) error {
	u := &v.main
	return u.Locations(list, func(lo, hi uint64, code []byte) {
		if id := v.expr(u, code); id != 0 && v.Meter.Spend(locationCost) {
			v.fn.Locate(lo, hi, id)
		}
	})
}

// number returns the number, in packed functions, of the variable declared at key.
func (v *Reader) number(key dieKey) uint32 {
	number, ok := v.varOf.get(key)
	if !ok {
		number = uint32(len(v.vars))
		v.vars = append(v.vars, declaration{key: key})
		v.varOf.put(key, number)
	}
	return number
}

// numberOf returns the number, in packed functions, of the variable that d is an instance of.
func (v *Reader) numberOf(u *units.Unit, d *dwarf.DIE) uint32 {
	ref := d.Value(dw.AtAbstractOrigin)
	if ref.Kind == dwarf.Ref { // nearly always an earlier variable of this unit
		if number, ok := v.varOf.get(dieKey{u.D, ref.U}); ok {
			return number
		}
	}
	defer v.release(v.top)
	key, origin := v.originOf(u, d)
	number := v.number(key)
	v.describe(number, origin)
	return number
}

// originOf returns the place of the DIE that a variable is an instance of, and that DIE if it was read and is in the
// current unit, otherwise nil.
func (v *Reader) originOf(u *units.Unit, d *dwarf.DIE) (key dieKey, origin *dwarf.DIE) {
	key, origin = dieKey{u.D, u.Off + uint64(d.Pos)}, d
	if u != &v.main {
		origin = nil
	}
	ref := d.Value(dw.AtAbstractOrigin)
	for hops := 0; ref.IsRef() && hops < units.MaxChain; hops++ {
		od, off, ok := v.placeOf(u, ref)
		if !ok {
			break
		}
		key, origin = dieKey{od, off}, nil
		if _, known := v.varOf.get(key); known {
			break
		}
		ou, die, ok := v.dieIn(od, off)
		if !ok {
			break
		}
		if u, ref = ou, die.Value(dw.AtAbstractOrigin); u == &v.main {
			origin = die
		}
		if hops == units.MaxChain-1 && ref.IsRef() {
			v.badReference(od, off, "references in a circle, or more than %d of them", units.MaxChain)
		}
	}
	return key, origin
}

// abstractLocation returns the location from the DIE that a variable is an instance of: static variables and
// constants are described only there.
func (v *Reader) abstractLocation(d *dwarf.DIE) vars.ExprID {
	defer v.release(v.top)
	ref := d.Value(dw.AtAbstractOrigin)
	if !ref.IsRef() {
		return 0
	}
	u, o, ok := v.dieAt(&v.main, ref)
	if !ok {
		return 0
	}
	return v.wholeLocation(u, o)
}

// wholeLocation returns the location that a variable has everywhere or the value of a constant, or 0 if there is
// neither.
func (v *Reader) wholeLocation(u *units.Unit, d *dwarf.DIE) vars.ExprID {
	if c := d.Attr(dw.AtConstValue); c != nil {
		return v.constValue(u, c)
	}
	if loc := d.Attr(dw.AtLocation); loc != nil {
		if code, ok := u.Block(loc); ok {
			return v.expr(u, code)
		}
	}
	return 0
}
