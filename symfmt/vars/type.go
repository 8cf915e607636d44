package vars

import (
	"reflect"
	"slices"
)

// TypeKind says what a type is.
type TypeKind uint8

// The kinds of types. Elem is the type that another is made of.
const (
	Void        TypeKind = iota // also a type that is unknown
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
	Unspecified                 // named, without contents: std::nullptr_t
)

// Encoding says what the bytes of a base type mean.
type Encoding uint8

// The encodings: those of DWARF 5, 7.8.
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
	UTF          Encoding = 0x10 // a character of Unicode: char32_t, Rust's char, Go's none
	UCS          Encoding = 0x11
	ASCII        Encoding = 0x12
)

// Order is the byte order of a base type.
type Order uint8

// The orders.
const (
	CPUOrder Order = iota
	BigEndian
	LittleEndian
)

// Type is a type. Which fields have a meaning depends on its kind.
type Type struct {
	Kind       TypeKind
	Encoding   Encoding // Base
	Order      Order    // Base
	HasSize    bool     // otherwise the size is that of Elem, or depends on Dims, or is unknown
	Incomplete bool     // only declared: no member is known

	Elem  TypeID
	Class TypeID // MemberPtr

	// Name is that of the source, after its namespaces and classes: ns::Class<int>. Types that
	// are made of another one (pointers, arrays, qualifiers) mostly have none.
	Name string
	Size uint64 // in bytes

	Members     []Member
	Variants    []VariantPart
	Enumerators []Enumerator
	Params      []TypeID
	Dims        []Dim
	Extra       *Extra // what few types have; else nil
}

// Extra is what few types have.
type Extra struct {
	BitSize   uint64 // Base: bits that count, if they are fewer than Size says
	BitOffset uint64 // Base: of the lowest of these, from the least significant bit

	// Arrays and strings that have a descriptor (Fortran), else 0. The address of the variable is
	// on the stack first, and is OpObjectAt.
	Data       ExprID // where the data are
	Allocated  ExprID // 0 if it is not allocated
	Associated ExprID // 0 if the pointer points nowhere
	Stride     Bound  // Array: bytes from one element to the next, if it is not the size of Elem
	Length     Bound  // String: bytes
}

// Member is a member of a structure, class or union, or one of its bases.
type Member struct {
	Name       string
	Type       TypeID
	At         ExprID // in place of Offset: leaves its address; that of the structure is on the stack first
	Offset     uint64 // in bytes, from the start of the structure
	BitSize    uint32 // of a bit field; else 0
	BitOffset  uint8  // of a bit field: the bits from Offset on, as DW_AT_data_bit_offset counts them
	Base       bool   // a base class
	Artificial bool   // made by the compiler: the pointer to a table of functions
}

// equal reports whether t and o have the same contents.
func (t *Type) equal(o *Type) bool {
	x, y := *t, *o
	x.Members, x.Variants, x.Enumerators, x.Params, x.Dims, x.Extra = nil, nil, nil, nil, nil, nil
	y.Members, y.Variants, y.Enumerators, y.Params, y.Dims, y.Extra = nil, nil, nil, nil, nil, nil
	sameVariants := func(a, b Variant) bool {
		return slices.Equal(a.Ranges, b.Ranges) && slices.Equal(a.Members, b.Members)
	}
	return reflect.DeepEqual(x, y) && slices.Equal(t.Members, o.Members) && slices.Equal(t.Enumerators, o.Enumerators) &&
		slices.Equal(t.Params, o.Params) && slices.Equal(t.Dims, o.Dims) && (t.Extra == nil) == (o.Extra == nil) &&
		(t.Extra == nil || *t.Extra == *o.Extra) &&
		slices.EqualFunc(t.Variants, o.Variants, func(a, b VariantPart) bool {
			return a.Discr == b.Discr && slices.EqualFunc(a.Variants, b.Variants, sameVariants)
		})
}

// VariantPart is the part of a structure whose members depend on a value: Rust's enums.
type VariantPart struct {
	// Discr is the member that decides. Its Type is 0 if there is only one variant, or if the
	// debug information names no member.
	Discr    Member
	Variants []Variant
}

// Variant is what a structure has for some values of the discriminant. Without ranges it is the one
// for all other values.
type Variant struct {
	Ranges  []DiscrRange
	Members []Member
}

// DiscrRange is a range of discriminants, both ends included. Signed ones are extended to 64 bits.
type DiscrRange struct{ Low, High uint64 }

// Enumerator is a name of a value. Values are extended to 64 bits by their sign.
type Enumerator struct {
	Name  string
	Value int64
}

// Dim is one dimension of an array.
type Dim struct {
	Lower Bound
	Upper Bound // the last index; without it, Count
	Count Bound
	Step  Bound // bytes from one index to the next (Fortran), if it does not follow from the element
}

// BoundKind says how a number is known.
type BoundKind uint8

// The kinds of bounds.
const (
	NoBound    BoundKind = iota
	ConstBound           // Value
	ExprBound            // Expr leaves it on the stack
)

// Bound is a number that a type depends on: it is known, or an expression finds it.
type Bound struct {
	Kind  BoundKind
	Value int64
	Expr  ExprID
}
