package elfobj

import (
	"cmp"
	"debug/elf"
	"math"
	"slices"
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

// Range is [Start, End), in addresses of the file.
type Range struct{ Start, End uint64 }

// ExecRanges returns where code can be: allocated sections with SHF_EXECINSTR,
// and without such sections the PT_LOAD segments with PF_X. Sections come first
// because a segment also covers headers and read-only data between them. The
// ranges are sorted and do not touch; they must not be changed.
func (f *File) ExecRanges() []Range {
	f.execOnce.Do(func() {
		f.exec = merge(f.execSections())
		if len(f.exec) == 0 && f.Type != elf.ET_REL {
			f.exec = merge(f.execSegments())
		}
	})
	return f.exec
}

// HasCode reports whether the file holds code. Files with debug information often
// only have the headers of sections with code.
func (f *File) HasCode() bool {
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	for _, s := range f.Sections {
		if s.Flags&code == code && s.HasData() {
			return true
		}
	}
	return len(f.Sections) == 0 && slices.ContainsFunc(f.Segments, func(p Segment) bool {
		return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.FileSize > 0
	})
}

// CodeRanges is like ExecRanges, with each section, or segment, on its own: what begins
// in one does not go on in the next. The ranges are sorted; where sections overlap, so
// do they.
func (f *File) CodeRanges() []Range {
	all := f.execSections()
	if len(all) == 0 && f.Type != elf.ET_REL {
		all = f.execSegments()
	}
	all = slices.DeleteFunc(all, func(r Range) bool { return r.Start == r.End })
	slices.SortFunc(all, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	return all
}

func (f *File) execSections() []Range {
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	var out []Range
	for _, s := range f.Sections {
		if s.Flags&code == code && s.Type != elf.SHT_NULL && !s.unplaced {
			out = append(out, rangeOf(s.Addr, s.FileSize))
		}
	}
	return out
}

func (f *File) execSegments() []Range {
	var out []Range
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			out = append(out, rangeOf(p.Addr, p.MemSize))
		}
	}
	return out
}

// rangeOf returns a range that is truncated at the end of the address space.
func rangeOf(addr, size uint64) Range {
	return Range{addr, addr + min(size, math.MaxUint64-addr)}
}

func merge(in []Range) []Range {
	slices.SortFunc(in, func(a, b Range) int {
		if a.Start < b.Start {
			return -1
		}
		if a.Start > b.Start {
			return 1
		}
		return 0
	})
	var out []Range
	for _, r := range in {
		switch n := len(out); {
		case r.Start == r.End:
		case n > 0 && r.Start <= out[n-1].End:
			out[n-1].End = max(out[n-1].End, r.End)
		default:
			out = append(out, r)
		}
	}
	return out
}

// Executable reports whether there can be code at addr.
func (f *File) Executable(addr uint64) bool {
	ranges := f.ExecRanges()
	i, found := slices.BinarySearchFunc(ranges, addr, func(r Range, a uint64) int {
		switch {
		case r.End <= a:
			return -1
		case r.Start > a:
			return 1
		}
		return 0
	})
	return found && i < len(ranges)
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
