package code

import "encoding/binary"

// labelsRISCV64 calls fn with the addresses that pairs of auipc and addi, or auipc and ld, have as operands.
func labelsRISCV64(code []byte, addr uint64, fn func(label uint64, absolute bool)) {
	var pages [32]uint64
	for off := 0; off+2 <= len(code); {
		x := riscv64{w: uint32(binary.LittleEndian.Uint16(code[off:])), addr: addr + uint64(off)}
		if x.w&3 != 3 {
			if x.w = expandRISCV64(uint16(x.w)); x.w != 0 {
				pages[x.d()] = 0
			}
			off += 2
			continue
		}
		if off+4 > len(code) {
			return
		}
		x.w = binary.LittleEndian.Uint32(code[off:])
		off += 4
		if x.w&0x7f == 0x17 { // auipc
			pages[x.d()] = x.addr + uint64(x.immU())
			continue
		}
		if page := pages[x.n()]; page != 0 && (x.w&0x707f == 0x13 || x.w&0x707f == 0x3003) { // addi, ld
			fn(page+uint64(x.immI()), false)
		}
		pages[x.d()] = 0
	}
}

// stubsRISCV64 returns the offsets of the stubs in a procedure linkage table, which jump through a word that the linker fills
// (RISC-V ELF psABI, "Procedure Linkage Table").
func stubsRISCV64(code []byte) (all []int) {
	const header, stub, size = 0x397, 0xe17, 16 // auipc t2, ...; auipc t3, ...
	for off := 0; off+size <= len(code); off += size {
		if w := binary.LittleEndian.Uint32(code[off:]) & 0xfff; w == header || w == stub {
			all = append(all, off)
		}
	}
	return all
}
