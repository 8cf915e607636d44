package varread

import (
	"strings"
	"unsafe"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/symfmt/vars"
)

// typeAt returns the number of the type that an attribute of u refers to, or void if the reference is
// missing.
func (v *Reader) typeAt(u *units.Unit, ref dwarf.Value) vars.TypeID {
	if !ref.IsRef() {
		return 0
	}
	d, off, ok := v.placeOf(u, ref)
	if !ok {
		return 0
	}
	key, types := dieKey{d, off}, v.types()
	id, ok := v.typeOf.get(key)
	if !ok && v.nameOnly {
		id, ok = types.get(key)
	}
	if ok {
		if id == typeOpen { // the type refers to itself without a structure in between
			id = uint32(v.newType(vars.Type{}))
			types.put(key, id)
		}
		return vars.TypeID(id)
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
	types.put(key, typeOpen)
	read := v.readType(du, die, key)
	v.depth--
	types.put(key, uint32(read))
	v.checkCircle(key, read)
	if at := die.Value(dw.AtGoRuntimeType); v.linked == nil && at.U != 0 && (at.Kind == dwarf.Const || at.Kind == dwarf.Addr) {
		if v.AddRuntimeType(at.U, read) {
			v.Meter.Spend(runtimeTypeCost)
		}
	}
	return read
}

// types returns the numbers of types for the current mode, nameOnly or not.
func (v *Reader) types() *dieNumbers {
	if v.nameOnly {
		return &v.namedOf
	}
	return &v.typeOf
}

// runtimeTypeCost is the memory charged for a type's descriptor at run time.
const runtimeTypeCost = 32

// typeOpen stands for a type that is being read.
const typeOpen = ^uint32(0)

func (v *Reader) newType(t vars.Type) vars.TypeID {
	v.Meter.Spend(typeCost)
	return v.NewType(t)
}

const typeCost = 168

// readType reads the type at key, or adds it to the list of types to be read.
func (v *Reader) readType(u *units.Unit, die *dwarf.DIE, key dieKey) vars.TypeID {
	switch die.Tag {
	case dw.TagStructureType, dw.TagClassType, dw.TagInterfaceType, dw.TagUnionType, dw.TagEnumerationType:
		return v.aggregate(u, die, key)
	}
	t := vars.Type{Kind: typeKinds[die.Tag]}
	t.Size, t.HasSize = size(die)
	switch t.Kind {
	case vars.Void:
		if noType(die.Tag) {
			v.badReference(key.d, key.off, "a DIE with tag %#x is no type, though others refer to it as one", die.Tag)
		}
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
		t.AddParts().Dims = []vars.Dim{v.dim(u, die)}
	case vars.String:
		v.stringType(u, die, &t)
	case vars.Function:
		v.params(u, die, &t)
	}
	t.Name = v.typeName(u, die, key)
	if id, _ := v.types().get(key); id != typeOpen { // other types already refer to it
		t.Name = strings.Clone(t.Name)
		*v.Type(vars.TypeID(id)) = t
		return vars.TypeID(id)
	}
	id, isNew := v.AddType(t)
	if isNew {
		v.Meter.Spend(typeCost)
	}
	return id
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

// size returns DW_AT_byte_size if it is a constant.
func size(die *dwarf.DIE) (uint64, bool) {
	if v := die.Value(dw.AtByteSize); v.Kind == dwarf.Const {
		return v.U, true
	}
	return 0, false
}

// typeName returns the name of a type, qualified by its namespaces, classes and functions. It is valid until
// the next call.
func (v *Reader) typeName(u *units.Unit, die *dwarf.DIE, key dieKey) string {
	if next := die.Value(dw.AtSpecification); next.IsRef() && v.depth < maxReferences { // the declaration is in the type's scope
		if nu, nd, ok := v.dieAt(u, next); ok {
			if d, off, ok := v.placeOf(u, next); ok && v.fitting(dieKey{d, off}, !noType(nd.Tag), "a type") {
				v.depth++
				defer func() { v.depth-- }()
				if name := v.typeName(nu, nd, dieKey{d, off}); name != "" {
					return name
				}
			}
		}
	}
	plain, ok := u.Text(die.Value(dw.AtName))
	if !ok || len(plain) == 0 {
		return ""
	}
	v.Meter.Spend(uint64(len(plain)))
	v.nameBuf = v.nameBuf[:0]
	if die.Tag != dw.TagBaseType && u.Scoped() {
		v.nameBuf = v.host.Scopes(v.nameBuf, u, key.off)
	}
	v.nameBuf = append(v.nameBuf, plain...)
	return unsafe.String(unsafe.SliceData(v.nameBuf), len(v.nameBuf))
}
