package symelf

import (
	"debug/elf"

	"github.com/symtool/symtool/symfmt"
)

// symbols makes .symtab: a null symbol, then FUNCs and PUBLICs in canonical order.
// Names go into strings.
type symbols struct {
	w       buffer
	strings *stringTable
	space   space
	code    []region
	first   uint32 // section number of code[0]
}

func (t *symbols) null(size int) { t.w.bytes(make([]byte, size)) }

// add appends a function.
func (t *symbols) add(rva symfmt.RVA, size uint64, name string) {
	w := &t.w
	value, info := t.space.base+uint64(rva), byte(elf.STB_GLOBAL)<<4|byte(elf.STT_FUNC)
	w.u32(t.strings.add(symfmt.CleanName(name, symfmt.NoName)))
	if w.ptr == 4 {
		w.u32(uint32(value))
		w.u32(uint32(size))
		w.u8(info, byte(elf.STV_DEFAULT))
		w.u16(uint16(t.section(rva)))
		return
	}
	w.u8(info, byte(elf.STV_DEFAULT))
	w.u16(uint16(t.section(rva)))
	w.u64(value)
	w.u64(size)
}

// section returns the number of the section that contains an address, or SHN_ABS.
func (t *symbols) section(rva symfmt.RVA) uint32 {
	lo, hi := 0, len(t.code)
	for hi-lo > 1 {
		mid := (lo + hi) / 2
		if t.code[mid].start <= uint64(rva) {
			lo = mid
		} else {
			hi = mid
		}
	}
	if uint64(rva) >= t.code[lo].end {
		return uint32(elf.SHN_ABS)
	}
	return t.first + uint32(lo)
}
