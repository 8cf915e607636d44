package eval

import "github.com/symtool/symtool/symfmt/vars"

// classOf returns how the bits of a scalar are interpreted; opaque for other types.
func (f *Frame) classOf(id vars.TypeID) class {
	t, _ := f.Info.Plain(id)
	if t == nil {
		return opaque
	}
	switch t.Kind {
	case vars.Pointer, vars.Reference, vars.RValueRef:
		return unsigned
	case vars.Enum:
		if elem, _ := f.Info.Plain(t.Elem); elem != nil && elem.Kind == vars.Base {
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

// base returns the class and size of a type that operations refer to; 0 is the generic type.
func (f *Frame) base(id vars.TypeID) (class, int, *failure) {
	if id == 0 {
		return generic, f.ptrSize(), nil
	}
	t, _ := f.Info.Plain(id)
	if t == nil || t.Kind != vars.Base || t.Size < 1 || t.Size > 16 {
		return 0, 0, invalid("a type that is not numeric")
	}
	c := baseClass(t)
	if c == float && t.Size >= x87Size && (!f.hasX87() || t.IsQuad()) {
		c = opaque
	}
	return c, int(t.Size), nil
}

// Counts returns the number of elements of an array in each dimension, or nil if it is unknown. object is the address
// of the array, or of its descriptor.
func (f *Frame) Counts(t *vars.Type, object *uint64) []uint64 {
	s := vars.Sizer{Info: f.Info, PtrSize: f.ptrSize(), Bound: func(x vars.Bound) (int64, bool) {
		n, fault := f.expression(x.Expr, 0, object, f.newBudget())
		return n.int64(), fault == nil
	}}
	counts := make([]uint64, len(t.Dims()))
	for i := range t.Dims() {
		n, ok := s.Count(&t.Dims()[i])
		if !ok {
			return nil
		}
		counts[i] = n
	}
	return counts
}

// Member returns a member of a structure, and reports whether its location is known. The bits of a bit field are moved
// to the lowest bits of a number with the size of its type.
func (f *Frame) Member(v *Value, m *vars.Member) (Value, bool) {
	if id, ok := f.hasDescriptor(m.Type); ok && v.InMemory && m.At == 0 {
		return f.elements(id, 0, v.Address+m.Offset, f.newBudget()), true
	}
	size, fault := f.sizeOf(m.Type, 0, nil, f.newBudget())
	if fault != nil {
		return missing(0, fault.state, fault.why), false
	}
	if m.At != 0 {
		if !v.InMemory {
			return missing(size, Absent, "its place depends on the address of the object, which has none"), false
		}
		at, fault := f.expression(m.At, 0, &v.Address, f.newBudget())
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

// knows reports whether count bits, starting at bit, are known.
func (v *Value) knows(bit, count uint64, bigEndian bool) bool {
	if v.Whole() {
		return true
	}
	if v.Bits == nil || bit+count > 8*uint64(len(v.Bits)) {
		return false
	}
	for i := bit; i < bit+count; i++ {
		if v.Bits[i/8]>>shiftOf(i, bigEndian)&1 == 0 {
			return false
		}
	}
	return true
}

// bitField returns the value of a bit field, extended to size bytes, with its sign if its type is signed.
func (f *Frame) bitField(v *Value, m *vars.Member, size int) Value {
	last := m.Offset + (uint64(m.BitOffset)+uint64(m.BitSize)+7)/8
	part := v.Part(int(m.Offset), int(last-m.Offset))
	t, _ := f.Info.Plain(m.Type)
	if t != nil && t.Kind == vars.Enum {
		t, _ = f.Info.Plain(t.Elem)
	}
	big := f.IsBigEndian(t)
	if !part.knows(uint64(m.BitOffset), uint64(m.BitSize), big) || m.BitSize > 64 || size > 16 || len(part.Bytes) > 16 {
		return missing(size, Absent, part.Why)
	}
	n := numberOf(unsigned, part.Bytes, big)
	shift := uint(m.BitOffset)
	if big {
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
	return Value{Bytes: out.extend(size, f.classOf(m.Type) == signed).bytes(big)}
}

// IsBigEndian reports whether numbers of a type are big-endian in memory, according to t's own byte order if it has
// one, and otherwise the CPU's. t may be nil.
func (f *Frame) IsBigEndian(t *vars.Type) (bigEndian bool) {
	if t == nil || t.Order == vars.CPUOrder {
		return f.BigEndian()
	}
	return t.Order == vars.BigEndian
}
