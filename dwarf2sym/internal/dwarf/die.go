package dwarf

import (
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/dw"
)

// DIE is a debugging information entry with the attributes that the unit's Abbrevs take. Abbrevs.All must be
// set.
type DIE struct {
	Tag      uint16 // 0 ends a list of children
	Children bool
	Pos      int // in the unit's data
	Attrs    []Attr
	Misfit   Misfit // is not in Attrs

	decl *decl
	body int // where the attributes begin
}

// Attr is an attribute of a DIE.
type Attr struct {
	At, Form uint16
	Value
	pos, end int // of the value in the unit's data
}

// Head reads the tag of the DIE at pos. Over or Take must be called next, for its attributes.
func (u *Unit) Head(pos int, d *DIE) error {
	d.Pos, d.Attrs, d.Misfit = pos, d.Attrs[:0], Misfit{}
	code, body := uleb(u.data, pos)
	if body < 0 {
		return u.Errorf(pos, "unit ends within an abbreviation code")
	}
	d.body = body
	if code == 0 {
		d.Tag, d.Children, d.decl = 0, false, nil
		return nil
	}
	d.decl = u.Abbrevs.lookup(code)
	switch {
	case !d.decl.known:
		return u.Errorf(pos, "abbreviation is not declared at .debug_abbrev+%#x", u.Abbrevs.offset)
	case d.decl.bad:
		return u.badForm(pos, d.decl)
	case u.meter.Exhausted:
		return ErrExhausted
	}
	d.Tag, d.Children = d.decl.tag, d.decl.children
	return nil
}

// badForm returns the error for a DIE whose attributes cannot be skipped.
func (u *Unit) badForm(pos int, d *decl) error {
	if d.badForm == 0 {
		return u.Errorf(pos, "attribute that is 0, or has the form 0")
	}
	return u.Errorf(pos, "attribute with unknown form %#x", d.badForm)
}

// Has reports whether d, which Head has read, has the attribute at.
func (d *DIE) Has(at uint16) bool {
	if d.decl == nil {
		return false
	}
	for i := range d.decl.steps {
		if d.decl.steps[i].at == at {
			return true
		}
	}
	return false
}

// Over skips the attributes of d and returns the position after them.
func (u *Unit) Over(d *DIE) (next int, err error) {
	if d.decl == nil {
		return d.body, nil
	}
	if next = u.over(d.decl, d.body); next < 0 || next > len(u.data) {
		return 0, u.Errorf(d.Pos, "unit ends within a DIE")
	}
	return next, nil
}

// Take reads the attributes of d and returns the position after them.
func (u *Unit) Take(d *DIE) (next int, err error) {
	if d.decl == nil {
		return d.body, nil
	}
	pos := d.body
	u.decoded(d.decl, d.Pos)
	u.meter.Spend(uint64(len(d.decl.steps)))
	for i := range d.decl.steps {
		s := &d.decl.steps[i]
		if s.op != opTake {
			if pos = u.skip(s, pos); pos < 0 {
				return 0, u.Errorf(d.Pos, "unit ends within a DIE")
			}
			continue
		}
		a := Attr{At: s.at, Form: s.form, pos: pos}
		if a.Value, pos = u.taken(s, pos); pos < 0 {
			return 0, u.Errorf(d.Pos, "unit ends within a DIE")
		}
		if a.Kind == Unfit {
			d.Misfit = a.Value.Misfit()
			continue
		}
		if a.end = pos; a.Form == dw.FormIndirect {
			form, at := u.indirect(a.pos)
			a.Form, a.pos = uint16(form), at
		}
		d.Attrs = append(d.Attrs, a)
	}
	return pos, nil
}

// Sibling returns the position of d's next sibling if d refers to it and the reference is plausible,
// otherwise 0.
func (u *Unit) Sibling(d *DIE) int {
	if d.decl == nil || d.decl.sibForm == 0 {
		return 0
	}
	return max(0, u.sibling(d.decl, d.body))
}

// SkipTree skips the children of d, whose attributes end at pos.
func (u *Unit) SkipTree(d *DIE, pos int) (next int, err error) {
	if !d.Children {
		return pos, nil
	}
	if to := u.Sibling(d); to > 0 {
		return to, nil
	}
	var e DIE
	for depth := 1; depth > 0; {
		if pos >= len(u.data) {
			return pos, nil // some producers omit the closing zeros of the last DIEs
		}
		if err := u.Head(pos, &e); err != nil {
			return 0, err
		}
		if e.Tag == 0 {
			depth--
			pos = e.body
			continue
		}
		if pos, err = u.Over(&e); err != nil {
			return 0, err
		}
		if e.Children {
			if to := u.Sibling(&e); to > 0 {
				pos = to
			} else if depth++; depth > MaxDepth {
				return 0, u.Errorf(pos, "DIEs nested more than %d deep", MaxDepth)
			}
		}
	}
	return pos, nil
}

// Len returns the length of the unit's data in bytes.
func (u *Unit) Len() int { return len(u.data) }

// Children returns the position of the first child of the unit's own DIE.
func (u *Unit) Children() int { return u.children }

// Attr returns an attribute, or nil if the DIE does not have it.
func (d *DIE) Attr(at uint16) *Attr {
	for i := range d.Attrs {
		if d.Attrs[i].At == at {
			return &d.Attrs[i]
		}
	}
	return nil
}

// Value returns the value of an attribute, of kind None if the DIE does not have it.
func (d *DIE) Value(at uint16) Value {
	if a := d.Attr(at); a != nil {
		return a.Value
	}
	return Value{}
}

// Flag reports whether the DIE has the attribute with a value other than 0.
func (d *DIE) Flag(at uint16) bool {
	v := d.Value(at)
	return v.Kind == Const && v.U != 0
}

// Block returns the bytes of a block or an expression. It reports false for other attributes.
func (u *Unit) Block(a *Attr) ([]byte, bool) {
	n := 0
	switch a.Form {
	case dw.FormBlock1:
		n = 1
	case dw.FormBlock2:
		n = 2
	case dw.FormBlock4:
		n = 4
	case dw.FormBlock, dw.FormExprloc:
		_, at := uleb(u.data, a.pos)
		n = at - a.pos
	case dw.FormData16:
	default:
		return nil, false
	}
	return u.data[a.pos+n : a.end : a.end], true
}

// Bytes returns the encoded value of an attribute of fixed size.
func (u *Unit) Bytes(a *Attr) []byte { return u.data[a.pos:a.end:a.end] }

// Signed reports whether the form of a constant is signed.
func (a *Attr) Signed() bool { return a.Form == dw.FormSdata || a.Form == dw.FormImplicitConst }

// Address resolves a value of class address.
func (u *Unit) Address(v Value) (uint64, bool) { return u.address(v) }

// Addrx reads entry i of the unit's part of .debug_addr.
func (u *Unit) Addrx(i uint64) (uint64, bool) { return u.addrx(i) }

// Data returns the bytes of the unit.
func (u *Unit) Data() []byte { return u.data }

// IsBlock reports whether the attribute is a block or an expression.
func (a *Attr) IsBlock() bool {
	switch a.Form {
	case dw.FormBlock1, dw.FormBlock2, dw.FormBlock4, dw.FormBlock, dw.FormExprloc:
		return true
	}
	return false
}

// IsString reports whether the attribute is a string.
func (a *Attr) IsString() bool {
	switch a.Kind {
	case Strp, StrpSup, LineStrp, Strx, Inline:
		return true
	}
	return false
}

// Cursor returns a cursor over an expression of the unit.
func (u *Unit) Cursor(code []byte) bin.Cursor { return bin.New("", code, u.Order.byteOrder()) }

// RefOffset reads an operand that is an offset in .debug_info.
func (u *Unit) RefOffset(c *bin.Cursor) uint64 { return c.Uint(int(u.Sizes().refAddr)) }

// BigEndian reports whether the byte order is big-endian.
func (o Order) BigEndian() bool { return bool(o) }
