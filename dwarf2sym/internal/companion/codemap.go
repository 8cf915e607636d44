package companion

import (
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// CodeMap knows where the code of a file is. Code elsewhere was dropped by the
// linker, which leaves 0, -1, -2 or (in .debug_ranges) 1 as its address. Real
// code may be at 0: then an executable section covers it.
type CodeMap struct {
	Base uint64 // address of RVA 0, modulo 2^64: it may be below all addresses
	Exec []object.Range

	starts []uint64 // of executable sections
}

// CodeMap returns the code of the file, as RVAs of the binary, whose load base is base.
// Code that would be below it is in no segment of the binary.
func (c File) CodeMap(base uint64) *CodeMap {
	m := &CodeMap{Base: base - c.Moved}
	for _, r := range c.CodeRanges() {
		m.starts = append(m.starts, r.Start)
	}
	for _, r := range c.ExecRanges() {
		size := r.End - r.Start
		start := r.Start + c.Moved
		below0 := int64(base) >= 0 && int64(c.Moved) < 0 && r.Start < -c.Moved
		if below0 || start < base {
			lead := min(base-start, size)
			r.Start, size = r.Start+lead, size-lead
		}
		if size > 0 {
			m.Exec = append(m.Exec, r)
		}
	}
	return m
}

// NewCodeMap returns the code of a binary.
func NewCodeMap(f *object.File) *CodeMap {
	return File{File: f}.CodeMap(f.Base)
}

// RVA converts an address of the file.
func (m *CodeMap) RVA(addr uint64) symfmt.RVA { return symfmt.RVA(addr - m.Base) }

// Addr is the inverse of RVA.
func (m *CodeMap) Addr(rva symfmt.RVA) uint64 { return uint64(rva) + m.Base }

// At returns the executable range that contains addr.
func (m *CodeMap) At(addr uint64) (object.Range, bool) {
	i := sort.Search(len(m.Exec), func(i int) bool { return m.Exec[i].End > addr })
	if i == len(m.Exec) || addr < m.Exec[i].Start {
		return object.Range{}, false
	}
	return m.Exec[i], true
}

// Together reports whether the code from lo to hi is in one section, as far as
// sections are known.
func (m *CodeMap) Together(lo, hi uint64) bool {
	next := sort.Search(len(m.starts), func(i int) bool { return m.starts[i] > lo })
	return next == len(m.starts) || m.starts[next] > hi
}

// Keep keeps, in place, the spans that start in code, cut at the end of that
// code.
func (m *CodeMap) Keep(spans []dwarf.Span) []dwarf.Span {
	n := 0
	for _, s := range spans {
		if r, ok := m.At(s.Lo); ok {
			spans[n] = dwarf.Span{Lo: s.Lo, Hi: min(s.Hi, r.End)}
			n++
		}
	}
	return spans[:n]
}

// Within returns the parts of spans that are code.
func (m *CodeMap) Within(spans []dwarf.Span) (in []dwarf.Span) {
	for _, s := range spans {
		i := sort.Search(len(m.Exec), func(i int) bool { return m.Exec[i].End > s.Lo })
		for ; i < len(m.Exec) && m.Exec[i].Start < s.Hi; i++ {
			in = append(in, dwarf.Span{Lo: max(s.Lo, m.Exec[i].Start), Hi: min(s.Hi, m.Exec[i].End)})
		}
	}
	return in
}

// Touches reports whether there is code in [lo, hi].
func (m *CodeMap) Touches(lo, hi uint64) bool {
	i := sort.Search(len(m.Exec), func(i int) bool { return m.Exec[i].End > lo })
	return i < len(m.Exec) && m.Exec[i].Start <= hi
}

// Size returns the number of bytes of code.
func (m *CodeMap) Size() (n uint64) {
	for _, r := range m.Exec {
		n += r.End - r.Start
	}
	return n
}
