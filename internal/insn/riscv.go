package insn

import "encoding/binary"

// RISCV64 decodes jal and jalr that keep the return address in ra, and c.jalr (The RISC-V Instruction Set Manual,
// volume I, "RV32/64G Instruction Set Listings"). It is a Step.
func RISCV64(code []byte, addr uint64) (size int, kind Kind, target uint64) {
	if len(code) < 2 {
		return 0, None, 0
	}
	if c := binary.LittleEndian.Uint16(code); c&3 != 3 {
		if c&0xf07f == 0x9002 && c>>7&31 != 0 {
			return 2, Indirect, 0
		}
		return 2, None, 0
	}
	if len(code) < 4 || code[0]&0x1c == 0x1c {
		return 0, None, 0
	}
	switch w := binary.LittleEndian.Uint32(code); w & 0xfff {
	case 0x0ef: // jal ra
		off := int64(int32(w))>>31<<20 | int64(w&0xff000|w>>9&0x800|w>>20&0x7fe)
		return 4, Direct, addr + uint64(off)
	case 0x0e7: // jalr ra
		return 4, Indirect, 0
	}
	return 4, None, 0
}
