package code

// memory handles loads and stores (C4.1.5).
func (x *arm64) memory() {
	switch x.field(28, 2) {
	case 0:
		if x.bit(26) {
			x.structure()
		} else {
			x.exclusive()
		}
	case 1:
		x.ordered()
	case 2:
		x.pair()
	case 3:
		x.single()
	}
}

// at returns the address of an access at an offset from its base.
func (x *arm64) at(off int64) value { return x.s.regs[x.n()].plus(off) }

// store stores a register, or what is not known.
func (x *arm64) store(at value, v value, size int64) {
	s := x.s
	if !at.onStack() {
		return
	}
	to := place{at.base, at.off}
	if p := s.near.load; p.base == to.base && p.off < to.off+size && to.off < p.off+8 {
		s.near.load = place{}
	}
	if c := &s.flags; c.at.base == to.base && c.at.off < to.off+size && to.off < c.at.off+8 {
		*c = compare{}
	}
	s.store(to, v, min(size, 8))
	for done := int64(8); done < size; done += 8 {
		s.store(place{to.base, to.off + done}, value{}, 8)
	}
}

// vectorValue returns the value of a vector register.
func (x *arm64) vectorValue(r uint8) value {
	if r >= 8 && r < 16 {
		return x.s.regs[armD8+r-8]
	}
	return value{}
}

// writeback adds to the base of an access.
func (x *arm64) writeback(by int64) { x.put(x.n(), x.s.regs[x.n()].plus(by)) }

// access loads or stores a register of size bytes at an address.
func (x *arm64) access(r uint8, vector, load bool, size int64, at value) {
	switch {
	case vector && load:
		x.killVector(r, 1)
		if r >= 8 && r < 16 && at.onStack() && size >= 8 {
			x.s.regs[armD8+r-8] = x.s.load(place{at.base, at.off})
		}
	case vector:
		x.store(at, x.vectorValue(r), size)
	case load:
		x.load(r, size, at)
	default:
		if r == armLR && size == 8 && at.onStack() && x.s.regs[armLR].base == constant {
			x.flow = astray
		}
		x.store(at, x.reg(r), size)
	}
}

// load loads size bytes, which are extended with zeros.
func (x *arm64) load(r uint8, size int64, at value) {
	v := value{}
	switch {
	case at.onStack() && size == 8:
		v = x.s.load(place{at.base, at.off})
	case at.onStack() && size == 4:
		v = x.s.load(place{at.base, at.off}).low()
	case at.base == constant && size == 8:
		v = value{base: linked, off: at.off}
	}
	x.set(r, v)
	if at.onStack() && size >= 4 && r != 31 {
		x.s.near.load, x.s.near.reg = place{at.base, at.off}, r
	}
}

// pair handles ldp, stp and their variants.
func (x *arm64) pair() {
	vector, load, first, second := x.bit(26), x.bit(22), x.d(), uint8(x.field(10, 5))
	size := int64(4) << x.field(31, 1)
	if vector {
		size = 4 << x.field(30, 2)
	}
	by := x.signed(15, 7) * size
	if !vector && x.field(30, 2) == 1 && !load { // stgp
		by, size = 4*by, 8
	}
	mode, off := x.field(23, 2), by
	if mode == 1 {
		off = 0
	}
	at := x.at(off)
	if mode&1 != 0 {
		x.writeback(by)
	}
	if load && !vector && x.field(30, 2) == 1 { // ldpsw
		x.set(first, value{})
		x.set(second, value{})
		return
	}
	x.access(first, vector, load, size, at)
	x.access(second, vector, load, size, at.plus(size))
}

// single handles the loads and stores of one register, and atomic instructions.
func (x *arm64) single() {
	vector, opc, sizeBits := x.bit(26), x.field(22, 2), x.field(30, 2)
	size := int64(1) << sizeBits
	if vector && opc >= 2 {
		size = 16
	}
	mode := x.field(10, 2)
	switch {
	case x.bit(24):
		x.accessBy(vector, opc, size, x.at(int64(x.field(10, 12))*size))
	case !x.bit(21):
		by := x.signed(12, 9)
		off := by
		if mode == 1 {
			off = 0
		}
		at := x.at(off)
		if mode&1 != 0 {
			x.writeback(by)
		}
		x.accessBy(vector, opc, size, at)
	case mode == 0: // atomic
		x.store(x.at(0), value{}, 16)
		x.set(x.d(), value{})
	case mode == 2:
		x.indexed(vector, opc, size)
	default: // ldraa, ldrab
		if x.bit(11) && mode == 3 {
			x.put(x.n(), value{})
		}
		x.set(x.d(), value{})
	}
}

// accessBy loads or stores a register, by the opc field.
func (x *arm64) accessBy(vector bool, opc uint32, size int64, at value) {
	switch {
	case vector:
		x.access(x.d(), true, opc&1 != 0, size, at)
	case opc == 2 && size == 8: // prefetches
	case opc >= 2: // extended with its sign
		x.loadSigned(size, opc == 2, at)
	default:
		x.access(x.d(), false, opc == 1, size, at)
	}
}

// loadSigned loads size bytes, which are extended with their sign.
func (x *arm64) loadSigned(size int64, wide bool, at value) {
	v := value{}
	if wide && size == 4 && at.onStack() {
		if w := x.s.load(place{at.base, at.off}); w.base == below && w.n < 1<<31 {
			v = w
		}
	}
	x.set(x.d(), v)
	if at.onStack() && size == 4 && x.d() != 31 {
		x.s.near.load, x.s.near.reg = place{at.base, at.off}, x.d()
	}
}

// indexed handles accesses with a register as the index: loads from tables.
func (x *arm64) indexed(vector bool, opc uint32, size int64) {
	index, shift := x.reg(x.m()), x.bit(12)
	base := x.s.regs[x.n()]
	if index.base == constant && base.onStack() {
		off := index.off
		if shift {
			off *= size
		}
		x.accessBy(vector, opc, size, base.plus(off))
		return
	}
	if vector || opc == 0 || size == 8 && opc == 2 {
		x.accessBy(vector, opc, size, value{})
		return
	}
	v := value{}
	if shift || size == 1 {
		v = element(base, index, uint8(size))
		if opc >= 2 && v.base == word {
			v.base = entry
			if opc == 3 {
				v = value{}
			}
		}
	}
	x.set(x.d(), v)
}

// exclusive handles exclusive and ordered accesses, and compare and swap.
func (x *arm64) exclusive() {
	ordered, load, two := x.bit(23), x.bit(22), x.bit(21)
	switch {
	case two && (ordered || !x.bit(31)): // cas, casp
		x.store(x.at(0), value{}, 16)
		x.set(x.m(), value{})
		if !ordered {
			x.set((x.m()+1)%32, value{})
		}
	case load:
		x.set(x.d(), value{})
		if two {
			x.set(uint8(x.field(10, 5)), value{})
		}
	default:
		x.store(x.at(0), value{}, 16)
		if !ordered {
			x.set(x.m(), value{}) // the status
		}
	}
}

// ordered handles loads of literals, ordered accesses without an index, tags and copies of memory.
func (x *arm64) ordered() {
	vector := x.bit(26)
	switch {
	case !x.bit(24): // literal
		switch at := x.addr + uint64(x.signed(5, 19)*4); {
		case vector:
			x.killVector(x.d(), 1)
		case x.field(30, 2) == 3: // a prefetch
		case x.field(30, 2) == 1:
			x.set(x.d(), value{base: linked, off: int64(at)})
		default:
			x.set(x.d(), value{})
		}
	case x.bit(21): // tags
		x.tags()
	case x.field(10, 2) == 0: // ldapur, stlur
		if size, opc := int64(1)<<x.field(30, 2), x.field(22, 2); vector {
			x.killVector(x.d(), 1)
			x.store(x.at(x.signed(12, 9)), value{}, 16)
		} else {
			x.accessBy(false, opc, size, x.at(x.signed(12, 9)))
		}
	default: // copies of memory, which write all of their registers
		x.set(x.d(), value{})
		x.put(x.n(), value{})
		x.set(x.m(), value{})
		x.s.flags = compare{}
		x.store(x.at(0), value{}, 16)
	}
}

// tags handles loads and stores of tags, some of which also store zeros.
func (x *arm64) tags() {
	by, mode := x.signed(12, 9)*16, x.field(10, 2)
	if mode == 0 { // ldg, ldgm
		x.set(x.d(), value{})
		return
	}
	off := by
	if mode == 1 {
		off = 0
	}
	x.store(x.at(off), value{}, 32)
	if mode != 2 {
		x.writeback(by)
	}
}

// structure handles loads and stores of structures of vectors.
func (x *arm64) structure() {
	size := int64(8) << x.field(30, 1)
	registers := structures[x.field(12, 4)]
	switch load := x.bit(22); {
	case !x.bit(24) && x.bit(13): // ld1, st1 of whole registers
		for i := range registers {
			x.access((x.d()+uint8(i))%32, true, load, size, x.at(i*size))
		}
	case load:
		x.killVector(x.d(), 4)
	default:
		x.store(x.at(0), value{}, 64)
	}
	if !x.bit(23) {
		return
	}
	if m := x.m(); m != 31 || x.bit(24) {
		v := value{}
		if m != 31 && x.reg(m).base == constant {
			v = x.s.regs[x.n()].plus(x.reg(m).off)
		}
		x.put(x.n(), v)
		return
	}
	x.writeback(registers * size)
}

// structures has the number of registers by the opcode of a load or store of several structures.
var structures = [16]int64{0b0000: 4, 0b0010: 4, 0b0100: 3, 0b0110: 3, 0b0111: 1, 0b1000: 2, 0b1010: 2}
