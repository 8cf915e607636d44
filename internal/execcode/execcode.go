// Package execcode distinguishes the code of a file that may be on a stack
// from its other executable bytes: the procedure linkage table, padding
// between functions, data, and the code of the C library's start-up files.
//
// All of this is derived from headers, symbol tables and the bytes themselves,
// not from call frame information.
package execcode

import (
	"cmp"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// Kind is the kind of a Part.
type Kind uint8

// The kinds of parts.
const (
	Code    Kind = iota
	Linkage      // stubs of the procedure linkage table, which jump to other modules
	Startup      // .init and .fini, from crti.o and crtn.o
)

// Part is a section with code or, in a file without section headers, a
// segment.
type Part struct {
	object.Range
	Name string
	Kind Kind
	// Segment means that the file has no section headers, so that the part also
	// contains what the linker put into the same segment as the code.
	Segment bool

	section *object.Section
}

// Parts returns the parts of a file that have code, sorted by address. Parts
// do not overlap: where sections do, the later one begins at the end of the
// earlier one.
func Parts(f *object.File) []Part {
	all := sections(f)
	if !f.HasSections() {
		all = segments(f)
	}
	slices.SortStableFunc(all, func(a, b Part) int { return cmp.Compare(a.Start, b.Start) })
	n, end := 0, uint64(0)
	for _, p := range all {
		if p.Start = max(p.Start, end); p.Start >= p.End {
			continue
		}
		end = p.End
		all[n] = p
		n++
	}
	return all[:n]
}

func sections(f *object.File) (all []Part) {
	for _, s := range f.Sections {
		if s.IsCode() && s.HasData() && s.Addr+s.FileSize > s.Addr && f.Executable(s.Addr) {
			all = append(all, Part{Range: object.Range{Start: s.Addr, End: s.Addr + s.FileSize}, Name: s.Name, Kind: kindOf(s.Name), section: s})
		}
	}
	return all
}

// kindOf recognizes the section names of GNU ld, LLD and mold, and those of
// macOS.
func kindOf(section string) Kind {
	switch {
	case section == ".init", section == ".fini":
		return Startup
	case strings.HasPrefix(section, ".plt"), section == ".iplt", section == ".glink", section == ".MIPS.stubs",
		section == "__stubs", section == "__stub_helper", section == "__objc_stubs", section == "__auth_stubs":
		return Linkage
	}
	return Code
}

func segments(f *object.File) (all []Part) {
	for _, s := range f.Segments {
		if s.Exec && s.HasData() && s.Addr+s.FileSize > s.Addr {
			all = append(all, Part{Range: object.Range{Start: s.Addr, End: s.Addr + s.FileSize}, Name: "the executable segment", Segment: true, section: s})
		}
	}
	return all
}

// Bytes returns the bytes of a part. They must not be changed, as
// object.Section.Data caches them.
func (p *Part) Bytes() ([]byte, error) { return p.bytes(p.section.Data()) }

// Map returns the same bytes. Where they are many, they are mapped from the file, as object.Section.Map does.
func (p *Part) Map() ([]byte, error) { return p.bytes(p.section.Map()) }

func (p *Part) bytes(data []byte, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	skip := p.Start - p.section.Addr
	return data[min(skip, uint64(len(data))):], nil
}
