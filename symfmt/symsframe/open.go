// Package symsframe connects SFrame with ELF files and with symbol files: it
// finds the section in a file, and turns its rows into STACK CFI and back.
package symsframe

import (
	"debug/elf"
	"errors"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/sframe"
)

// ErrNone is for a file without SFrame.
var ErrNone = errors.New("no .sframe section")

// Open decodes the SFrame section of a file. Addresses are those of the file
// (elfobj.Section.Addr), not relative to its load base. The error is ErrNone,
// or an *elfobj error or *sframe.Error with the file's path.
func Open(f *elfobj.File) (*sframe.Section, error) {
	s := f.Section(".sframe")
	if s == nil || !s.HasData() {
		return nil, ErrNone
	}
	data, err := s.Data()
	if err != nil {
		return nil, err
	}
	code := f.ExecRanges()
	section, err := sframe.Decode(data, sframe.Options{
		Name: s.Name, Addr: s.Addr, Relocated: f.Type == elf.ET_REL,
		Code: func(lo, hi uint64) bool { return within(code, lo, hi) },
	})
	var at *bin.Error
	if errors.As(err, &at) {
		at.File = f.Path
	}
	return section, err
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
