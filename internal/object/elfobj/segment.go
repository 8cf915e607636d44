package elfobj

import "debug/elf"

// A file may have lost its section headers: "llvm-strip --strip-sections" and
// sstrip remove them, and loaders do not need them. What is loaded is in segments.

// HasSections reports whether the file has section headers.
func (f *File) HasSections() bool { return len(f.Sections) > 0 }

// SegmentsOf returns the program headers of a type that have bytes.
func (f *File) SegmentsOf(t elf.ProgType) (all []Segment) {
	for _, p := range f.Segments {
		if p.Type == t && p.FileSize > 0 {
			all = append(all, p)
		}
	}
	return all
}

// LoadedFrom returns the part of a PT_LOAD segment that begins with the byte at
// addr.
func (f *File) LoadedFrom(addr uint64) (Segment, bool) {
	for _, p := range f.SegmentsOf(elf.PT_LOAD) {
		if skip := addr - p.Addr; addr >= p.Addr && skip < p.FileSize && p.Offset+skip >= p.Offset {
			p.Addr, p.Offset, p.FileSize, p.MemSize = addr, p.Offset+skip, p.FileSize-skip, p.MemSize-min(skip, p.MemSize)
			return p, true
		}
	}
	return Segment{}, false
}

// SectionOf makes a section from a segment's bytes, for files whose section
// headers do not include it.
func (f *File) SectionOf(p Segment, name string, t elf.SectionType) *Section {
	h := elf.SectionHeader{Name: name, Type: t, Flags: elf.SHF_ALLOC, Addr: p.Addr, Offset: p.Offset, FileSize: p.FileSize}
	if p.Flags&elf.PF_X != 0 {
		h.Flags |= elf.SHF_EXECINSTR
	}
	return newSection(f, 0, h)
}
