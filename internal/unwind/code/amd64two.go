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
		case op == 0x38 && (third == 0xf0 || third == 0xf1):
			x.kill(x.regDW())
			if third == 0xf1 && x.rep == 0 && x.mod != 3 {
				x.writeRM(value{}, 8)
			}
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
	case op == 0x01:
		x.kill(amdAX, amdDX, amdCX)
	case op>>4 == 4, op == 0xaf, op == 0xbe, op == 0xbf, op == 0xb8, op == 0xbc, op == 0xbd, op == 0x02, op == 0x03,
		op == 0x2c, op == 0x2d, op == 0x50, op == 0xd7, op == 0xc5:
		if op == 0x50 || op == 0xd7 || op == 0xc5 || op != 0x2c && op != 0x2d || x.rep != 0 {
			x.kill(x.regDW())
		}
	case op>>4 == 9:
		x.writeByte()
	case op == 0xab, op == 0xb3, op == 0xbb, op == 0xa4, op == 0xa5, op == 0xac, op == 0xad, op == 0xba && x.reg&7 != 4, op == 0xc3:
		x.writeRM(value{}, 8)
	case op == 0xb0, op == 0xb1:
		x.kill(amdAX)
		x.writeRM(value{}, 8)
	case op == 0xc0, op == 0xc1:
		x.kill(x.regDW())
		x.writeRM(value{}, 8)
	case op == 0xc7:
		if x.mod == 3 {
			x.writeRM(value{}, 8)
		} else if x.reg&7 == 1 {
			x.kill(amdAX, amdDX)
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

// zeroExtended returns the value of an operand of one or two bytes.
func (x *amd64) zeroExtended(size int64) value {
	if x.mod == 3 && size == 1 {
		return x.cut(x.s.regs[x.byteReg(x.rm)], 1)
	}
	return x.small(size)
}

// vectorSize returns the number of bytes that an instruction of vectors stores.
func (x *amd64) vectorSize(op byte, length int64) int64 {
	switch {
	case op == 0x11 && x.rep == 0xf3:
		return 4
	case op == 0x11 && x.rep == 0xf2, op == 0x13, op == 0x17, op == 0xd6:
		return 8
	case (op == 0x7f || op == 0xe7) && !x.w16 && x.rep == 0: // MMX
		return 8
	}
	return length
}

// vector handles VEX and EVEX instructions, few of which write general registers.
func (x *amd64) vector() {
	c := x.code[x.i:]
	var mapped, opcode, vvvv byte
	at, length := 0, int64(16)
	x.rex = 0
	switch c[0] {
	case 0xc5:
		mapped, opcode, vvvv, at = 1, c[2], ^c[1]>>3&15, 3
		x.rex = ^c[1] >> 7 & 1 << 2
		x.setPP(c[1] & 3)
		length <<= c[1] >> 2 & 1
	case 0xc4:
		mapped, opcode, vvvv, at = c[1]&31, c[3], ^c[2]>>3&15, 4
		x.rex = ^c[1]>>5&7 | c[2]>>7<<3
		x.setPP(c[2] & 3)
		length <<= c[2] >> 2 & 1
	default:
		mapped, opcode, vvvv, at = c[1]&7, c[4], ^c[2]>>3&15, 5
		x.rex = ^c[1]>>5&7 | c[2]>>7<<3
		x.setPP(c[2] & 3)
		length <<= c[3] >> 5 & 3
	}
	x.modrm(x.i + at)
	switch mapped {
	case 1:
		switch opcode {
		case 0x2c, 0x2d, 0x50, 0xd7, 0xc5, 0x93, 0x78, 0x79:
			x.kill(x.regDW())
		case 0x7e:
			if x.rep == 0 {
				n := max(x.size(), 4)
				if c[0] == 0x62 && x.mod == 1 {
					x.disp *= n
				}
				x.writeRM(value{}, n)
			}
		case 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7:
			if x.mod != 3 {
				n := x.vectorSize(opcode, length)
				if c[0] == 0x62 && x.mod == 1 {
					x.disp *= n // SDM, volume 2, 2.7.5: compressed
				}
				x.writeRM(value{}, n)
			}
		}
	case 2:
		switch opcode {
		case 0xf2, 0xf5, 0xf7:
			x.kill(x.regDW())
		case 0xf3:
			x.kill(dwarfAMD64[vvvv])
		case 0xf6:
			x.kill(x.regDW(), dwarfAMD64[vvvv])
		}
	case 3:
		switch {
		case opcode == 0xf0:
			x.kill(x.regDW())
		case opcode >= 0x14 && opcode <= 0x17:
			x.writeRM(value{}, 8)
		case opcode >= 0x60 && opcode <= 0x63:
			x.kill(amdCX)
		}
	}
}

func (x *amd64) setPP(pp byte) {
	x.w16 = pp == 1
	x.rep = [4]byte{2: 0xf3, 3: 0xf2}[pp]
}
