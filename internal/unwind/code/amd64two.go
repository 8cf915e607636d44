package code

// two handles the instructions whose opcode has two bytes or more, but for those of vectors with a prefix of their own.
func (x *amd64) two() (flow, uint64) {
	op := x.code[x.i+1]
	switch {
	case op>>4 == 8:
		x.in.limit = limitX86(op&15, x.flags)
		return branch, x.relative(4)
	case op == 0x0b, op == 0xb9:
		return stop, 0
	case op == 0x05:
		if x.leavesStack() {
			return stop, 0
		}
		x.kill(amdCX, 11, amdAX)
		return next, 0
	case op == 0xa2:
		x.kill(amdAX, amdBX, amdCX, amdDX)
		return next, 0
	case op == 0x31, op == 0x32, op == 0x33:
		x.kill(amdAX, amdDX, amdCX)
		return next, 0
	case op>>3 == 0xc8>>3:
		x.kill(dwarfAMD64[op&7|x.rex&1<<3])
		return next, 0
	case op == 0xa0, op == 0xa8:
		x.push(value{})
		return next, 0
	case op == 0xa1, op == 0xa9:
		x.pop()
		return next, 0
	case op == 0x38, op == 0x3a:
		x.modrm(x.i + 3)
		third := x.code[x.i+2]
		switch {
		case op == 0x38 && third == 0xf1 && x.rep == 0 && x.mod != 3: // movbe
			x.writeRM(value{}, 8)
		case op == 0x38 && (third == 0xf0 || third == 0xf1):
			x.kill(x.regDW())
		case op == 0x38 && third == 0xf6:
			x.kill(x.regDW())
		case op == 0x3a && third >= 0x14 && third <= 0x17:
			x.writeRM(value{}, 8)
		case op == 0x3a && (third == 0x60 || third == 0x61 || third == 0x62 || third == 0x63):
			x.kill(amdCX)
		}
		return next, 0
	}
	x.modrm(x.i + 2)
	switch {
	case op == 0xb6:
		x.set(x.regDW(), x.zeroExtended(1))
	case op == 0xb7:
		x.set(x.regDW(), x.zeroExtended(2))
	case op == 0xae && x.rep == 0xf3 && x.mod == 3, op == 0x1e && x.rep == 0xf3 && x.mod == 3: // of segments and shadow stacks
		x.kill(x.rmDW())
	case op == 0x01:
		x.kill(amdAX, amdDX, amdCX)
	case op>>4 == 4, op == 0xaf, op == 0xbe, op == 0xbf, op == 0xb8, op == 0xbc, op == 0xbd, op == 0x02, op == 0x03, op == 0xb2, op == 0xb4, op == 0xb5,
		op == 0x2c, op == 0x2d, op == 0x50, op == 0xd7, op == 0xc5:
		if op == 0x50 || op == 0xd7 || op == 0xc5 || op != 0x2c && op != 0x2d || x.rep != 0 {
			x.kill(x.regDW())
		}
	case op>>4 == 9:
		x.writeByte()
	case op == 0xab, op == 0xb3, op == 0xbb, op == 0xa4, op == 0xa5, op == 0xac, op == 0xad, op == 0xba && x.reg&7 != 4, op == 0xc3:
		x.writeRM(value{}, 8)
	case op == 0xb0:
		x.writeByte()
		x.kill(amdAX)
	case op == 0xb1:
		x.writeRM(value{}, 8)
		x.kill(amdAX)
	case op == 0xc0:
		x.writeByte()
		x.kill(x.byteReg(x.reg))
	case op == 0xc1:
		x.writeRM(value{}, 8)
		x.kill(x.regDW())
	case op == 0xae:
		x.saves()
	case op == 0xf7: // maskmovdqu
		if to := x.s.regs[amdDI]; to.onStack() {
			x.s.store(place{to.base, to.off}, value{}, 16)
		}
	case op == 0xc7:
		if x.mod == 3 {
			x.writeRM(value{}, 8)
		} else if x.reg&7 == 1 {
			x.writeRM(value{}, 16)
			x.kill(amdAX, amdDX)
		} else if x.reg&7 >= 3 { // xsavec
			x.writeRM(value{}, 576)
		}
	case op == 0x7e && x.rep == 0, op == 0x20, op == 0x21, op == 0x00:
		x.writeRM(value{}, x.size())
	case op == 0x11, op == 0x13, op == 0x17, op == 0x29, op == 0x2b, op == 0x7f, op == 0xd6, op == 0xe7:
		if x.mod != 3 {
			x.writeRM(value{}, x.vectorSize(op, 16))
		}
	}
	return next, 0
}

// leavesStack reports whether a system call may go on with another stack: that of a child, or of what a signal interrupted.
func (x *amd64) leavesStack() bool {
	switch x.s.regs[amdAX] {
	case value{base: constant, off: sysClone}:
		return x.s.regs[amdSI] != value{base: constant} // as in fork
	case value{base: constant, off: sysClone3}, value{base: constant, off: sysSigreturn}:
		return true
	}
	return false
}

// saves handles the instructions that store the states of units.
func (x *amd64) saves() {
	switch x.reg & 7 {
	case 0: // fxsave
		x.writeRM(value{}, 512)
	case 3: // stmxcsr
		x.writeRM(value{}, 4)
	case 4, 6: // xsave, xsaveopt
		x.writeRM(value{}, 576)
	}
}

// zeroExtended returns the value of an operand of one or two bytes.
func (x *amd64) zeroExtended(size int64) value {
	if x.w16 && !x.wide() {
		return value{}
	}
	if x.mod == 3 && size == 1 {
		return x.cut(x.s.regs[x.byteReg(x.rm)], 1)
	}
	return x.small(size)
}
