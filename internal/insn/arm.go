package insn

import (
	"encoding/binary"
)

// ARM64 decodes BL, and BLR with its variants for pointer authentication (Arm
// Architecture Reference Manual, C4.1.66). It is a Step.
func ARM64(code []byte, addr uint64) (size int, kind Kind, target uint64) {
	if len(code) < 4 {
		return 0, None, 0
	}
	in := binary.LittleEndian.Uint32(code)
	switch {
	case in>>26 == 0b100101:
		return 4, Direct, addr + OffsetARM64(in, 0, 26)
	case in&0xfefff000 == 0xd63f0000 && blrARM64(in):
		return 4, Indirect, 0
	}
	return 4, None, 0
}

// blrARM64 reports whether an instruction is blr, blraa, blrab, blraaz or
// blrabz, and not a reserved encoding.
func blrARM64(in uint32) bool {
	switch in >> 10 & 3 {
	case 0:
		return in>>24&1 == 0 && in&31 == 0
	case 2, 3:
		return in>>24&1 == 1 || in&31 == 31
	}
	return false
}

// ARM decodes BL and BLX of the A32 instruction set (Arm Architecture
// Reference Manual for A-profile, F4.1). It is a Step.
func ARM(code []byte, addr uint64) (size int, kind Kind, target uint64) {
	if len(code) < 4 {
		return 0, None, 0
	}
	in := binary.LittleEndian.Uint32(code)
	off := uint64(int64(int32(in<<8)>>6)) + 8
	switch {
	case in>>25 == 0b1111101:
		return 4, Direct, (addr + off + uint64(in>>23&2)) & 0xffffffff
	case in>>24&15 == 0b1011 && in>>28 != 15:
		return 4, Direct, (addr + off) & 0xffffffff
	case in&0x0ffffff0 == 0x012fff30 && in>>28 != 15:
		return 4, Indirect, 0
	}
	return 4, None, 0
}

// Thumb decodes BL and BLX of the T32 instruction set (F3.1). It is a Step.
func Thumb(code []byte, addr uint64) (size int, kind Kind, target uint64) {
	if len(code) < 2 {
		return 0, None, 0
	}
	one := uint32(binary.LittleEndian.Uint16(code))
	if one>>11 < 0b11101 {
		if one&0xff80 == 0x4780 && (one&7 == 0 || one&7 == 4) {
			return 2, Indirect, 0 // blx, blxns
		}
		return 2, None, 0
	}
	if len(code) < 4 {
		return 0, None, 0
	}
	two := uint32(binary.LittleEndian.Uint16(code[2:]))
	if one>>11 != 0b11110 || two>>14 != 3 || two>>12&1 == 0 && two&1 != 0 {
		return 4, None, 0
	}
	sign := one >> 10 & 1
	i1, i2 := ^(two>>13^sign)&1, ^(two>>11^sign)&1
	off := int32(sign<<31|i1<<30|i2<<29|one&0x3ff<<19|two&0x7ff<<8) >> 7
	from := addr + 4
	if two>>12&1 == 0 {
		from &^= 3 // blx
	}
	return 4, Direct, (from + uint64(int64(off))) & 0xffffffff
}

// OffsetARM64 returns the offset in bytes of a branch. The instruction has it
// in words, in the n bits from bit at on.
func OffsetARM64(in uint32, at, n uint) uint64 {
	return uint64(int64(int32(in<<(32-at-n))>>(32-n)) * 4)
}
