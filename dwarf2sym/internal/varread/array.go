package varread

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// array reads the dimensions of an array, and the attributes that refer to its descriptor.
func (v *Reader) array(u *units.Unit, die *dwarf.DIE, t *vars.Type) {
	v.children(u, die, func(c *dwarf.DIE) {
		switch c.Tag {
		case dw.TagSubrangeType, dw.TagGenericSubrange:
			dim := v.dim(u, c)
			t.AddParts().Dims = append(t.Dims(), dim)
		case dw.TagEnumerationType:
			var e vars.Type
			v.enumerators(u, c, &e)
			t.AddParts().Dims = append(t.Dims(), vars.Dim{Count: vars.Bound{Kind: vars.ConstBound, Value: int64(len(e.Enumerators()))}})
		}
	})
	x := vars.Extra{Data: v.exprOf(u, die, dw.AtDataLocation), Allocated: v.exprOf(u, die, dw.AtAllocated),
		Associated: v.exprOf(u, die, dw.AtAssociated), Stride: v.bound(u, die, dw.AtByteStride)}
	if x != (vars.Extra{}) {
		t.Extra = &x
	}
}

func (v *Reader) dim(u *units.Unit, die *dwarf.DIE) vars.Dim {
	d := vars.Dim{Lower: v.bound(u, die, dw.AtLowerBound), Upper: v.bound(u, die, dw.AtUpperBound),
		Count: v.bound(u, die, dw.AtCount), Step: v.bound(u, die, dw.AtByteStride)}
	if d.Lower.Kind == vars.NoBound && lowerBoundOf(u.Lang) != 0 {
		d.Lower = vars.Bound{Kind: vars.ConstBound, Value: lowerBoundOf(u.Lang)}
	}
	return d
}

// lowerBoundOf returns the first index of an array in a language (DWARF 5, table 7.17).
func lowerBoundOf(lang uint64) int64 {
	switch lang {
	case 0x03, 0x0d, 0x05, 0x06, 0x07, 0x08, 0x0e, 0x22, 0x23, 0x09, 0x0a, 0x0f, 0x17, 0x1f:
		return 1 // Ada, Cobol, Fortran, Pascal, Modula, PL/I, Julia
	}
	return 0
}

// bound reads a number that a type depends on.
func (v *Reader) bound(u *units.Unit, die *dwarf.DIE, at uint16) vars.Bound {
	a := die.Attr(at)
	if a == nil {
		return vars.Bound{}
	}
	if code, ok := u.Block(a); ok {
		if id := v.expr(u, code); id != 0 {
			return vars.Bound{Kind: vars.ExprBound, Expr: id}
		}
		return vars.Bound{}
	}
	if a.Kind == dwarf.Const {
		n := int64(a.U)
		if size := len(u.Bytes(a)); !a.Signed() && size <= 8 && at == dw.AtUpperBound && size > 0 && n == 1<<(8*size-1)<<1-1 && size >= 4 {
			n = -1 // the upper bound of an empty array, whose width is that of the form
		}
		return vars.Bound{Kind: vars.ConstBound, Value: n}
	}
	if a.IsRef() {
		d, off, ok := v.placeOf(u, a.Value)
		if !ok || d != u.D {
			return vars.Bound{}
		}
		label, expr := v.reference(u, off)
		if expr != 0 {
			return vars.Bound{Kind: vars.ExprBound, Expr: expr}
		}
		return vars.Bound{Kind: vars.ExprBound, Expr: v.addExpr([]vars.Op{{Code: vars.OpVariableValue, Label: label}})}
	}
	return vars.Bound{}
}

// exprOf returns the expression of an attribute, or 0.
func (v *Reader) exprOf(u *units.Unit, die *dwarf.DIE, at uint16) vars.ExprID {
	if a := die.Attr(at); a != nil {
		if code, ok := u.Block(a); ok {
			return v.expr(u, code)
		}
	}
	return 0
}

// stringType reads the length of a string.
func (v *Reader) stringType(u *units.Unit, die *dwarf.DIE, t *vars.Type) {
	x := vars.Extra{Data: v.exprOf(u, die, dw.AtDataLocation)}
	if a := die.Attr(dw.AtStringLength); a != nil {
		n, sized := size(die)
		if b := die.Value(dw.AtStringLengthByteSize); b.Kind == dwarf.Const {
			n, sized = b.U, true
		}
		if !sized || n == 0 || n > 8 {
			n = uint64(u.AddrSize)
		}
		x.Length = v.bound(u, die, dw.AtStringLength)
		// The expression gives the address of the length.
		if x.Length.Kind == vars.ExprBound && a.IsBlock() {
			ops := v.Expr(x.Length.Expr).Ops()
			if last := ops[len(ops)-1].Code; last != vars.OpCall && last != vars.OpUnsupported {
				x.Length.Expr = v.addExpr(append(ops, vars.Op{Code: vars.OpDeref, U: n}))
			} else if last == vars.OpCall {
				ops[len(ops)-1].Code = vars.OpVariableValue
				x.Length.Expr = v.addExpr(ops)
			}
		}
		t.HasSize = false
	}
	if x != (vars.Extra{}) {
		t.Extra = &x
	}
}

// params reads the parameters of a function type.
func (v *Reader) params(u *units.Unit, die *dwarf.DIE, t *vars.Type) {
	var refs []dwarf.Value
	v.children(u, die, func(c *dwarf.DIE) {
		if c.Tag == dw.TagFormalParameter {
			refs = append(refs, c.Value(dw.AtType))
		}
	})
	for _, ref := range refs {
		param := v.typeAt(u, ref)
		t.AddParts().Params = append(t.Params(), param)
	}
}
