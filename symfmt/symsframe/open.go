// Package symsframe connects SFrame with ELF files and symbol files: Open finds
// and decodes the section of a file, AppendCFI turns its rows into STACK CFI,
// and FromCFI does the reverse.
package symsframe

import (
	"cmp"
	"errors"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
)

// ErrNone means that a file has no SFrame section.
var ErrNone = errors.New("no .sframe section")

// Open decodes the SFrame section of a file or, without section headers, its
// SFrame segment. Addresses are the file's, not relative to its load base. An
// empty section has no headers. The error is ErrNone, or an *damage.Error with
// the file's path.
func Open(file symfmt.Binary) (*sframe.Section, error) {
	f, err := object.Of(file)
	if err != nil {
		return nil, err
	}
	data, o, err := contents(f)
	if err != nil {
		return nil, err
	}
	code := f.ExecRanges()
	o.Relocated = f.Kind == object.Relocatable
	o.Code = func(lo, hi uint64) bool { return within(code, lo, hi) }
	section, err := sframe.Decode(data, o)
	var at *bin.Error
	if errors.As(err, &at) {
		at.File = f.Path
	}
	return section, err
}

// contents finds the section's bytes, name and address.
func contents(f *object.File) (data []byte, o sframe.Options, err error) {
	s := f.Section(".sframe")
	if s == nil {
		s, err = f.Located(".sframe")
		o.Segment = true
	}
	if err != nil || s == nil || s.Stripped() { // a separate debug file has it stripped; it is in the binary
		return nil, o, cmp.Or(err, ErrNone)
	}
	o.Name, o.Addr = s.Name, s.Addr
	data, err = s.Data()
	return data, o, err
}

// Context returns what the file can contribute to sframe.Section.Check.
func Context(file symfmt.Binary) (sframe.Context, error) {
	f, err := object.Of(file)
	if err != nil {
		return sframe.Context{}, err
	}
	code := f.ExecRanges()
	return sframe.Context{
		Section: func(addr uint64) string {
			for _, s := range f.Sections {
				if s.Alloc && s.Holds(addr) {
					return s.Name
				}
			}
			return ""
		},
		Code:   func(lo, hi uint64) bool { return within(code, lo, hi) },
		Object: f.Kind == object.Relocatable,
	}, nil
}

// within reports whether [lo, hi) lies in one of the ranges.
func within(ranges []object.Range, lo, hi uint64) bool {
	for _, r := range ranges {
		if r.Start <= lo && lo <= hi && hi <= r.End {
			return true
		}
	}
	return false
}
