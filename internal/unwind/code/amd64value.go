package code

// read returns the value of the operand of 8 bytes.
func (x *amd64) read() value {
	if x.mod == 3 {
		return x.s.regs[x.rmDW()]
	}
	a := x.address()
	switch {
	case x.index < 0 && a.onStack():
		return x.s.load(place{a.base, a.off})
	case x.index >= 0 && x.scale == 3:
		return element(a, x.s.regs[x.index], 8)
	case x.index >= 0 && x.scale == 0:
		return x.element(8)
	}
	return value{}
}

// small returns the value of an operand of 4 bytes or less, which is extended with zeros.
func (x *amd64) small(size int64) value {
	switch {
	case x.mod == 3:
		return x.cut(x.s.regs[x.rmDW()], size)
	case x.index < 0:
		if a := x.address(); a.onStack() {
			return x.cut(x.s.load(place{a.base, a.off}), size)
		}
	case x.scale == 2 && size == 4:
		return element(x.address(), x.s.regs[x.index], 4)
	case x.scale == 0 && size == 4:
		return x.element(4)
	}
	return x.cut(value{}, size)
}

// cut returns the low bytes of v, extended with zeros.
func (x *amd64) cut(v value, size int64) value {
	if v.base == below && (size >= 4 || v.n>>(8*size) == 0) || v.base == word && v.size == 4 && size >= 4 {
		return v
	}
	return value{}
}

// moved returns the value that a move of v has.
func (x *amd64) moved(v value) value {
	if x.wide() {
		return v
	}
	if x.w16 {
		return value{}
	}
	return x.cut(v, 4)
}

// extended returns a word of 4 bytes, extended with its sign.
func (x *amd64) extended(v value) value {
	switch {
	case v.base == word && v.size == 4 && x.wide():
		v.base = entry
		return v
	case v.base == below && v.n < 1<<31:
		return v
	}
	return value{}
}

// element returns the word at the sum of two registers: a table's address, and an index that is multiplied already.
func (x *amd64) element(size uint8) value {
	a, b := x.s.regs[x.index], value{}
	if x.base >= 0 {
		b = x.s.regs[x.base]
	}
	if a.base != scaled {
		a, b = b, a
	}
	if a.base != scaled || a.off != int64(size) || b.base != constant {
		return value{}
	}
	return value{base: word, off: b.off + x.disp, n: a.n, size: size}
}

// add returns the sum of two values.
func add(a, b value) value {
	if a.base == constant {
		a, b = b, a
	}
	if b.base != constant {
		return value{}
	}
	if a.base == entry {
		return a.from(b.off)
	}
	return a.plus(b.off)
}

// from returns the sum of a word of a table, and the address that it is relative to.
func (v value) from(at int64) value {
	delta := v.off - at
	switch {
	case delta == 0:
		v.base = target
		return v
	case delta == int64(int32(delta)):
		return value{base: displaced, off: at, n: uint32(delta)}
	}
	return value{}
}
