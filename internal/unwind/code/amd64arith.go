package code

// arithmetic handles add, or, adc, sbb, and, sub, xor and cmp of registers and memory.
func (x *amd64) arithmetic(op byte) {
	what, form := op>>3, op&7
	if form >= 6 {
		return
	}
	if form >= 4 {
		if what == 7 {
			n, size := 1, int64(1)
			if form == 5 {
				n, size = x.immSize(), x.size()
			}
			x.compared(amdAX, x.imm(n), size)
		}
		if what == 4 && form == 5 {
			x.set(amdAX, x.masked(x.imm(x.immSize())))
			return
		}
		if what != 7 {
			v := value{}
			if what == 0 && form == 5 && x.wide() {
				v = x.s.regs[amdAX].plus(x.imm(4))
			}
			x.set(amdAX, v)
		}
		return
	}
	x.modrm(x.i + 1)
	if what == 7 {
		if x.mod == 3 && x.wide() && form&1 != 0 {
			a, b := x.rmDW(), x.regDW()
			if form == 3 {
				a, b = b, a
			}
			x.s.flags = compare{reg: int8(a), other: b + 1, size: 8}
		}
		return
	}
	if form&1 == 0 { // bytes
		if form == 2 {
			x.kill(x.byteReg(x.reg))
		} else {
			x.writeByte()
		}
		return
	}
	v := value{}
	if x.wide() && x.mod == 3 {
		a, b := x.s.regs[x.rmDW()], x.s.regs[x.regDW()] // a: destination of form 1
		if form == 3 {
			a, b = b, a
		}
		switch what {
		case 0:
			v = add(a, b)
		case 5:
			if b.base == constant {
				v = a.plus(-b.off)
			}
		}
	} else if x.mod == 3 && what == 6 && !x.w16 && x.rmDW() == x.regDW() {
		v = value{base: constant}
	}
	if form == 3 {
		x.set(x.regDW(), v)
		return
	}
	x.writeRM(v, x.size())
}

// immediate handles the same with a constant.
func (x *amd64) immediate(op byte) {
	what := x.reg & 7
	n, size := 1, int64(1)
	if op == 0x81 {
		n = x.immSize()
	}
	if op != 0x80 {
		size = x.size()
	}
	if what == 7 {
		x.comparedRM(x.imm(n), size)
		return
	}
	if x.mod != 3 && x.imm(n) == 0 && 1<<what&unchanging != 0 {
		return // a barrier, with the prefix lock
	}
	if op == 0x80 {
		x.writeByte()
		return
	}
	v := value{}
	if x.mod == 3 && x.wide() {
		was := x.s.regs[x.rmDW()]
		switch what {
		case 0:
			v = was.plus(x.imm(n))
		case 5:
			v = was.plus(-x.imm(n))
		case 4:
			if k := x.imm(n); x.rmDW() == amdSP && k < 0 && k&(-k) == -k && k >= -4096 && was.base != unknown {
				x.s.realign()
				v = value{base: aligned}
			}
		case 1:
			if was.base != unknown && x.imm(n) == 0 {
				v = was
			}
		}
	}
	if what == 4 && v == (value{}) && x.mod == 3 {
		v = x.masked(x.imm(n))
	}
	x.writeRM(v, x.size())
}

// unchanging are the instructions that leave an operand as it is if the other is 0: add, or, sub and xor.
const unchanging = 1<<0 | 1<<1 | 1<<5 | 1<<6

// immSize returns the size of an immediate.
func (x *amd64) immSize() int {
	if x.w16 && !x.wide() {
		return 2
	}
	return 4
}

// masked returns the result of an "and" with a constant.
func (x *amd64) masked(n int64) value {
	if n < 0 || x.w16 {
		return value{}
	}
	return value{base: below, n: uint32(n)}
}

// compared notes a comparison of a register with a constant.
func (x *amd64) compared(reg uint8, n, size int64) {
	if n >= 0 {
		x.s.flags = compare{reg: int8(reg), n: uint32(n), size: uint8(size)}
	}
}

// comparedRM notes a comparison of the operand with a constant.
func (x *amd64) comparedRM(n, size int64) {
	switch {
	case x.mod == 3 && size > 1:
		x.compared(x.rmDW(), n, size)
	case x.mod == 3:
		if r := dwarfAMD64[x.rm]; r == x.byteReg(x.rm) { // the low byte
			x.compared(r, n, size)
		}
	case x.index < 0 && size >= 4 && n >= 0:
		if a := x.address(); a.onStack() {
			x.s.flags = compare{at: place{a.base, a.off}, reg: -1, n: uint32(n), size: uint8(size)}
		}
	}
}

// limitX86 returns what a branch by a condition says about the operand of a comparison.
func limitX86(condition byte, c compare) limit {
	switch {
	case c.size == 0:
		return limit{}
	case c.other != 0:
		if condition>>1 == 2 { // equal, not equal
			return limit{compare: c, taken: condition == 4}
		}
		return limit{}
	}
	switch condition {
	case 2: // below
		return limit{compare: c, less: 1, taken: true}
	case 3: // not below
		return limit{compare: c, less: 1}
	case 6: // below or equal
		return limit{compare: c, taken: true}
	case 7: // above
		return limit{compare: c}
	}
	return limit{}
}
