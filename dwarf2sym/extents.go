package dwarf2sym

import (
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Extents says where the code of a binary is and where its PUBLICs end, for which
// symbol files have no place.
type Extents struct {
	// Base is the address that RVAs count from, in the addresses that the linker
	// gave. It is 0 for position-independent code and for relocatable files.
	Base uint64

	// Code has the sections with code or, in a file without sections, the segments,
	// sorted by address.
	Code []symfmt.Range

	// Publics has the PUBLICs whose ELF symbols have a size, sorted by address.
	Publics []symfmt.Range
}

func (e *Extents) addPublic(s *elfPub) {
	if s.Size > 0 {
		e.Publics = append(e.Publics, symfmt.Range{RVA: s.RVA, Size: s.Size})
	}
}

func (e *Extents) addCode(f *object.File) {
	base := f.Base
	if f.Kind != object.Relocatable {
		e.Base = base
	}
	for _, r := range f.CodeRanges() {
		if r.Start >= base {
			e.Code = append(e.Code, symfmt.Range{RVA: symfmt.RVA(r.Start - base), Size: r.End - r.Start})
		}
	}
}
