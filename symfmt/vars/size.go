package vars

import "math/bits"

// maxChain limits the length of a chain of types, each made of the next, up to one with a size.
// Only damaged data has longer ones.
const maxChain = 64

// Plain returns a type without typedefs and qualifiers, and its number. The type is nil if
// the chain of types does not end.
func (in *Info) Plain(id TypeID) (*Type, TypeID) {
	for range maxChain {
		t := &in.Types[id]
		switch t.Kind {
		case Typedef, Const, Volatile, Restrict, Atomic, Subrange:
			id = t.Elem
		default:
			return t, id
		}
	}
	return nil, 0
}

// SizeOf returns the size of a type that does not depend on variables.
func (in *Info) SizeOf(id TypeID, ptrSize int) (uint64, bool) {
	s := Sizer{Info: in, PtrSize: ptrSize}
	return s.Size(id)
}

// Sizer computes the sizes of types, some of which depend on variables.
type Sizer struct {
	Info    *Info
	PtrSize int // size of an address in bytes
	// Bound returns a bound that an expression computes. If it is nil, such bounds are unknown.
	Bound func(Bound) (int64, bool)
}

// Size returns the size of a type in bytes, and whether it is known.
func (s *Sizer) Size(id TypeID) (uint64, bool) { return s.size(id, maxChain) }

func (s *Sizer) size(id TypeID, depth int) (uint64, bool) {
	t := &s.Info.Types[id]
	switch {
	case depth == 0:
		return 0, false
	case t.HasSize && (t.Kind != Array || t.Size > 0):
		return t.Size, true
	}
	switch t.Kind {
	case Typedef, Const, Volatile, Restrict, Atomic, Subrange, Enum:
		return s.size(t.Elem, depth-1)
	case Pointer, Reference, RValueRef:
		return uint64(s.PtrSize), true
	case MemberPtr: // Itanium C++ ABI, section 2.3
		if elem, _ := s.Info.Plain(t.Elem); elem != nil && elem.Kind == Function {
			return 2 * uint64(s.PtrSize), true
		}
		return uint64(s.PtrSize), true
	case Array, Vector:
		return s.array(t, depth)
	case String:
		if t.Extra == nil {
			return 0, false
		}
		n, ok := s.Value(t.Extra.Length)
		return uint64(max(n, 0)), ok
	}
	return 0, false
}

// array returns the size of an array, computed from the size of an element or from the strides.
func (s *Sizer) array(t *Type, depth int) (uint64, bool) {
	size, ok := s.size(t.Elem, depth-1)
	if !ok {
		return 0, false
	}
	if t.Extra != nil {
		if n, ok := s.Value(t.Extra.Stride); ok && n > 0 {
			size = uint64(n)
		}
	}
	largest := uint64(0)
	for i := range t.Dims() {
		n, ok := s.Count(&t.Dims()[i])
		if !ok {
			return 0, false
		}
		hi, lo := bits.Mul64(size, n)
		if size = lo; hi != 0 {
			return 0, false
		}
		if step, ok := s.Value(t.Dims()[i].Step); ok {
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

// Count returns the number of elements of a dimension, and whether it is known.
func (s *Sizer) Count(d *Dim) (uint64, bool) {
	if n, ok := s.Value(d.Count); ok {
		return uint64(max(n, 0)), true
	}
	upper, ok := s.Value(d.Upper)
	if !ok {
		return 0, d.Upper.Kind == NoBound && d.Count.Kind == NoBound // int x[]
	}
	lower, ok := s.Value(d.Lower)
	if !ok && d.Lower.Kind != NoBound {
		return 0, false
	}
	if upper < lower {
		return 0, true
	}
	return uint64(upper) - uint64(lower) + 1, true
}

// Value returns a bound, and whether it is known.
func (s *Sizer) Value(b Bound) (int64, bool) {
	switch {
	case b.Kind == ConstBound:
		return b.Value, true
	case b.Kind == ExprBound && s.Bound != nil:
		return s.Bound(b)
	}
	return 0, false
}
