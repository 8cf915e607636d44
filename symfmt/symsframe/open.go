// Package symsframe connects SFrame with ELF files and with symbol files: it
// finds the section in a file, and turns its rows into STACK CFI and back.
package symsframe

import (
	"debug/elf"
	"errors"

	"github.com/symtool/symtool/internal/bin"
	elfobj "github.com/symtool/symtool/internal/object/elf"
	"github.com/symtool/symtool/sframe"
)

// ErrNone is for a file without SFrame.
var ErrNone = errors.New("no .sframe section")

// segmentType is PT_GNU_SFRAME.
const segmentType elf.ProgType = 0x6474e554

// Open decodes the SFrame section of a file, or without section headers its
// SFrame segment. Addresses are those of the file (elfobj.Section.Addr), not
// relative to its load base. A section that is there but empty has no headers.
// The error is ErrNone, or an *elfobj error or *sframe.Error with the file's
// path.
func Open(f *elfobj.File) (*sframe.Section, error) {
	data, o, err := contents(f)
	if err != nil {
		return nil, err
	}
	code := f.ExecRanges()
	o.Relocated = f.Type == elf.ET_REL
	o.Code = func(lo, hi uint64) bool { return within(code, lo, hi) }
	section, err := sframe.Decode(data, o)
	var at *bin.Error
	if errors.As(err, &at) {
		at.File = f.Path
	}
	return section, err
}

// contents finds the bytes, their name and their address.
func contents(f *elfobj.File) (data []byte, o sframe.Options, err error) {
	if s := f.Section(".sframe"); s != nil {
		if s.Type == elf.SHT_NOBITS {
			return nil, o, ErrNone // of a separate debug file; it is in the binary
		}
		data, err = s.Data()
		return data, sframe.Options{Name: s.Name, Addr: s.Addr}, err
	}
	if f.HasSections() {
		return nil, o, ErrNone // a program header without its section is a leftover
	}
	for _, p := range f.SegmentsOf(segmentType) {
		data, err = f.SectionOf(p, "PT_GNU_SFRAME", elf.SHT_PROGBITS).Data()
		return data, sframe.Options{Name: "PT_GNU_SFRAME", Addr: p.Addr, Segment: true}, err
	}
	return nil, o, ErrNone
}

// Context returns what sframe.Section.CheckIn can know of the file.
func Context(f *elfobj.File) sframe.Context {
	code := f.ExecRanges()
	return sframe.Context{
		Section: func(addr uint64) string {
			for _, s := range f.Sections {
				if s.Flags&elf.SHF_ALLOC != 0 && addr-s.Addr < s.FileSize {
					return s.Name
				}
			}
			return ""
		},
		Code:   func(lo, hi uint64) bool { return within(code, lo, hi) },
		Object: f.Type == elf.ET_REL,
	}
}

// within reports whether [lo, hi) lies in one of the ranges.
func within(ranges []elfobj.Range, lo, hi uint64) bool {
	for _, r := range ranges {
		if r.Start <= lo && lo <= hi && hi <= r.End {
			return true
		}
	}
	return false
}
