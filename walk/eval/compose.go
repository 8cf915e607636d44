package eval

import (
	"fmt"
)

// MaxValue limits the size of a value in bytes.
const MaxValue = 1 << 20

// compose returns the size bytes that pieces describe. A scalar that is a number is truncated or
// extended to the size of its type.
func (m *machine) compose(pieces []piece, size int, as class) Value {
	if len(pieces) == 1 && pieces[0].bits == 0 && pieces[0].offset == 0 {
		return m.single(&pieces[0].place, size, as)
	}
	v := missing(size, Absent, "")
	bit := uint64(0)
	for i := range pieces {
		p := &pieces[i]
		if bit >= 8*uint64(size) {
			break
		}
		m.put(&v, bit, p)
		bit += p.bits
	}
	if bit < 8*uint64(size) && v.Why == "" {
		v.Why = fmt.Sprintf("the location describes only the first %d bits", bit)
	}
	return v.settled()
}

// settled drops the states of a value whose bytes are all known.
func (v Value) settled() Value {
	if v.Whole() {
		v.States, v.Bits, v.Why = nil, nil, ""
	}
	return v
}

// single returns a value whose location is one place.
func (m *machine) single(p *place, size int, as class) Value {
	switch p.kind {
	case inMemory:
		return m.f.Read(p.addr, size)
	case inRegister:
		return m.fromRegister(p.reg, size)
	case asNumber:
		return m.fromNumber(p.number, size, as)
	case asBytes:
		if len(p.bytes) < size {
			return missing(size, Absent, fmt.Sprintf("a constant of %d bytes for a value of %d", len(p.bytes), size))
		}
		return Value{Bytes: p.bytes[:size:size]}
	case asConstant:
		return m.fromConstant(p.bytes, size, as)
	case asPointer:
		return m.pointer(p, size)
	case unknown:
		return missing(size, p.failure.state, p.failure.why)
	}
	return missing(size, Absent, "")
}

// fromRegister returns the least significant size bytes of a register.
func (m *machine) fromRegister(reg uint64, size int) Value {
	b, fault := m.f.register(reg)
	if fault != nil {
		return missing(size, fault.state, fault.why)
	}
	if len(b) < size {
		v := missing(size, Unavailable, fmt.Sprintf("%s has %d bytes of %d", m.f.registerName(reg), len(b), size))
		copy(v.Bytes, b)
		for i := range b {
			v.States[i] = Known
		}
		return v
	}
	if m.f.BigEndian() {
		return Value{Bytes: b[len(b)-size:]}
	}
	return Value{Bytes: b[:size:size]}
}

// fromNumber returns the bytes of a computed value.
func (m *machine) fromNumber(n number, size int, as class) Value {
	switch {
	case as == opaque && n.size < size:
		// The number describes part of a struct, and nothing says which.
		return missing(size, Absent, fmt.Sprintf("a value of %d bytes for a variable of %d", n.size, size))
	case n.class == float && n.size == x87Size && size > x87Size && m.f.hasX87():
		return padded(n.bytes(false), size, "the number") // the type has padding, whose bytes are unknown
	case n.class == float && n.size != size:
		return missing(size, Absent, fmt.Sprintf("a floating-point number of %d bytes for a value of %d", n.size, size))
	case n.size != size:
		n = n.extend(size, as == signed || n.class == signed)
	}
	return Value{Bytes: n.bytes(m.f.BigEndian())}
}

// fromConstant returns the bytes of DW_AT_const_value. For a scalar, a shorter block omits sign or
// zero extension. clang also writes shorter blocks for structs, with any part of the struct.
func (m *machine) fromConstant(b []byte, size int, as class) Value {
	switch {
	case len(b) >= size && !m.f.BigEndian():
		return Value{Bytes: b[:size:size]}
	case len(b) >= size:
		return Value{Bytes: b[len(b)-size:]}
	case as == opaque || len(b) > 16 || len(b) == 0:
		return missing(size, Absent, fmt.Sprintf("a constant of %d bytes for a value of %d", len(b), size))
	}
	return m.fromNumber(numberOf(as, b, m.f.BigEndian()), size, as)
}

// pointer returns an implicit pointer. Its target is a variable of the same frame, or what an
// expression describes.
func (m *machine) pointer(p *place, size int) Value {
	v := missing(size, Absent, "the pointer is neither in a register nor in memory")
	if fault := m.budget.enter(); fault != nil {
		return v
	}
	defer m.budget.leave()
	if p.target.label != 0 {
		if target, scope, ok := m.instance(p.target.label); ok {
			v.Pointee = &Pointee{Var: target.Var, Value: m.f.variable(target, scope, m.budget), Offset: p.offset}
		}
	} else if p.target.expr != 0 {
		to := machine{f: m.f, budget: m.budget, scope: m.scope}
		v.Pointee = &Pointee{Value: to.whole(to.evaluate(m.f.ops(p.target.expr, m.budget))), Offset: p.offset}
	}
	return v
}

// whole returns a value whose size is known only from its location.
func (m *machine) whole(pieces []piece) Value {
	size := m.f.ptrSize()
	if len(pieces) == 1 && len(pieces[0].bytes) > 0 {
		size = len(pieces[0].bytes)
	}
	return m.compose(pieces, size, opaque)
}

// put copies a piece to a bit offset of the value.
func (m *machine) put(v *Value, bit uint64, p *piece) {
	count := min(p.bits, 8*uint64(len(v.Bytes))-bit)
	if p.kind == inMemory && bit%8 == 0 && p.offset%8 == 0 && bit == 0 && count == 8*uint64(len(v.Bytes)) {
		*v = m.f.Read(p.addr+p.offset/8, len(v.Bytes))
		return
	}
	part := m.pieceBytes(p, int((p.offset+count+7)/8))
	if part.Why != "" && v.Why == "" {
		v.Why = part.Why
	}
	copyBits(v, bit, &part, p.offset, count, m.f.BigEndian())
}

// pieceBytes returns the first size bytes of a piece.
func (m *machine) pieceBytes(p *piece, size int) Value {
	switch p.kind {
	case inRegister:
		b, fault := m.f.register(p.reg)
		if fault != nil {
			return missing(size, fault.state, fault.why)
		}
		if m.f.BigEndian() && p.offset == 0 { // a piece without an offset is at the least significant end
			b = b[max(0, len(b)-size):]
		}
		return padded(b, size, m.f.registerName(p.reg))
	case asNumber:
		n := p.number
		if n.class != float {
			n = n.extend(max(size, 1), n.class == signed)
		}
		return padded(n.bytes(m.f.BigEndian()), size, "the number")
	case asBytes:
		return padded(p.bytes, size, "the constant")
	}
	return m.single(&p.place, size, opaque)
}

// padded returns the first size bytes of b. Bytes that b lacks are unknown.
func padded(b []byte, size int, what string) Value {
	if len(b) >= size {
		return Value{Bytes: b[:size:size]}
	}
	v := missing(size, Absent, fmt.Sprintf("%s has %d bytes of %d", what, len(b), size))
	copy(v.Bytes, b)
	for i := range b {
		v.States[i] = Known
	}
	return v
}

// copyBits copies count bits. A byte with an unknown bit is unknown, but its other bits are kept.
func copyBits(v *Value, to uint64, from *Value, at, count uint64, bigEndian bool) {
	if to%8 == 0 && at%8 == 0 && count%8 == 0 {
		for i := range count / 8 {
			d, s := to/8+i, at/8+i
			v.Bytes[d], v.States[d] = from.Bytes[s], Known
			if from.States != nil {
				v.States[d] = from.States[s]
			}
			if v.Bits != nil && v.States[d] == Known {
				v.Bits[d] = 0xff
			}
		}
		return
	}
	if v.Bits == nil {
		v.Bits = make([]byte, len(v.Bytes))
		for i, s := range v.States {
			if s == Known {
				v.Bits[i] = 0xff
			}
		}
	}
	for i := range count {
		d, s := to+i, at+i
		if !from.Known(int(s / 8)) {
			v.States[d/8] = from.States[s/8]
			continue
		}
		if d%8 == 0 || i == 0 && v.States[d/8] != Known && d%8 == 0 {
			v.States[d/8] = Known
		}
		bit := from.Bytes[s/8] >> shiftOf(s, bigEndian) & 1
		v.Bytes[d/8] &^= 1 << shiftOf(d, bigEndian)
		v.Bytes[d/8] |= bit << shiftOf(d, bigEndian)
		v.Bits[d/8] |= 1 << shiftOf(d, bigEndian)
	}
}

// shiftOf returns the position of a bit within its byte.
func shiftOf(bit uint64, bigEndian bool) uint64 {
	if bigEndian {
		return 7 - bit%8
	}
	return bit % 8
}
