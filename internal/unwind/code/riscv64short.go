package code

// expandRISCV64 returns the instruction of 4 bytes that one of 2 bytes stands for, or 0 if it is reserved (The RISC-V
// Instruction Set Manual, volume I, "C" Standard Extension for Compressed Instructions).
func expandRISCV64(c uint16) uint32 {
	switch c & 3 {
	case 0:
		return expandFirst(uint32(c))
	case 1:
		return expandSecond(uint32(c))
	}
	return expandThird(uint32(c))
}

// The formats of instructions.
func encodeI(op, d, f3, n uint32, imm uint32) uint32 { return imm<<20 | n<<15 | f3<<12 | d<<7 | op }
func encodeR(op, d, f3, n, m, f7 uint32) uint32 {
	return f7<<25 | m<<20 | n<<15 | f3<<12 | d<<7 | op
}
func encodeS(op, f3, n, m, imm uint32) uint32 {
	return imm>>5<<25 | m<<20 | n<<15 | f3<<12 | imm&31<<7 | op
}

// expandFirst handles the first quadrant: loads and stores of 8 registers.
func expandFirst(c uint32) uint32 {
	d, n := c>>2&7+8, c>>7&7+8
	four := c>>7&0x38 | c>>4&4 | c<<1&0x40 // an offset in units of 4
	eight := c>>7&0x38 | c<<1&0xc0
	switch c >> 13 {
	case 0: // c.addi4spn
		imm := c>>7&0x30 | c>>1&0x3c0 | c>>4&4 | c>>2&8
		if imm == 0 {
			return 0
		}
		return encodeI(0x13, d, 0, riscvSP, imm)
	case 1:
		return encodeI(0x07, d, 3, n, eight)
	case 2:
		return encodeI(0x03, d, 2, n, four)
	case 3:
		return encodeI(0x03, d, 3, n, eight)
	case 4:
		return expandBytes(c, d, n)
	case 5:
		return encodeS(0x27, 3, n, d, eight)
	case 6:
		return encodeS(0x23, 2, n, d, four)
	}
	return encodeS(0x23, 3, n, d, eight)
}

// expandBytes handles loads and stores of one or two bytes (extension Zcb).
func expandBytes(c, d, n uint32) uint32 {
	imm, half := c>>6&1|c>>4&2, c>>4&2
	switch c >> 10 & 7 {
	case 0:
		return encodeI(0x03, d, 4, n, imm)
	case 1:
		if c>>6&1 == 0 {
			return encodeI(0x03, d, 5, n, half)
		}
		return encodeI(0x03, d, 1, n, half)
	case 2:
		return encodeS(0x23, 0, n, d, imm)
	case 3:
		if c>>6&1 == 0 {
			return encodeS(0x23, 1, n, d, half)
		}
	}
	return 0
}

// expandSecond handles the second quadrant: constants, arithmetic and branches.
func expandSecond(c uint32) uint32 {
	d := c >> 7 & 31
	imm := c>>2&31 | -(c>>12&1)<<5
	switch c >> 13 {
	case 0: // c.addi
		return encodeI(0x13, d, 0, d, imm)
	case 1: // c.addiw
		if d == 0 {
			return 0
		}
		return encodeI(0x1b, d, 0, d, imm)
	case 2: // c.li
		return encodeI(0x13, d, 0, 0, imm)
	case 3:
		if d == riscvSP { // c.addi16sp
			imm = c>>2&0x10 | c<<3&0x20 | c<<1&0x40 | c<<4&0x180 | -(c>>12&1)<<9
			if imm == 0 {
				return 0
			}
			return encodeI(0x13, d, 0, d, imm)
		}
		if imm == 0 {
			return 0
		}
		return imm<<12 | d<<7 | 0x37 // c.lui
	case 4:
		return expandArithmetic(c, imm)
	case 5: // c.j
		off := c>>2&0xe | c>>7&0x10 | c<<3&0x20 | c>>1&0x40 | c<<1&0x80 | c>>1&0x300 | c<<2&0x400 | -(c>>12&1)<<11
		return off>>20<<31 | off&0x7fe<<20 | off&0x800<<9 | off&0xff000 | 0x6f
	}
	off := c>>2&6 | c>>7&0x18 | c<<3&0x20 | c<<1&0xc0 | -(c>>12&1)<<8
	n, f3 := c>>7&7+8, c>>13&1 // beq, bne
	return off>>12<<31 | off&0x7e0<<20 | n<<15 | f3<<12 | off&0x1e<<7 | off&0x800>>4 | 0x63
}

func expandArithmetic(c, imm uint32) uint32 {
	d, m := c>>7&7+8, c>>2&7+8
	switch c >> 10 & 3 {
	case 0: // c.srli
		return encodeI(0x13, d, 5, d, imm&63)
	case 1: // c.srai
		return encodeI(0x13, d, 5, d, imm&63|0x400)
	case 2: // c.andi
		return encodeI(0x13, d, 7, d, imm)
	}
	switch c>>12&1<<2 | c>>5&3 {
	case 0:
		return encodeR(0x33, d, 0, d, m, 0x20) // c.sub
	case 1:
		return encodeR(0x33, d, 4, d, m, 0) // c.xor
	case 2:
		return encodeR(0x33, d, 6, d, m, 0) // c.or
	case 3:
		return encodeR(0x33, d, 7, d, m, 0) // c.and
	case 4:
		return encodeR(0x3b, d, 0, d, m, 0x20) // c.subw
	case 5:
		return encodeR(0x3b, d, 0, d, m, 0) // c.addw
	case 6:
		return encodeR(0x33, d, 0, d, m, 1) // c.mul
	}
	switch c >> 2 & 7 { // extension Zcb
	case 0:
		return encodeI(0x13, d, 7, d, 0xff) // c.zext.b
	case 4:
		return encodeR(0x3b, d, 0, d, 0, 4) // c.zext.w
	case 1, 2, 3, 5: // c.sext.b, c.zext.h, c.sext.h, c.not
		return encodeI(0x13, d, 4, d, 0xfff)
	}
	return 0
}

// expandThird handles the third quadrant: the stack, moves and jumps through registers.
func expandThird(c uint32) uint32 {
	d, m := c>>7&31, c>>2&31
	loaded := c>>7&0x20 | c>>2&0x18 | c<<4&0x1c0
	stored := c>>7&0x38 | c>>1&0x1c0
	switch c >> 13 {
	case 0: // c.slli
		return encodeI(0x13, d, 1, d, c>>7&0x20|m)
	case 1:
		return encodeI(0x07, d, 3, riscvSP, loaded)
	case 2:
		if d == 0 {
			return 0
		}
		return encodeI(0x03, d, 2, riscvSP, c>>7&0x20|c>>2&0x1c|c<<4&0xc0)
	case 3:
		if d == 0 {
			return 0
		}
		return encodeI(0x03, d, 3, riscvSP, loaded)
	case 4:
		return expandMoves(c, d, m)
	case 5:
		return encodeS(0x27, 3, riscvSP, m, stored)
	case 6:
		return encodeS(0x23, 2, riscvSP, m, c>>7&0x3c|c>>1&0xc0)
	}
	return encodeS(0x23, 3, riscvSP, m, stored)
}

func expandMoves(c, d, m uint32) uint32 {
	linked := c >> 12 & 1
	switch {
	case m != 0 && linked == 0: // c.mv
		return encodeR(0x33, d, 0, 0, m, 0)
	case m != 0: // c.add
		return encodeR(0x33, d, 0, d, m, 0)
	case d != 0: // c.jr, c.jalr
		return encodeI(0x67, linked, 0, d, 0)
	case linked != 0: // c.ebreak
		return 0x00100073
	}
	return 0
}
