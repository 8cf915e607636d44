package lint

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/extent"
	rules "github.com/symtool/symtool/lint/internal/rules/coverage"
	"github.com/symtool/symtool/symfmt"
)

// Map records where a module has functions, lines and call frame information. It contains the functions'
// names and the ranges of lines, so it takes memory: usually about a fifth of the size of the file. A run
// given one in Options.Map has completed it when it returns.
type Map struct {
	Functions []MappedFunc      // by address; only those with a size
	Publics   []MappedFunc      // by address; without a size
	Lines     []coverage.Extent // by address, joined
	CFI       []coverage.Extent // call frame information as Coverage counts it, by address, joined

	names []byte
}

// MappedFunc is a function or a public symbol in a Map, in 56 bytes.
type MappedFunc struct {
	coverage.Extent
	Bytes   uint64 // as in the file; the extent ends at the last address
	NoCFI   uint64 // of Bytes, those without call frame information, as in Coverage
	NoLines uint64 // of Bytes, those without lines of the function itself (not of inlined calls), as in Coverage
	Line    uint32 // in the file
	name    uint32 // offset in names
	long    uint32 // length in names
}

// maxMapName is the length in bytes at which a map cuts a function's name.
const maxMapName = 200

// maxMapNames is the maximum size of a map's names: further functions have none.
const maxMapNames = 1 << 30

func (m *Map) see(r *symfmt.Record) {
	switch r.Kind {
	case symfmt.KindFunc:
		if r.Size > 0 {
			m.Functions = append(m.Functions, m.named(r, r.Size))
		}
	case symfmt.KindLine:
		m.Lines = extent.Append(m.Lines, extent.Of(r.Line.RVA, uint64(r.Line.Size)))
	case symfmt.KindPublic:
		if n := len(m.Publics); n == cap(m.Publics) {
			m.Publics = slices.Grow(m.Publics, max(n, 1)) // append's smaller steps leave more garbage in total
		}
		m.Publics = append(m.Publics, m.named(r, 0))
	}
}

// named returns the function of a record, and stores its name.
func (m *Map) named(r *symfmt.Record, size uint64) MappedFunc {
	f := MappedFunc{Extent: extent.Of(r.RVA, size), Bytes: size, Line: uint32(r.Pos().Line)}
	if len(m.names) >= maxMapNames {
		return f
	}
	f.name = uint32(len(m.names))
	m.names = append(m.names, r.Name[:min(len(r.Name), maxMapName)]...)
	if len(r.Name) > maxMapName {
		m.names = append(m.names, "\u2026"...)
	}
	f.long = uint32(len(m.names)) - f.name
	return f
}

// Name returns a function's name, shortened if it is long.
func (m *Map) Name(f *MappedFunc) string { return string(m.names[f.name : f.name+f.long]) }

// finish sorts the pieces and adds what functions lack, from the facts.
func (m *Map) finish(p *check.Pass) {
	known := p.Covered()
	for _, r := range known {
		m.CFI = append(m.CFI, extent.Of(r.RVA, r.Size))
	}
	next := 0
	for _, fact := range p.Functions.All { // both are in file order
		if fact.Size == 0 || next == len(m.Functions) || m.Functions[next].Line != fact.Line {
			continue
		}
		m.Functions[next].NoLines = fact.Size - fact.Covered
		next++
	}
	for _, list := range [][]MappedFunc{m.Functions, m.Publics} {
		slices.SortStableFunc(list, func(a, b MappedFunc) int {
			return cmp.Or(cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.End, b.End))
		})
	}
	rules.Gaps(p, known, m.lacks)
	m.Lines, m.CFI = extent.Join(m.Lines), extent.Join(m.CFI)
}

// lacks adds the bytes that a function lacks.
func (m *Map) lacks(g *coverage.Gap) {
	if g.Kind != coverage.GapFunc {
		return
	}
	i, _ := slices.BinarySearchFunc(m.Functions, g.RVA, func(f MappedFunc, rva symfmt.RVA) int { return cmp.Compare(f.RVA, rva) })
	for ; i < len(m.Functions) && m.Functions[i].RVA == g.RVA; i++ {
		if f := &m.Functions[i]; f.Line == uint32(g.Line) {
			f.NoCFI += g.Missing
		}
	}
}
