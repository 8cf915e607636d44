package vars

import (
	"reflect"
	"slices"
	"strings"
)

// TypeKind is the kind of a type.
type TypeKind uint8

// The kinds of types. Elem is the type from which a type is made.
const (
	Void        TypeKind = iota // also an unknown type
	Base                        // Name, Size, Encoding
	Pointer                     // to Elem; Size
	Reference                   // to Elem
	RValueRef                   // to Elem
	MemberPtr                   // to a member, of type Elem, of Class
	Array                       // of Elem: Dims
	Vector                      // of Elem, in a register: Dims
	Struct                      // Members, Variants
	Class                       // likewise
	Union                       // likewise
	Enum                        // of Elem: Enumerators
	Function                    // returns Elem: Params
	Typedef                     // of Elem
	Const                       // of Elem
	Volatile                    // of Elem
	Restrict                    // of Elem
	Atomic                      // of Elem
	Subrange                    // of Elem: Dims has one
	String                      // of characters, with a length: Fortran's, Ada's
	Unspecified                 // named, without contents, such as std::nullptr_t
)

// Encoding says how the bytes of a base type are interpreted.
type Encoding uint8

// The encodings (DWARF 5, 7.8).
const (
	NoEncoding   Encoding = 0x00
	Address      Encoding = 0x01
	Boolean      Encoding = 0x02
	ComplexFloat Encoding = 0x03
	Float        Encoding = 0x04
	Signed       Encoding = 0x05
	SignedChar   Encoding = 0x06
	Unsigned     Encoding = 0x07
	UnsignedChar Encoding = 0x08
	Imaginary    Encoding = 0x09
	PackedDec    Encoding = 0x0a
	NumericStr   Encoding = 0x0b
	Edited       Encoding = 0x0c
	SignedFixed  Encoding = 0x0d
	UnsignFixed  Encoding = 0x0e
	DecimalFloat Encoding = 0x0f
	UTF          Encoding = 0x10 // a Unicode character: char32_t, Rust's char
	UCS          Encoding = 0x11
	ASCII        Encoding = 0x12
	ComplexInt   Encoding = 0x80 // of GCC and clang
)

// Order is the byte order of a base type.
type Order uint8

// The orders.
const (
	CPUOrder Order = iota
	BigEndian
	LittleEndian
)

// Type is a type. Its kind determines which fields are used.
type Type struct {
	Kind       TypeKind
	Encoding   Encoding // Base
	Order      Order    // Base
	HasSize    bool     // otherwise the size is Elem's, depends on Dims, or is unknown
	Incomplete bool     // its members are unknown: it is only declared, or no value leads to it

	Elem  TypeID
	Class TypeID // MemberPtr

	// Name is the name in the source, with namespaces and classes: ns::Class<int>. Types derived
	// from others (pointers, arrays, qualifiers) usually have none.
	Name string
	Size uint64 // in bytes

	Members []Member
	Parts   *Parts // nil if the type has none
	Extra   *Extra // properties that few types have, or nil
}

// Parts holds the lists that only some kinds of types have.
type Parts struct {
	Variants    []VariantPart // Struct
	Enumerators []Enumerator  // Enum
	Params      []TypeID      // Func
	Dims        []Dim         // Array, Subrange
}

// Variants returns the type's variant parts.
func (t *Type) Variants() []VariantPart {
	if t.Parts == nil {
		return nil
	}
	return t.Parts.Variants
}

// Enumerators returns the type's enumerators.
func (t *Type) Enumerators() []Enumerator {
	if t.Parts == nil {
		return nil
	}
	return t.Parts.Enumerators
}

// Params returns the types of the function's parameters.
func (t *Type) Params() []TypeID {
	if t.Parts == nil {
		return nil
	}
	return t.Parts.Params
}

// Dims returns the array's dimensions, or the bounds of the range.
func (t *Type) Dims() []Dim {
	if t.Parts == nil {
		return nil
	}
	return t.Parts.Dims
}

// AddParts returns the type's Parts, adding them if there are none.
func (t *Type) AddParts() *Parts {
	if t.Parts == nil {
		t.Parts = &Parts{}
	}
	return t.Parts
}

// Extra holds properties that few types have.
type Extra struct {
	BitSize   uint64 // Base: number of bits used, if fewer than Size has
	BitOffset uint64 // Base: offset of the lowest of these from the least significant bit

	// Expressions of arrays and strings with a descriptor (Fortran), otherwise 0. The address of the
	// variable is pushed first, and is OpObjectAt.
	Data       ExprID // the address of the data
	Allocated  ExprID // computes 0 if it is not allocated
	Associated ExprID // computes 0 if the pointer points nowhere
	Stride     Bound  // Array: distance between elements in bytes, if it is not the size of Elem
	Length     Bound  // String: length in bytes
}

// Member is a member of a structure, class or union, or one of its bases.
type Member struct {
	Name       string
	Type       TypeID
	At         ExprID // used instead of Offset: computes the address from the structure's, which is on the stack
	Offset     uint64 // in bytes, from the start of the structure
	BitSize    uint32 // of a bit field; otherwise 0
	BitOffset  uint8  // of a bit field: from Offset, counted as by DW_AT_data_bit_offset
	Base       bool   // a base class
	Artificial bool   // made by the compiler, such as the pointer to a virtual table
}

// equal reports whether t and o have the same contents.
func (t *Type) equal(o *Type) bool {
	x, y := *t, *o
	x.Members, x.Parts, x.Extra = nil, nil, nil
	y.Members, y.Parts, y.Extra = nil, nil, nil
	sameVariants := func(a, b Variant) bool {
		return slices.Equal(a.Ranges, b.Ranges) && slices.Equal(a.Members, b.Members)
	}
	return reflect.DeepEqual(x, y) && slices.Equal(t.Members, o.Members) && slices.Equal(t.Enumerators(), o.Enumerators()) &&
		slices.Equal(t.Params(), o.Params()) && slices.Equal(t.Dims(), o.Dims()) && (t.Extra == nil) == (o.Extra == nil) &&
		(t.Extra == nil || *t.Extra == *o.Extra) &&
		slices.EqualFunc(t.Variants(), o.Variants(), func(a, b VariantPart) bool {
			return a.Discr == b.Discr && slices.EqualFunc(a.Variants, b.Variants, sameVariants)
		})
}

// VariantPart is the part of a structure whose members depend on a value: Rust's enums.
type VariantPart struct {
	// Discr is the member that selects the variant. Its Type is 0 if there is only one variant, or
	// if the debug information names no member.
	Discr    Member
	Variants []Variant
}

// Variant holds the members of a structure for some values of the discriminant. Without ranges,
// it applies to all other values.
type Variant struct {
	Ranges  []DiscrRange
	Members []Member
}

// DiscrRange is a range of discriminants, both ends included. Signed ones are extended to 64
// bits.
type DiscrRange struct{ Low, High uint64 }

// IsQuad reports whether the type's name says that it is a number in IEEE 754's binary128 format,
// whatever the CPU.
func (t *Type) IsQuad() bool {
	return strings.Contains(t.Name, "loat128") || t.Name == "__ieee128" || strings.HasSuffix(t.Name, "(kind=16)")
}

// Enumerator is a named value. Values are sign-extended to 64 bits.
type Enumerator struct {
	Name  string
	Value int64
}

// Dim is one dimension of an array.
type Dim struct {
	Lower Bound
	Upper Bound // the last index; without it, Count is used
	Count Bound
	Step  Bound // distance between indices in bytes (Fortran), if it does not follow from the element
}

// BoundKind says how a number is given.
type BoundKind uint8

// The kinds of bounds.
const (
	NoBound    BoundKind = iota
	ConstBound           // Value
	ExprBound            // Expr computes it
)

// Bound is a number that a type depends on: a constant, or the value of an expression.
type Bound struct {
	Kind  BoundKind
	Value int64
	Expr  ExprID
}
