package code

import "encoding/binary"

// labelsARM64 calls fn with the addresses that pairs of adrp and add, or adrp and ldr, have as operands. Those of adr are
// left out: they are where the targets of switches are counted from.
func labelsARM64(code []byte, addr uint64, fn func(label uint64, absolute bool)) {
	var pages [32]uint64
	for off := 0; off+4 <= len(code); off += 4 {
		w := binary.LittleEndian.Uint32(code[off:])
		x := arm64{w: w, addr: addr + uint64(off)}
		if w>>24&0x9f == 0x90 { // adrp
			pages[x.d()] = x.addr&^0xfff + uint64(x.signed(5, 19)<<14|int64(x.field(29, 2))<<12)
			continue
		}
		if page := pages[x.n()]; page != 0 {
			switch w >> 22 {
			case 0x91 << 2: // add
				fn(page+uint64(x.field(10, 12)), false)
			case 0xf9<<2 | 1: // ldr
				fn(page+uint64(x.field(10, 12))*8, false)
			}
		}
		pages[x.d()] = 0
	}
}

// stubsARM64 returns the offsets of the stubs in a procedure linkage table, which jump through a word that the linker
// fills: those of GNU ld, lld, gold and mold.
func stubsARM64(code []byte) (all []int) {
	const adrp, first, bti = 0x90000010, 0xa9bf7bf0, 0xd503245f // adrp x16, ...; stp x16, x30, [sp, #-16]!; bti c
	at := func(off int) uint32 {
		if off < 0 || off+4 > len(code) {
			return 0
		}
		return binary.LittleEndian.Uint32(code[off:])
	}
	for off := 0; off+4 <= len(code); off += 4 {
		w := at(off)
		if w&0x9f00001f == adrp && at(off-4) == first || w != first && w&0x9f00001f != adrp {
			continue
		}
		if at(off-4) == bti {
			off -= 4
		}
		all = append(all, off)
		if w = at(off); w == bti {
			off += 4
		}
	}
	return all
}
