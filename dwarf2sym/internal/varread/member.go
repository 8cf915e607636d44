package varread

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// enumerators reads the enumerators of an enumeration.
func (v *Reader) enumerators(u *units.Unit, die *dwarf.DIE, t *vars.Type) {
	t.Elem = v.typeAt(u, die.Value(dw.AtType))
	v.children(u, die, func(c *dwarf.DIE) {
		if c.Tag != dw.TagEnumerator {
			return
		}
		a := c.Attr(dw.AtConstValue)
		if a == nil || a.Kind != dwarf.Const {
			return
		}
		value := int64(a.U)
		// A negative enumerator is written without a sign if its form has the fixed width of the type.
		if n := len(u.Bytes(a)); !a.Signed() && t.HasSize && n == int(t.Size) && n < 8 && v.signed(t.Elem) {
			shift := 64 - 8*n
			value = value << shift >> shift
		}
		t.AddParts().Enumerators = append(t.Enumerators(), vars.Enumerator{Name: v.nameOf(u, c), Value: value})
	})
}

// signed reports whether a type is a signed integer.
func (v *Reader) signed(id vars.TypeID) bool {
	for range maxReferences {
		switch t := v.Type(id); t.Kind {
		case vars.Base:
			return t.Encoding == vars.Signed || t.Encoding == vars.SignedChar
		case vars.Typedef, vars.Const:
			id = t.Elem
		default:
			return false
		}
	}
	return false
}

// members reads the members of a structure or of a variant.
func (v *Reader) members(u *units.Unit, die *dwarf.DIE) (members []vars.Member, parts []vars.VariantPart) {
	v.children(u, die, func(c *dwarf.DIE) {
		switch c.Tag {
		case dw.TagMember, dw.TagInheritance:
			if m, ok := v.member(u, c); ok {
				members = append(members, m)
			}
		case dw.TagVariantPart:
			if v.depth++; v.depth < maxReferences {
				parts = append(parts, v.variantPart(u, c))
			}
			v.depth--
		}
	})
	return members, parts
}

// member reads a member or base class; ok is false for a static member.
func (v *Reader) member(u *units.Unit, die *dwarf.DIE) (m vars.Member, ok bool) {
	if die.Flag(dw.AtExternal) || die.Flag(dw.AtDeclaration) || die.Attr(dw.AtConstValue) != nil && die.Attr(dw.AtDataMemberLocation) == nil {
		return m, false
	}
	m = vars.Member{Name: v.nameOf(u, die), Type: v.typeAt(u, die.Value(dw.AtType)),
		Base: die.Tag == dw.TagInheritance, Artificial: die.Flag(dw.AtArtificial)}
	v.Meter.Spend(memberCost)
	if a := die.Attr(dw.AtDataMemberLocation); a != nil {
		if code, ok := u.Block(a); ok {
			id := v.expr(u, code)
			// Before DWARF 4, compilers wrote offsets in this form.
			if ops := v.Expr(id).Ops(); len(ops) == 1 && ops[0].Code == vars.OpPlusConst {
				m.Offset = ops[0].U
			} else {
				m.At = id
			}
		} else if a.Kind == dwarf.Const {
			m.Offset = a.U
		}
	}
	if n := die.Value(dw.AtBitSize); n.Kind == dwarf.Const {
		v.bitField(u, die, &m, n.U)
	}
	return m, true
}

const memberCost = 40

// nameOf returns the name of a DIE without its scopes.
func (v *Reader) nameOf(u *units.Unit, die *dwarf.DIE) string { return v.Name(v.nameID(u, die)) }

// bitField sets the position of a bit field.
func (v *Reader) bitField(u *units.Unit, die *dwarf.DIE, m *vars.Member, bits uint64) {
	m.BitSize = uint32(min(bits, 1<<31))
	if off := die.Value(dw.AtDataBitOffset); off.Kind == dwarf.Const {
		m.Offset += off.U / 8
		m.BitOffset = uint8(off.U % 8)
		return
	}
	off := die.Value(dw.AtBitOffset)
	if off.Kind != dwarf.Const {
		return
	}
	// DWARF 3, 5.5.4: from the most significant bit of the storage unit.
	from := off.U
	if !u.Order.BigEndian() {
		storage, ok := size(die)
		if !ok {
			storage = v.sizeOf(m.Type)
		}
		from = 8*storage - off.U - bits
	}
	if int64(from) < 0 {
		m.Offset -= (-from + 7) / 8
		from = -(-from % 8) & 7
	}
	m.Offset += from / 8
	m.BitOffset = uint8(from % 8)
}

// sizeOf returns the size of a type, looking through typedefs and qualifiers.
func (v *Reader) sizeOf(id vars.TypeID) uint64 {
	for range maxReferences {
		t := v.Type(id)
		if t.HasSize || id == 0 {
			return t.Size
		}
		id = t.Elem
	}
	return 0
}

// variantPart reads the variants that depend on a discriminant (DWARF 5, 5.7.10).
func (v *Reader) variantPart(u *units.Unit, die *dwarf.DIE) (p vars.VariantPart) {
	if ref := die.Value(dw.AtDiscr); ref.IsRef() {
		if du, d, ok := v.dieAt(u, ref); ok {
			p.Discr, _ = v.member(du, d)
		}
	}
	signed := v.signed(p.Discr.Type)
	size := v.sizeOf(p.Discr.Type)
	v.children(u, die, func(c *dwarf.DIE) {
		if c.Tag != dw.TagVariant {
			return
		}
		var variant vars.Variant
		if a := c.Attr(dw.AtDiscrValue); a != nil && a.Kind == dwarf.Const {
			n := discrValue(a.U, size, signed)
			variant.Ranges = append(variant.Ranges, vars.DiscrRange{Low: n, High: n})
		}
		if a := c.Attr(dw.AtDiscrList); a != nil {
			if list, ok := u.Block(a); ok {
				variant.Ranges = append(variant.Ranges, discrList(u, list, signed)...)
			}
		}
		variant.Members, _ = v.members(u, c)
		p.Variants = append(p.Variants, variant)
	})
	return p
}

// discrValue sign-extends a discriminant if it is signed.
func discrValue(n, size uint64, signed bool) uint64 {
	if signed && size > 0 && size < 8 {
		shift := 64 - 8*size
		return uint64(int64(n<<shift) >> shift)
	}
	return n
}

// discrList reads a DW_AT_discr_list.
func discrList(u *units.Unit, list []byte, signed bool) (ranges []vars.DiscrRange) {
	c := u.Cursor(list)
	number := func() uint64 {
		if signed {
			return uint64(c.SLEB())
		}
		return c.ULEB()
	}
	for c.Len() > 0 && c.Err() == nil {
		var r vars.DiscrRange
		kind := c.U8()
		r.Low = number()
		if r.High = r.Low; kind == 1 {
			r.High = number()
		}
		if c.Err() == nil {
			ranges = append(ranges, r)
		}
	}
	return ranges
}
