// Package codemap distinguishes code from what the linker dropped, and converts addresses of a file to
// those of its module.
package codemap

import (
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Map knows where the code of a file is. Code elsewhere was dropped by the
// linker, which leaves 0, -1, -2 or (in .debug_ranges) 1 as its address. Real
// code may be at 0: then an executable section covers it.
type Map struct {
	Base uint64 // address of RVA 0, modulo 2^64: it may be below all addresses
	Exec []object.Range

	starts []uint64 // of executable sections
}

// Of returns the code of a binary.
func Of(f *object.File) *Map { return Moved(f, 0, f.Base) }

// Moved returns the code of f, a file of a binary whose load base is base. moved is added, modulo 2^64,
// to an address in f to get the address in the binary. Code below base is in none of the binary's
// segments and is ignored.
func Moved(f *object.File, moved, base uint64) *Map {
	m := &Map{Base: base - moved}
	for _, r := range f.CodeRanges() {
		m.starts = append(m.starts, r.Start)
	}
	for _, r := range f.ExecRanges() {
		size := r.End - r.Start
		start := r.Start + moved
		below0 := int64(base) >= 0 && int64(moved) < 0 && r.Start < -moved
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

// RVA converts an address of the file to an RVA of the module.
func (m *Map) RVA(addr uint64) symfmt.RVA { return symfmt.RVA(addr - m.Base) }

// Addr converts an RVA of the module to an address of the file.
func (m *Map) Addr(rva symfmt.RVA) uint64 { return uint64(rva) + m.Base }

// At returns the executable range that contains addr, an address of the file.
func (m *Map) At(addr uint64) (object.Range, bool) {
	i := sort.Search(len(m.Exec), func(i int) bool { return m.Exec[i].End > addr })
	if i == len(m.Exec) || addr < m.Exec[i].Start {
		return object.Range{}, false
	}
	return m.Exec[i], true
}

// Together reports whether the code from lo to hi is in one section, as far as sections are known.
func (m *Map) Together(lo, hi uint64) bool {
	next := sort.Search(len(m.starts), func(i int) bool { return m.starts[i] > lo })
	return next == len(m.starts) || m.starts[next] > hi
}

// Keep keeps, in place, the spans that start in code, cut at the end of that code.
func (m *Map) Keep(spans []dwarf.Span) []dwarf.Span {
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
func (m *Map) Within(spans []dwarf.Span) (in []dwarf.Span) {
	for _, s := range spans {
		i := sort.Search(len(m.Exec), func(i int) bool { return m.Exec[i].End > s.Lo })
		for ; i < len(m.Exec) && m.Exec[i].Start < s.Hi; i++ {
			in = append(in, dwarf.Span{Lo: max(s.Lo, m.Exec[i].Start), Hi: min(s.Hi, m.Exec[i].End)})
		}
	}
	return in
}

// Touches reports whether there is code in [lo, hi].
func (m *Map) Touches(lo, hi uint64) bool {
	i := sort.Search(len(m.Exec), func(i int) bool { return m.Exec[i].End > lo })
	return i < len(m.Exec) && m.Exec[i].Start <= hi
}

// Size returns the number of bytes of code.
func (m *Map) Size() (n uint64) {
	for _, r := range m.Exec {
		n += r.End - r.Start
	}
	return n
}
