package elfobj

import (
	"debug/elf"
	"math"
)

// loadPage is the page to which LoadBase rounds. It is the page of most
// kernels. p_align is not: it says which pages the file can live with (64 KiB,
// 2 MiB), or 4 for "ld -N", while the kernel maps from the page of its own. The
// first segment of what linkers make by default begins at a multiple of either.
const loadPage = 4096

// LoadBase returns the address that RVAs count from: the lowest p_vaddr of the
// PT_LOAD segments, rounded down to its page; of ET_EXEC files too, because a
// minidump locates a module by the address of its first mapping. It is 0 without
// PT_LOAD, and objectBase for ET_REL.
func (f *File) LoadBase() uint64 {
	if f.Type == elf.ET_REL {
		return objectBase
	}
	base, found := uint64(math.MaxUint64), false
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.MemSize > 0 {
			base, found = min(base, p.Addr), true
		}
	}
	if !found {
		return 0
	}
	return base &^ (loadPage - 1)
}

// HeaderAddr returns the address that the first byte of the file, its ELF header, has
// in memory. Of a file of which no segment begins with it, it is LoadBase.
func (f *File) HeaderAddr() uint64 {
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.Offset < loadPage && p.Addr >= p.Offset {
			return p.Addr - p.Offset
		}
	}
	return f.LoadBase()
}

// IsFlat reports whether the offsets of the file are those of its memory, and the process could not
// write there. Behind writable data the kernel puts zeros up to the end of the page, over whatever
// the file has there.
func (f *File) IsFlat() bool {
	base, loads := f.HeaderAddr(), 0
	for _, p := range f.Segments {
		if p.Type != elf.PT_LOAD {
			continue
		}
		if loads++; p.Addr-base != p.Offset || p.Flags&elf.PF_W != 0 {
			return false
		}
	}
	return loads > 0
}
