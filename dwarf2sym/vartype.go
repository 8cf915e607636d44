package dwarf2sym

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/maphash"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// The members of structures are read once: where the first unit has them, and after all units, so
// that it does not matter which worker read which unit. Only those of split units, whose files are
// closed by then, are read with their units. Structures are taken for the same if they have the same
// name, size and place in the source; those without a name, or without a place, if they have the
// same members as well. Whether types are equal, with all that they refer to, is decided when all are known.

// typeAt returns the number of the type that an attribute of u refers to; void if there is none.
func (v *varReader) typeAt(u *fileUnit, ref dwarf.Value) vars.TypeID {
	if !ref.IsRef() {
		return 0
	}
	d, off, ok := v.w.locate(u, ref)
	if !ok {
		return 0
	}
	key := dieKey{d, off}
	if id, ok := v.typeOf[key]; ok {
		if id == typeOpen { // it refers to itself without a structure in between
			id = v.newType(vars.Type{})
			v.typeOf[key] = id
		}
		return id
	}
	if v.depth >= maxReferences {
		return 0
	}
	defer v.release(v.top)
	du, die, ok := v.dieAt(u, ref)
	if !ok {
		return 0
	}
	v.depth++
	v.typeOf[key] = typeOpen
	id := v.readType(du, die, key)
	v.depth--
	v.typeOf[key] = id
	return id
}

// typeOpen stands for a type that is being read.
const typeOpen = ^vars.TypeID(0)

func (v *varReader) newType(t vars.Type) vars.TypeID {
	v.meter.Spend(typeCost)
	v.types = append(v.types, t)
	return vars.TypeID(len(v.types) - 1)
}

const typeCost = 168

// readType reads the type at key, or puts it on the list of those to be read.
func (v *varReader) readType(u *fileUnit, die *dwarf.DIE, key dieKey) vars.TypeID {
	switch die.Tag {
	case dw.TagStructureType, dw.TagClassType, dw.TagInterfaceType, dw.TagUnionType, dw.TagEnumerationType:
		return v.aggregate(u, die, key)
	}
	t := vars.Type{Kind: typeKinds[die.Tag]}
	t.Size, t.HasSize = size(die)
	switch t.Kind {
	case vars.Void:
		return 0
	case vars.Base:
		t.Encoding = vars.Encoding(die.Value(dw.AtEncoding).U)
		switch die.Value(dw.AtEndianity).U {
		case 1:
			t.Order = vars.BigEndian
		case 2:
			t.Order = vars.LittleEndian
		}
		if n := die.Value(dw.AtBitSize); n.Kind == dwarf.Const {
			t.Extra = &vars.Extra{BitSize: n.U, BitOffset: die.Value(dw.AtDataBitOffset).U}
		}
	case vars.Pointer, vars.Reference, vars.RValueRef, vars.MemberPtr:
		if !t.HasSize {
			t.Size, t.HasSize = uint64(u.AddrSize), t.Kind != vars.MemberPtr
		}
	}
	t.Name = v.typeName(u, die, key)
	t.Elem = v.typeAt(u, die.Value(dw.AtType))
	switch t.Kind {
	case vars.MemberPtr:
		t.Class = v.typeAt(u, die.Value(dw.AtContainingType))
	case vars.Array, vars.Vector:
		if die.Flag(dw.AtGNUVector) {
			t.Kind = vars.Vector
		}
		v.array(u, die, &t)
	case vars.Subrange:
		t.Dims = []vars.Dim{v.dim(u, die)}
	case vars.String:
		v.stringType(u, die, &t)
	case vars.Function:
		v.params(u, die, &t)
	}
	if id := v.typeOf[key]; id != typeOpen { // others refer to it already
		v.types[id] = t
		return id
	}
	v.typeKey = appendType(v.typeKey[:0], &t)
	id, _ := v.intern(t)
	return id
}

// typeHash stands for the contents of a type: names of types are long.
type typeHash [2]uint64

// intern returns the number of a type whose contents are v.typeKey.
func (v *varReader) intern(t vars.Type) (vars.TypeID, typeHash) {
	key := typeHash{maphash.Bytes(v.seeds[0], v.typeKey), maphash.Bytes(v.seeds[1], v.typeKey)}
	if id, ok := v.typeIndex[key]; ok {
		return id, key
	}
	id := v.newType(t)
	v.typeIndex[key] = id
	return id, key
}

var typeKinds = map[uint16]vars.TypeKind{
	dw.TagBaseType: vars.Base, dw.TagPointerType: vars.Pointer, dw.TagReferenceType: vars.Reference,
	dw.TagRValueRef: vars.RValueRef, dw.TagPtrToMember: vars.MemberPtr, dw.TagArrayType: vars.Array,
	dw.TagSubroutineType: vars.Function, dw.TagTypedef: vars.Typedef, dw.TagTemplateAlias: vars.Typedef,
	dw.TagConstType: vars.Const, dw.TagImmutableType: vars.Const, dw.TagVolatileType: vars.Volatile, dw.TagRestrictType: vars.Restrict,
	dw.TagAtomicType: vars.Atomic, dw.TagSubrangeType: vars.Subrange, dw.TagStringType: vars.String,
	dw.TagUnspecifiedType: vars.Unspecified, dw.TagSubprogram: vars.Function,
	dw.TagStructureType: vars.Struct, dw.TagClassType: vars.Class, dw.TagInterfaceType: vars.Class,
	dw.TagUnionType: vars.Union, dw.TagEnumerationType: vars.Enum,
	dw.TagPackedType: vars.Const, dw.TagSharedType: vars.Const, dw.TagDynamicType: vars.Typedef, dw.TagSetType: vars.Unspecified,
}

// size returns DW_AT_byte_size, if it is a number.
func size(die *dwarf.DIE) (uint64, bool) {
	v := die.Value(dw.AtByteSize)
	return v.U, v.Kind == dwarf.Const
}

// typeName returns the name of a type after its namespaces, classes and functions.
func (v *varReader) typeName(u *fileUnit, die *dwarf.DIE, key dieKey) string {
	plain, ok := u.Text(die.Value(dw.AtName))
	if !ok || len(plain) == 0 {
		if next := die.Value(dw.AtSpecification); next.IsRef() && v.depth < maxReferences {
			if nu, nd, ok := v.dieAt(u, next); ok {
				if d, off, ok := v.w.locate(u, next); ok {
					v.depth++
					defer func() { v.depth-- }()
					return v.typeName(nu, nd, dieKey{d, off})
				}
			}
		}
		return ""
	}
	name := string(plain)
	v.meter.Spend(uint64(len(name)))
	if die.Tag == dw.TagBaseType || !u.scoped() {
		return name
	}
	if s := v.scopeName(u, key.off); s != "" {
		return s + name
	}
	return name
}

// scopeName returns "ns::Class::" of what is around the DIE at off.
func (v *varReader) scopeName(u *fileUnit, off uint64) string {
	w := v.w
	at := &w.u
	if u.d != w.u.d || u.Off != w.u.Off {
		f := w.openForeign(u.d, off)
		if f == nil {
			return ""
		}
		at = &f.fileUnit
	}
	v.nameBuf = w.appendScopes(v.nameBuf[:0], at, off)
	return string(v.nameBuf)
}

// aggregate returns the number of a structure, union or enumeration. Its members are read later.
func (v *varReader) aggregate(u *fileUnit, die *dwarf.DIE, key dieKey) vars.TypeID {
	if sig := die.Value(dw.AtSignature); sig.Kind == dwarf.RefSig {
		if id := v.typeAt(u, sig); id != 0 {
			return id
		}
	}
	t := vars.Type{Kind: typeKinds[die.Tag], Name: v.typeName(u, die, key)}
	t.Size, t.HasSize = size(die)
	t.Incomplete = die.Flag(dw.AtDeclaration)
	line := die.Value(dw.AtDeclLine)
	k := append(v.typeKey[:0], byte(t.Kind), btob(t.Incomplete), btob(t.HasSize))
	k = binary.AppendUvarint(k, t.Size)
	k = append(append(k, t.Name...), 0)
	if !t.Incomplete {
		k = binary.AppendUvarint(k, line.U)
		k = append(k, v.fileOf(u, die)...)
		if t.Name == "" || line.Kind == dwarf.None || bytes.Contains([]byte(t.Name), []byte("<lambda")) {
			k = v.shape(u, die, k)
		}
	}
	v.typeKey = k
	known := len(v.types)
	id, hash := v.intern(t)
	if int(id) == known && !t.Incomplete && v.fullTypes {
		v.unread = append(v.unread, unreadType{key, id, hash})
	}
	return id
}

func btob(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// fileOf returns the path of the file that declares a DIE, "" if it is unknown.
func (v *varReader) fileOf(u *fileUnit, die *dwarf.DIE) string {
	file := die.Value(dw.AtDeclFile)
	if file.Kind != dwarf.Const {
		return ""
	}
	w := v.w
	if u.d != w.u.d || u.Off != w.u.Off || w.skeleton != nil {
		return fmt.Sprintf("\x00%d", file.U) // of another unit, whose files are unknown: the number has to do
	}
	w.needLines()
	return w.files.At(w.fileID(file.U))
}

// shape appends the names and offsets of the members and the names of their types: types may have
// the same name and place but differ in these.
func (v *varReader) shape(u *fileUnit, die *dwarf.DIE, k []byte) []byte {
	v.children(u, die, func(c *dwarf.DIE) {
		switch c.Tag {
		case dw.TagMember, dw.TagInheritance, dw.TagEnumerator, dw.TagVariantPart:
		default:
			return
		}
		name, _ := u.Text(c.Value(dw.AtName))
		k = append(append(k, byte(c.Tag)), name...)
		k = binary.AppendUvarint(k, c.Value(dw.AtDataMemberLocation).U)
		k = binary.AppendUvarint(k, c.Value(dw.AtConstValue).U)
		ref := c.Value(dw.AtType)
		for range 4 { // through pointers
			tu, t, ok := v.dieAt(u, ref)
			if !ok {
				break
			}
			name, _ := tu.Text(t.Value(dw.AtName))
			n, _ := size(t)
			k = append(append(binary.AppendUvarint(append(k, byte(t.Tag)), n), name...), 0)
			if ref = t.Value(dw.AtType); tu != u || len(name) > 0 {
				break
			}
		}
	})
	v.meter.Spend(uint64(len(k)))
	return k
}

// unreadType is a structure whose members are not read yet.
type unreadType struct {
	key  dieKey
	id   vars.TypeID
	hash typeHash
}

// readMembers reads the members of all structures that were met, and of those that they lead to.
func (v *varReader) readMembers() {
	for len(v.unread) > 0 && !v.meter.Exhausted {
		next := v.unread[len(v.unread)-1]
		v.unread = v.unread[:len(v.unread)-1]
		v.release(0)
		u, die, ok := v.dieIn(next.key.d, next.key.off)
		if !ok {
			continue
		}
		t := v.types[next.id]
		if t.Kind == vars.Enum {
			v.enumerators(u, die, &t)
		} else {
			t.Members, t.Variants = v.members(u, die)
		}
		v.types[next.id] = t
	}
	v.unread = v.unread[:0]
}

func (v *varReader) enumerators(u *fileUnit, die *dwarf.DIE, t *vars.Type) {
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
		// An enumerator of fixed width that is negative in a type of that size has no sign.
		if n := len(u.Bytes(a)); !a.Signed() && t.HasSize && n == int(t.Size) && n < 8 && v.signed(t.Elem) {
			shift := 64 - 8*n
			value = value << shift >> shift
		}
		t.Enumerators = append(t.Enumerators, vars.Enumerator{Name: u.Str(c.Value(dw.AtName)), Value: value})
	})
}

// signed reports whether a type is a signed integer.
func (v *varReader) signed(id vars.TypeID) bool {
	for range maxReferences {
		switch t := &v.types[id]; t.Kind {
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

// members reads those of a structure or of a variant.
func (v *varReader) members(u *fileUnit, die *dwarf.DIE) (members []vars.Member, parts []vars.VariantPart) {
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

// member reads a member or base class; static ones are none.
func (v *varReader) member(u *fileUnit, die *dwarf.DIE) (m vars.Member, ok bool) {
	if die.Flag(dw.AtExternal) || die.Flag(dw.AtDeclaration) || die.Attr(dw.AtConstValue) != nil && die.Attr(dw.AtDataMemberLocation) == nil {
		return m, false
	}
	m = vars.Member{Name: u.Str(die.Value(dw.AtName)), Type: v.typeAt(u, die.Value(dw.AtType)),
		Base: die.Tag == dw.TagInheritance, Artificial: die.Flag(dw.AtArtificial)}
	v.meter.Spend(uint64(len(m.Name)) + memberCost)
	if a := die.Attr(dw.AtDataMemberLocation); a != nil {
		if code, ok := u.Block(a); ok {
			id := v.expr(u, code)
			// As compilers wrote offsets before DWARF 4.
			if ops := v.exprs[id].Ops(); len(ops) == 1 && ops[0].Code == vars.OpPlusConst {
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

// bitField fills in the place of a bit field.
func (v *varReader) bitField(u *fileUnit, die *dwarf.DIE, m *vars.Member, bits uint64) {
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

// sizeOf returns the size of a type through typedefs and qualifiers.
func (v *varReader) sizeOf(id vars.TypeID) uint64 {
	for range maxReferences {
		t := &v.types[id]
		if t.HasSize || id == 0 {
			return t.Size
		}
		id = t.Elem
	}
	return 0
}

// variantPart reads what depends on a discriminant (DWARF 5, 5.7.10).
func (v *varReader) variantPart(u *fileUnit, die *dwarf.DIE) (p vars.VariantPart) {
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

// discrValue extends a discriminant by its sign.
func discrValue(n, size uint64, signed bool) uint64 {
	if signed && size > 0 && size < 8 {
		shift := 64 - 8*size
		return uint64(int64(n<<shift) >> shift)
	}
	return n
}

// discrList reads a DW_AT_discr_list.
func discrList(u *fileUnit, list []byte, signed bool) (ranges []vars.DiscrRange) {
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

// array reads the dimensions of an array, and what its descriptor says.
func (v *varReader) array(u *fileUnit, die *dwarf.DIE, t *vars.Type) {
	v.children(u, die, func(c *dwarf.DIE) {
		switch c.Tag {
		case dw.TagSubrangeType, dw.TagGenericSubrange:
			t.Dims = append(t.Dims, v.dim(u, c))
		case dw.TagEnumerationType:
			var e vars.Type
			v.enumerators(u, c, &e)
			t.Dims = append(t.Dims, vars.Dim{Count: vars.Bound{Kind: vars.ConstBound, Value: int64(len(e.Enumerators))}})
		}
	})
	x := vars.Extra{Data: v.exprOf(u, die, dw.AtDataLocation), Allocated: v.exprOf(u, die, dw.AtAllocated),
		Associated: v.exprOf(u, die, dw.AtAssociated), Stride: v.bound(u, die, dw.AtByteStride)}
	if x != (vars.Extra{}) {
		t.Extra = &x
	}
}

func (v *varReader) dim(u *fileUnit, die *dwarf.DIE) vars.Dim {
	d := vars.Dim{Lower: v.bound(u, die, dw.AtLowerBound), Upper: v.bound(u, die, dw.AtUpperBound),
		Count: v.bound(u, die, dw.AtCount), Step: v.bound(u, die, dw.AtByteStride)}
	if d.Lower.Kind == vars.NoBound && lowerBoundOf(u.Lang) != 0 {
		d.Lower = vars.Bound{Kind: vars.ConstBound, Value: lowerBoundOf(u.Lang)}
	}
	return d
}

// lowerBoundOf returns the first index of arrays in a language (DWARF 5, table 7.17).
func lowerBoundOf(lang uint64) int64 {
	switch lang {
	case 0x03, 0x0d, 0x05, 0x06, 0x07, 0x08, 0x0e, 0x22, 0x23, 0x09, 0x0a, 0x0f, 0x17, 0x1f:
		return 1 // Ada, Cobol, Fortran, Pascal, Modula, PL/I, Julia
	}
	return 0
}

// bound reads a number that a type depends on.
func (v *varReader) bound(u *fileUnit, die *dwarf.DIE, at uint16) vars.Bound {
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
			n = -1 // of an array without elements: the width is the form's
		}
		return vars.Bound{Kind: vars.ConstBound, Value: n}
	}
	if a.IsRef() {
		d, off, ok := v.w.locate(u, a.Value)
		if !ok || d != u.d {
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

// exprOf returns the expression of an attribute; 0 without one.
func (v *varReader) exprOf(u *fileUnit, die *dwarf.DIE, at uint16) vars.ExprID {
	if a := die.Attr(at); a != nil {
		if code, ok := u.Block(a); ok {
			return v.expr(u, code)
		}
	}
	return 0
}

// stringType reads the length of a string.
func (v *varReader) stringType(u *fileUnit, die *dwarf.DIE, t *vars.Type) {
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
		// The expression is where the length is.
		if x.Length.Kind == vars.ExprBound && a.IsBlock() {
			ops := v.exprs[x.Length.Expr].Ops()
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
func (v *varReader) params(u *fileUnit, die *dwarf.DIE, t *vars.Type) {
	var refs []dwarf.Value
	v.children(u, die, func(c *dwarf.DIE) {
		if c.Tag == dw.TagFormalParameter {
			refs = append(refs, c.Value(dw.AtType))
		}
	})
	for _, ref := range refs {
		t.Params = append(t.Params, v.typeAt(u, ref))
	}
}

// appendType appends the contents of a type that is not a structure.
func appendType(k []byte, t *vars.Type) []byte {
	k = append(k, 0x80|byte(t.Kind), byte(t.Encoding), byte(t.Order), btob(t.HasSize))
	k = binary.AppendUvarint(k, t.Size)
	k = binary.AppendUvarint(k, uint64(t.Elem))
	k = binary.AppendUvarint(k, uint64(t.Class))
	for _, p := range t.Params {
		k = binary.AppendUvarint(k, uint64(p)+1)
	}
	k = append(k, 0)
	bound := func(b vars.Bound) {
		k = binary.AppendVarint(append(k, byte(b.Kind)), b.Value)
		k = binary.AppendUvarint(k, uint64(b.Expr))
	}
	for i := range t.Dims {
		d := &t.Dims[i]
		k = append(k, 1)
		bound(d.Lower)
		bound(d.Upper)
		bound(d.Count)
		bound(d.Step)
	}
	k = append(k, 0)
	if x := t.Extra; x != nil {
		k = binary.AppendUvarint(k, x.BitSize)
		k = binary.AppendUvarint(k, x.BitOffset)
		k = binary.AppendUvarint(k, uint64(x.Data))
		k = binary.AppendUvarint(k, uint64(x.Allocated))
		k = binary.AppendUvarint(k, uint64(x.Associated))
		bound(x.Stride)
		bound(x.Length)
	}
	return append(k, t.Name...)
}
