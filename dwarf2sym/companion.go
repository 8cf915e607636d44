package dwarf2sym

import (
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// companion is a file that describes the code of a binary: the binary, its
// separate debug file, the file in its .gnu_debugdata.
type companion struct {
	*object.File

	// moved is added, modulo 2^64, to an address in this file to get the one in
	// the binary: the addresses of a binary that was prelinked, or moved by
	// "objcopy --change-addresses", differ from those of its debug file. RVAs are
	// always the binary's, which is what is loaded.
	moved uint64

	mini bool // from .gnu_debugdata
}

// findCompanions fills in r.companions: the binary, then its debug file, if
// any, then, if neither has a .symtab, the file in .gnu_debugdata.
func (r *reader) findCompanions() error {
	r.companions = []companion{{File: r.file}}
	symtab := r.file.HasSymbols(object.Symtab)
	if r.debug != nil {
		moved, err := r.file.Moved(r.debug)
		if err != nil {
			return err
		}
		r.companions = append(r.companions, companion{File: r.debug, moved: moved})
		symtab = symtab || r.debug.HasSymbols(object.Symtab)
	}
	if symtab {
		return nil
	}
	mini, err := r.file.Embedded()
	if mini == nil {
		if err != nil {
			r.problem(problemFile, "the symbols in it", err)
		}
		return nil
	}
	moved, err := r.file.Moved(mini)
	if err != nil {
		r.problem(problemFile, "the symbols in it", err)
		return nil
	}
	r.companions = append(r.companions, companion{mini, moved, true})
	return nil
}

// described returns the file whose debug information is read.
func (r *reader) described() companion {
	for _, c := range r.companions[1:] {
		if c.File == r.debug && c.HasDWARF() {
			return c
		}
	}
	return r.companions[0]
}

// newCompanionMap returns the code of a file, as RVAs of the binary, whose load base is base.
// Code that would be below it is in no segment of the binary.
func newCompanionMap(c companion, base uint64) *codeMap {
	m := &codeMap{base: base - c.moved}
	for _, r := range c.CodeRanges() {
		m.starts = append(m.starts, r.Start)
	}
	for _, r := range c.ExecRanges() {
		size := r.End - r.Start
		start := r.Start + c.moved
		below0 := int64(base) >= 0 && int64(c.moved) < 0 && r.Start < -c.moved
		if below0 || start < base {
			lead := min(base-start, size)
			r.Start, size = r.Start+lead, size-lead
		}
		if size > 0 {
			m.exec = append(m.exec, r)
		}
	}
	return m
}

// codeMap knows where the code of a file is. Code elsewhere was dropped by the
// linker, which leaves 0, -1, -2 or (in .debug_ranges) 1 as its address. Real
// code may be at 0: then an executable section covers it.
type codeMap struct {
	base uint64 // address of RVA 0, modulo 2^64: it may be below all addresses
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

// at returns the executable range that contains addr.
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

// keep keeps, in place, the spans that start in code, cut at the end of that
// code.
func (m *codeMap) keep(spans []dwarf.Span) []dwarf.Span {
	n := 0
	for _, s := range spans {
		if r, ok := m.at(s.Lo); ok {
			spans[n] = dwarf.Span{Lo: s.Lo, Hi: min(s.Hi, r.End)}
			n++
		}
	}
	return spans[:n]
}

// within returns the parts of spans that are code.
func (m *codeMap) within(spans []dwarf.Span) (in []dwarf.Span) {
	for _, s := range spans {
		i := sort.Search(len(m.exec), func(i int) bool { return m.exec[i].End > s.Lo })
		for ; i < len(m.exec) && m.exec[i].Start < s.Hi; i++ {
			in = append(in, dwarf.Span{Lo: max(s.Lo, m.exec[i].Start), Hi: min(s.Hi, m.exec[i].End)})
		}
	}
	return in
}

// touches reports whether there is code in [lo, hi].
func (m *codeMap) touches(lo, hi uint64) bool {
	i := sort.Search(len(m.exec), func(i int) bool { return m.exec[i].End > lo })
	return i < len(m.exec) && m.exec[i].Start <= hi
}

// size returns the number of bytes of code.
func (m *codeMap) size() (n uint64) {
	for _, r := range m.exec {
		n += r.End - r.Start
	}
	return n
}
