package elfobj

import (
	"bytes"
	"debug/elf"
	"math"

	"github.com/symtool/symtool/internal/object"
)

// loadPage is the page size to which LoadBase rounds, which most kernels use. p_align
// is not usable for this: it is the largest page size for which the file is laid out
// (64 KiB, 2 MiB), or 4 with "ld -N", while the kernel maps whole pages of its own
// size. By default, linkers place the first segment at a multiple of both.
const loadPage = 4096

// LoadBase returns the address to which RVAs are relative: the p_vaddr of the first PT_LOAD
// segment, or of a lower one with code, rounded down to a multiple of loadPage. This applies
// to ET_EXEC files, too, because a minidump locates a module by the address of its first
// mapping. It is 0 without PT_LOAD, and objectBase for ET_REL.
//
// The first segment is the lowest one in files that follow the gABI. In Linux's vmlinux for
// x86-64 before 6.15, the first segment is the one with the code; the segment of
// per-processor data comes later, at address 0, where the data never are. Breakpad always
// counts from the first segment.
func (f *File) LoadBase() uint64 {
	if f.Type == elf.ET_REL {
		return objectBase
	}
	base, found := uint64(math.MaxUint64), false
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.MemSize > 0 && (!found || p.Flags&elf.PF_X != 0) {
			base, found = min(base, p.Addr), true
		}
	}
	if !found {
		return 0
	}
	return base &^ (loadPage - 1)
}

// HeaderAddr returns the address in memory of the first byte of the file, its ELF header.
// If no segment begins with it, HeaderAddr returns LoadBase.
func (f *File) HeaderAddr() uint64 {
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.Offset < loadPage && p.Addr >= p.Offset {
			return p.Addr - p.Offset
		}
	}
	return f.LoadBase()
}

// LoadEnd returns the address after the last segment in memory, or HeaderAddr if there is no segment. It ignores
// segments that would wrap around.
func (f *File) LoadEnd() uint64 {
	end := f.HeaderAddr()
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.Addr+p.MemSize >= p.Addr {
			end = max(end, p.Addr+p.MemSize)
		}
	}
	return end
}

// LoadSize returns the size in memory of the program or library whose first bytes are head, according to its program
// headers, which must be in head. It reports false if head is not the start of one.
func LoadSize(head []byte) (size uint64, ok bool) {
	if !bytes.HasPrefix(head, []byte(Magic)) {
		return 0, false
	}
	lim := object.DefaultLimits()
	lim.Image = true
	f, err := NewFile(bytes.NewReader(head), int64(len(head)), "", lim)
	if err != nil || f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return 0, false
	}
	return f.LoadEnd() - f.HeaderAddr(), true
}

// IsFlat reports whether offsets in the file equal offsets in memory, and the process could not write
// there. (The kernel fills the last page of writable data with zeros, over the bytes of the file.)
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

// AddrOf returns the address of the byte at an offset in the file. It reports false if the byte is not loaded. As
// loaders map whole pages, several segments may contain the byte; the one with code takes precedence.
func (f *File) AddrOf(offset uint64) (addr uint64, ok bool) {
	for _, p := range f.SegmentsOf(elf.PT_LOAD) {
		if offset < p.Offset || offset-p.Offset >= p.FileSize {
			continue
		}
		if isCode := p.Flags&elf.PF_X != 0; isCode || !ok {
			addr, ok = p.Addr+(offset-p.Offset), true
		}
	}
	return addr, ok
}

// CodeOffset returns the offset in the file at which the loader's mapping of the first segment with code begins,
// which is the start of a page.
func (f *File) CodeOffset() (offset uint64, ok bool) {
	for _, p := range f.SegmentsOf(elf.PT_LOAD) {
		if p.Flags&elf.PF_X != 0 {
			return p.Offset &^ (mapPage - 1), true
		}
	}
	return 0, false
}

// mapPage is the page size of the kernels whose logs contain offsets in mappings.
const mapPage = 4 << 10
