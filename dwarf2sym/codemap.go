package dwarf2sym

import (
	"sort"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// codeMap knows where the code of a file is. What lies elsewhere was dropped
// by the linker, which leaves 0, -1, -2 or (in .debug_ranges) 1 as its address.
// Code may really live at 0: then an executable section covers it.
type codeMap struct {
	base uint64 // address of RVA 0, modulo 2^64: it may lie below all addresses
	exec []object.Range

	starts []uint64 // of executable sections
}

func newCodeMap(f *object.File) *codeMap {
	return newCompanionMap(companion{File: f}, f.Base)
}

// rva converts an address of the file.
func (m *codeMap) rva(addr uint64) symfmt.RVA { return symfmt.RVA(addr - m.base) }

// addr is the inverse of rva.
func (m *codeMap) addr(rva symfmt.RVA) uint64 { return uint64(rva) + m.base }

// at returns the executable range that holds addr.
func (m *codeMap) at(addr uint64) (object.Range, bool) {
	i := sort.Search(len(m.exec), func(i int) bool { return m.exec[i].End > addr })
	if i == len(m.exec) || addr < m.exec[i].Start {
		return object.Range{}, false
	}
	return m.exec[i], true
}

// together reports whether the code from lo to hi is in one section, as far as
// sections are known.
func (m *codeMap) together(lo, hi uint64) bool {
	next := sort.Search(len(m.starts), func(i int) bool { return m.starts[i] > lo })
	return next == len(m.starts) || m.starts[next] > hi
}

// keep leaves of spans, in place, those that start in code, cut to where that
// code ends.
func (m *codeMap) keep(spans []span) []span {
	n := 0
	for _, s := range spans {
		if r, ok := m.at(s.lo); ok {
			spans[n] = span{s.lo, min(s.hi, r.End)}
			n++
		}
	}
	return spans[:n]
}

// size returns the number of bytes of code.
func (m *codeMap) size() (n uint64) {
	for _, r := range m.exec {
		n += r.End - r.Start
	}
	return n
}
