package follow

// otherAMD64 returns the length of an instruction that x86asm does not know, if it belongs to a
// newer extension with a ModRM byte at a known place. None of these changes the stack pointer;
// registers that may be written are forgotten. For any other encoding the size is 0 and the kind
// stepBad.
func otherAMD64(code []byte, s *frameState) step {
	x := x86Prefix{code: code}
	if !x.read() {
		return step{kind: stepBad}
	}
	n := x.pos + x.modRM()
	if n == x.pos {
		return step{kind: stepBad}
	}
	if n += x.immediate(); n > 15 || n > len(code) {
		return step{kind: stepBad}
	}
	// Bit manipulation writes the registers in ModRM or the prefix.
	s.known &^= (1<<x.reg | 1<<x.rm | 1<<x.extra) &^ (1 << rsp)
	for _, r := range [...]int{x.reg, x.rm, x.extra} {
		s.saves.forget(saveOfAMD64[r&15])
	}
	return step{size: n}
}

// x86Prefix is the start of an instruction: prefixes and opcode.
type x86Prefix struct {
	code  []byte
	pos   int // offset of ModRM
	table int // 1: 0F, 2: 0F 38, 3: 0F 3A; 4 to 7 for EVEX only
	op    byte
	vex   bool
	bits  byte // REX.R in bit 2, REX.X in bit 1, REX.B in bit 0

	reg, rm, extra int // registers in ModRM and VEX.vvvv
}

func (x *x86Prefix) at(i int) byte {
	if i < len(x.code) {
		return x.code[i]
	}
	return 0
}

// read reads the prefixes and the opcode. It returns false for instructions that x86asm should
// know.
func (x *x86Prefix) read() bool {
	i := 0
	for ; i < 14; i++ {
		switch x.at(i) {
		case 0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65, 0x67, 0xf0:
			continue
		}
		break
	}
	x.extra = rsp
	switch b := x.at(i); b {
	case 0xc5:
		x.vex, x.table, x.bits = true, 1, ^x.at(i+1)>>7<<2
		x.extra = int(^x.at(i+1) >> 3 & 15)
		i += 2
	case 0xc4, 0x62:
		x.vex, x.table, x.bits = true, int(x.at(i+1)&0x1f), ^x.at(i+1)>>5
		x.extra = int(^x.at(i+2) >> 3 & 15)
		if i += 3; b == 0x62 {
			x.table &= 7
			i++
		}
	default:
		if b>>4 == 4 {
			x.bits = b & 7
			i++
		}
		if x.at(i) != 0x0f {
			return false
		}
		x.table = 1
		switch i++; x.at(i) {
		case 0x38:
			x.table = 2
			i++
		case 0x3a:
			x.table = 3
			i++
		}
	}
	x.op, x.pos = x.at(i), i+1
	return x.table >= 1 && x.table <= 6 && x.table != 4 && i < len(x.code)
}

// modRM returns the length of ModRM, SIB and displacement. It returns 0 if there are none, or if
// the opcode is not known to have them.
func (x *x86Prefix) modRM() int {
	if x.table == 1 && !x.vex && (x.op > 0x01 && x.op < 0x0d || x.op >= 0x80 && x.op < 0x90 || x.op >= 0xc8 && x.op < 0xd0) || x.pos >= len(x.code) {
		return 0
	}
	if x.vex && x.table == 1 && x.op == 0x77 {
		return 0 // vzeroupper
	}
	m := x.code[x.pos]
	mod, rm := m>>6, m&7
	x.reg, x.rm = int(m>>3&7|x.bits>>2&1<<3), rsp
	n := 1
	if mod == 3 {
		x.rm = int(rm | x.bits&1<<3)
		return n
	}
	if rm == 4 {
		if mod == 0 && x.at(x.pos+1)&7 == 5 {
			n += 4
		}
		n++
	}
	switch {
	case mod == 1:
		n++
	case mod == 2, mod == 0 && rm == 5:
		n += 4
	}
	return n
}

// immediate returns the length of the immediate operand.
func (x *x86Prefix) immediate() int {
	if x.table == 3 {
		return 1
	}
	if x.table == 1 {
		switch x.op {
		case 0x0f: // 3DNow, whose last byte is the operation
			if !x.vex {
				return 1
			}
		case 0x70, 0x71, 0x72, 0x73, 0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6:
			return 1
		}
	}
	return 0
}
