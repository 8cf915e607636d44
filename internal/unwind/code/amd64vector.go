package code

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
	v := x.prefix()
	x.modrm(v.modrm)
	switch v.table {
	case 1:
		x.vector0F(v)
	case 2:
		x.vector38(v)
	case 3:
		x.vector3A(v)
	}
}

// vectorPrefix is what a prefix of VEX or EVEX says.
type vectorPrefix struct {
	table, opcode byte
	vvvv          byte // a register
	modrm         int  // the index of ModRM
	length        int64
	evex          bool
}

func (x *amd64) prefix() (v vectorPrefix) {
	c := x.code[x.i:]
	v.length = 16
	switch c[0] {
	case 0xc5:
		v.table, v.opcode, v.vvvv, v.modrm = 1, c[2], ^c[1]>>3&15, x.i+3
		x.rex = ^c[1] >> 7 & 1 << 2
		x.setPP(c[1] & 3)
		v.length <<= c[1] >> 2 & 1
	case 0xc4:
		v.table, v.opcode, v.vvvv, v.modrm = c[1]&31, c[3], ^c[2]>>3&15, x.i+4
		x.rex = ^c[1]>>5&7 | c[2]>>7<<3
		x.setPP(c[2] & 3)
		v.length <<= c[2] >> 2 & 1
	default:
		v.table, v.opcode, v.vvvv, v.modrm, v.evex = c[1]&7, c[4], ^c[2]>>3&15, x.i+5, true
		x.rex = ^c[1]>>5&7 | c[2]>>7<<3
		x.setPP(c[2] & 3)
		v.length <<= c[3] >> 5 & 3
	}
	return v
}

func (x *amd64) setPP(pp byte) {
	x.w16 = pp == 1
	x.rep = [4]byte{2: 0xf3, 3: 0xf2}[pp]
}

func (x *amd64) vector0F(v vectorPrefix) {
	switch v.opcode {
	case 0x2c, 0x2d, 0x50, 0xd7, 0xc5, 0x93, 0x78, 0x79:
		x.kill(x.regDW())
	case 0x7e:
		if x.rep == 0 {
			x.vectorStore(v, max(x.size(), 4))
		}
	case 0x11, 0x13, 0x17, 0x29, 0x2b, 0x7f, 0xd6, 0xe7:
		if x.mod != 3 {
			x.vectorStore(v, x.vectorSize(v.opcode, v.length))
		}
	case 0xae:
		x.saves()
	}
}

func (x *amd64) vector38(v vectorPrefix) {
	switch v.opcode {
	case 0xf2, 0xf5, 0xf7:
		x.kill(x.regDW())
		return
	case 0xf3:
		x.kill(dwarfAMD64[v.vvvv])
		return
	case 0xf6:
		x.kill(x.regDW(), dwarfAMD64[v.vvvv])
		return
	}
	masked := v.opcode == 0x2e || v.opcode == 0x2f || v.opcode == 0x8e && !v.evex
	compressed := v.evex && (v.opcode == 0x63 || v.opcode == 0x8a || v.opcode == 0x8b)
	narrowed := v.evex && x.rep == 0xf3 && v.opcode >= 0x10 && v.opcode < 0x36
	if x.mod != 3 && (masked || compressed || narrowed) {
		x.vectorStore(v, 0)
	}
}

func (x *amd64) vector3A(v vectorPrefix) {
	switch op := v.opcode; {
	case op == 0xf0:
		x.kill(x.regDW())
	case op >= 0x14 && op <= 0x17:
		n := int64(1) << (op & 3) // pextrb, pextrw, pextrd or pextrq, extractps
		if op >= 0x16 {
			n = max(x.size(), 4)
		}
		if x.mod == 3 {
			n = 8
		}
		x.vectorStore(v, n)
	case op >= 0x60 && op <= 0x63:
		x.kill(amdCX)
	case op == 0x19, op == 0x1b, op == 0x1d, op == 0x39, op == 0x3b:
		if x.mod != 3 {
			x.vectorStore(v, 0)
		}
	}
}

// vectorStore stores n bytes, or up to the length of a vector if n is 0. With EVEX, a displacement of one byte is in units of
// what is stored (SDM, volume 2, 2.7.5).
func (x *amd64) vectorStore(v vectorPrefix, n int64) {
	const longest = 64
	if v.evex && x.mod == 1 {
		if n == 0 { // it is not known by how much: all that it may be
			from, to := x.disp, x.disp*longest
			x.disp = min(from, to)
			x.writeRM(value{}, max(from, to)-x.disp+longest)
			return
		}
		x.disp *= n
	}
	if n == 0 {
		n = v.length
	}
	x.writeRM(value{}, n)
}
