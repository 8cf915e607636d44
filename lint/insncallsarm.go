package lint

import (
	"debug/elf"
	"encoding/binary"

	elfobj "github.com/symtool/symtool/internal/object/elf"
)

// callARM64 reads BL, and BLR with its forms for pointer authentication (Arm
// Architecture Reference Manual, C4.1.66).
func callARM64(code []byte, addr uint64) (size int, kind callKind, target uint64) {
	if len(code) < 4 {
		return 0, callNone, 0
	}
	in := binary.LittleEndian.Uint32(code)
	switch {
	case in>>26 == 0b100101:
		return 4, callDirect, addr + offsetARM64(in, 0, 26)
	case in&0xfefff000 == 0xd63f0000 && blrARM64(in):
		return 4, callIndirect, 0
	}
	return 4, callNone, 0
}

// blrARM64 separates blr, blraa, blrab, blraaz and blrabz from reserved encodings.
func blrARM64(in uint32) bool {
	switch in >> 10 & 3 {
	case 0:
		return in>>24&1 == 0 && in&31 == 0
	case 2, 3:
		return in>>24&1 == 1 || in&31 == 31
	}
	return false
}

// callARM reads BL and BLX of the A32 instruction set (Arm Architecture Reference
// Manual for A-profile, F4.1).
func callARM(code []byte, addr uint64) (size int, kind callKind, target uint64) {
	if len(code) < 4 {
		return 0, callNone, 0
	}
	in := binary.LittleEndian.Uint32(code)
	off := uint64(int64(int32(in<<8)>>6)) + 8
	switch {
	case in>>25 == 0b1111101:
		return 4, callDirect, (addr + off + uint64(in>>23&2)) & 0xffffffff
	case in>>24&15 == 0b1011 && in>>28 != 15:
		return 4, callDirect, (addr + off) & 0xffffffff
	case in&0x0ffffff0 == 0x012fff30 && in>>28 != 15:
		return 4, callIndirect, 0
	}
	return 4, callNone, 0
}

// callThumb reads BL and BLX of the T32 instruction set (F3.1).
func callThumb(code []byte, addr uint64) (size int, kind callKind, target uint64) {
	if len(code) < 2 {
		return 0, callNone, 0
	}
	one := uint32(binary.LittleEndian.Uint16(code))
	if one>>11 < 0b11101 {
		if one&0xff80 == 0x4780 && (one&7 == 0 || one&7 == 4) {
			return 2, callIndirect, 0 // blx, blxns
		}
		return 2, callNone, 0
	}
	if len(code) < 4 {
		return 0, callNone, 0
	}
	two := uint32(binary.LittleEndian.Uint16(code[2:]))
	if one>>11 != 0b11110 || two>>14 != 3 || two>>12&1 == 0 && two&1 != 0 {
		return 4, callNone, 0
	}
	sign := one >> 10 & 1
	i1, i2 := ^(two>>13^sign)&1, ^(two>>11^sign)&1
	off := int32(sign<<31|i1<<30|i2<<29|one&0x3ff<<19|two&0x7ff<<8) >> 7
	from := addr + 4
	if two>>12&1 == 0 {
		from &^= 3 // blx
	}
	return 4, callDirect, (from + uint64(int64(off))) & 0xffffffff
}

// modesARM are the places where A32, T32 and data begin. Without mapping symbols the functions'
// addresses decide, if all agree.
func (b *elfBinary) modesARM() []codeMode {
	modes := b.mapping(nil, map[string]callStep{"$a": callARM, "$t": callThumb, "$d": nil})
	if len(modes) > 0 {
		return modes
	}
	var seen [2]bool
	for _, table := range [...]elfobj.SymTable{elfobj.SymTab, elfobj.DynSym} {
		b.problem("symbols", b.Symbols(table, func(s *elfobj.Symbol) {
			if s.Type == elf.STT_FUNC && s.Shndx != uint16(elf.SHN_UNDEF) && b.Executable(s.Value&^1) {
				seen[s.Value&1] = true
			}
		}))
	}
	switch seen {
	case [2]bool{true, false}:
		return []codeMode{{0, callARM}}
	case [2]bool{false, true}:
		return []codeMode{{0, callThumb}}
	}
	return []codeMode{{}}
}
