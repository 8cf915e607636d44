package eval

import (
	"math/bits"

	"github.com/symtool/symtool/symfmt/vars"
)

// maxChain limits how many types a type may be made of, one in the other, until one has a size: only
// a damaged one has more.
const maxChain = 64

// Plain returns what a type is but for its names and qualifiers, and its number; nil if it is made of
// itself.
func Plain(in *vars.Info, id vars.TypeID) (*vars.Type, vars.TypeID) {
	for range maxChain {
		t := &in.Types[id]
		switch t.Kind {
		case vars.Typedef, vars.Const, vars.Volatile, vars.Restrict, vars.Atomic, vars.Subrange:
			id = t.Elem
		default:
			return t, id
		}
	}
	return nil, 0
}

// classOf returns how the bits of a scalar are read; opaque for other types.
func (f *Frame) classOf(id vars.TypeID) class {
	t, _ := Plain(f.Info, id)
	if t == nil {
		return opaque
	}
	switch t.Kind {
	case vars.Pointer, vars.Reference, vars.RValueRef:
		return unsigned
	case vars.Enum:
		if elem, _ := Plain(f.Info, t.Elem); elem != nil && elem.Kind == vars.Base {
			return baseClass(elem)
		}
		return unsigned
	case vars.Base:
		return baseClass(t)
	}
	return opaque
}

func baseClass(t *vars.Type) class {
	switch t.Encoding {
	case vars.Float:
		if t.Size == 4 || t.Size == 8 || t.Size >= x87Size && t.Size <= 16 {
			return float
		}
	case vars.Signed, vars.SignedChar:
		return signed
	case vars.Address, vars.Boolean, vars.Unsigned, vars.UnsignedChar, vars.UTF, vars.UCS, vars.ASCII:
		return unsigned
	}
	return opaque
}

// base returns class and size of a type that operations name; 0 is the generic type.
func (f *Frame) base(id vars.TypeID) (class, int, *failure) {
	if id == 0 {
		return generic, f.ptrSize(), nil
	}
	t, _ := Plain(f.Info, id)
	if t == nil || t.Kind != vars.Base || t.Size < 1 || t.Size > 16 {
		return 0, 0, invalid("a type of which there are no numbers")
	}
	c := baseClass(t)
	if c == float && t.Size >= x87Size && !f.hasX87() {
		c = opaque
	}
	return c, int(t.Size), nil
}

// SizeOf returns the size of a type that does not depend on variables.
func SizeOf(in *vars.Info, id vars.TypeID, ptrSize int) (uint64, bool) {
	s := sizer{in: in, ptr: uint64(ptrSize)}
	return s.size(id, maxChain)
}

// sizer finds the sizes of types.
type sizer struct {
	in  *vars.Info
	ptr uint64
	// bound returns a bound that an expression finds; nil: there are none.
	bound func(vars.Bound) (int64, bool)
}

// size returns the size of a type in bytes.
func (s *sizer) size(id vars.TypeID, depth int) (uint64, bool) {
	t := &s.in.Types[id]
	switch {
	case depth == 0:
		return 0, false
	case t.HasSize && (t.Kind != vars.Array || t.Size > 0):
		return t.Size, true
	}
	switch t.Kind {
	case vars.Typedef, vars.Const, vars.Volatile, vars.Restrict, vars.Atomic, vars.Subrange, vars.Enum:
		return s.size(t.Elem, depth-1)
	case vars.Pointer, vars.Reference, vars.RValueRef:
		return s.ptr, true
	case vars.MemberPtr: // Itanium C++ ABI, section 2.3
		if elem, _ := Plain(s.in, t.Elem); elem != nil && elem.Kind == vars.Function {
			return 2 * s.ptr, true
		}
		return s.ptr, true
	case vars.Array, vars.Vector:
		return s.array(t, depth)
	case vars.String:
		if t.Extra == nil {
			return 0, false
		}
		n, ok := s.value(t.Extra.Length)
		return uint64(max(n, 0)), ok
	}
	return 0, false
}

// array returns the size of an array: that of its elements, or of the strides over them.
func (s *sizer) array(t *vars.Type, depth int) (uint64, bool) {
	size, ok := s.size(t.Elem, depth-1)
	if !ok {
		return 0, false
	}
	if t.Extra != nil {
		if n, ok := s.value(t.Extra.Stride); ok && n > 0 {
			size = uint64(n)
		}
	}
	largest := uint64(0)
	for i := range t.Dims {
		n, ok := s.count(&t.Dims[i])
		if !ok {
			return 0, false
		}
		hi, lo := bits.Mul64(size, n)
		if size = lo; hi != 0 {
			return 0, false
		}
		if step, ok := s.value(t.Dims[i].Step); ok {
			if step < 0 {
				return 0, false
			}
			if hi, lo = bits.Mul64(uint64(step), n); hi != 0 {
				return 0, false
			}
			largest = max(largest, lo)
		}
	}
	if largest > 0 && size > 0 {
		return largest, true
	}
	return size, true
}

// count returns the number of elements of a dimension.
func (s *sizer) count(d *vars.Dim) (uint64, bool) {
	if n, ok := s.value(d.Count); ok {
		return uint64(max(n, 0)), true
	}
	upper, ok := s.value(d.Upper)
	if !ok {
		return 0, d.Upper.Kind == vars.NoBound && d.Count.Kind == vars.NoBound // int x[]
	}
	lower, ok := s.value(d.Lower)
	if !ok && d.Lower.Kind != vars.NoBound {
		return 0, false
	}
	if upper < lower {
		return 0, true
	}
	return uint64(upper) - uint64(lower) + 1, true
}

// value returns a bound; false if it is unknown.
func (s *sizer) value(b vars.Bound) (int64, bool) {
	switch {
	case b.Kind == vars.ConstBound:
		return b.Value, true
	case b.Kind == vars.ExprBound && s.bound != nil:
		return s.bound(b)
	}
	return 0, false
}

// Counts returns how many elements an array has in each dimension; nil if that is not known. object
// is where the array, or its descriptor, is.
func (f *Frame) Counts(t *vars.Type, object *uint64) []uint64 {
	s := sizer{in: f.Info, ptr: uint64(f.ptrSize()), bound: func(x vars.Bound) (int64, bool) {
		n, fault := f.expression(x.Expr, 0, object, newBudget())
		return n.int64(), fault == nil
	}}
	counts := make([]uint64, len(t.Dims))
	for i := range t.Dims {
		n, ok := s.count(&t.Dims[i])
		if !ok {
			return nil
		}
		counts[i] = n
	}
	return counts
}

// Member returns a member of a structure, and reports whether its place is known. The bits of a bit
// field are moved to the lowest ones of a number as long as its type.
func (f *Frame) Member(v *Value, m *vars.Member) (Value, bool) {
	size, fault := f.sizeOf(m.Type, 0, nil, newBudget())
	if fault != nil {
		return missing(0, fault.state, fault.why), false
	}
	if m.At != 0 {
		if !v.InMemory {
			return missing(size, Absent, "its place depends on the address of the object, which has none"), false
		}
		at, fault := f.expression(m.At, 0, &v.Address, newBudget())
		if fault != nil {
			return missing(size, fault.state, fault.why), false
		}
		return f.Read(at.lo, size), true
	}
	if m.Offset > MaxValue {
		return missing(size, Absent, "beyond the end of the value"), false
	}
	if m.BitSize == 0 {
		return v.Part(int(m.Offset), size), true
	}
	return f.bitField(v, m, size), true
}

// bitField returns the value of a bit field, extended by its sign.
func (f *Frame) bitField(v *Value, m *vars.Member, size int) Value {
	last := m.Offset + (uint64(m.BitOffset)+uint64(m.BitSize)+7)/8
	part := v.Part(int(m.Offset), int(last-m.Offset))
	if !part.Whole() || m.BitSize > 64 || size > 16 || len(part.Bytes) > 16 {
		return missing(size, Absent, part.Why)
	}
	n := numberOf(unsigned, part.Bytes, f.BigEndian())
	shift := uint(m.BitOffset)
	if f.BigEndian() {
		shift = uint(8*len(part.Bytes)) - uint(m.BitOffset) - uint(m.BitSize)
	}
	word := n.lo>>shift | n.hi<<(64-shift)
	if shift == 0 {
		word = n.lo
	}
	out := number{size: 8, lo: word << (64 - m.BitSize)}
	if f.classOf(m.Type) == signed {
		out.lo = uint64(int64(out.lo) >> (64 - m.BitSize))
	} else {
		out.lo >>= 64 - m.BitSize
	}
	return Value{Bytes: out.extend(size, f.classOf(m.Type) == signed).bytes(f.BigEndian())}
}
