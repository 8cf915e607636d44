package lint

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Map is where in a module there are functions, lines and call frame information. Unlike Facts it
// keeps the names of functions and the ranges of lines, so it takes more memory: about a fifth of
// the size of a usual file. A run fills it if its Rule is among the rules; it is complete when that
// run ends.
type Map struct {
	Functions []MappedFunc // by address, of those with a size
	Publics   []MappedFunc // by address; they have no size
	Lines     []Extent     // by address, joined
	CFI       []Extent     // what Coverage takes for call frame information, by address, joined

	names []byte
}

// MappedFunc is a function or a public symbol of a Map: 56 bytes.
type MappedFunc struct {
	Extent
	Bytes   uint64 // as the file says; the extent ends at the last address
	NoCFI   uint64 // of Bytes, those without call frame information: as in Coverage
	NoLines uint64 // of Bytes, those without lines of the function's own: as in Coverage
	Line    uint32 // of the file
	name    uint32 // where it begins in names
	long    uint32 // its length
}

// Extent is a piece of the module: [RVA, End). A piece that would go beyond the last
// address ends there.
type Extent struct {
	RVA, End symfmt.RVA
}

func extent(rva symfmt.RVA, size uint64) Extent {
	end := rva + symfmt.RVA(size)
	if end < rva {
		end = ^symfmt.RVA(0)
	}
	return Extent{rva, end}
}

// Size returns the size in bytes.
func (e Extent) Size() uint64 { return uint64(e.End - e.RVA) }

// maxMapName is how much of a function's name a map keeps, in bytes.
const maxMapName = 200

// maxMapNames limits the names of a map: functions beyond it have none.
const maxMapNames = 1 << 30

// Rule returns a rule that fills the map and reports nothing.
func (m *Map) Rule() *Rule {
	return &Rule{
		On: []symfmt.Kind{symfmt.KindFunc, symfmt.KindLine, symfmt.KindPublic},
		Check: func(p *Pass) (func(*symfmt.Record), func()) {
			return m.see, func() { m.finish(p) }
		},
	}
}

func (m *Map) see(r *symfmt.Record) {
	switch r.Kind {
	case symfmt.KindFunc:
		if r.Size > 0 {
			m.Functions = append(m.Functions, m.named(r, r.Size))
		}
	case symfmt.KindLine:
		m.Lines = appendExtent(m.Lines, extent(r.Line.RVA, uint64(r.Line.Size)))
	case symfmt.KindPublic:
		m.Publics = append(m.Publics, m.named(r, 0))
	}
}

// named adds the name of a record.
func (m *Map) named(r *symfmt.Record, size uint64) MappedFunc {
	f := MappedFunc{Extent: extent(r.RVA, size), Bytes: size, Line: uint32(r.Pos().Line)}
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

// appendExtent adds a piece, joined with the last if they touch.
func appendExtent(list []Extent, e Extent) []Extent {
	if n := len(list); n > 0 && e.RVA >= list[n-1].RVA && e.RVA <= list[n-1].End {
		list[n-1].End = max(list[n-1].End, e.End)
		return list
	}
	if e.RVA == e.End {
		return list
	}
	return append(list, e)
}

// finish sorts the pieces, and takes from the facts what functions lack.
func (m *Map) finish(p *Pass) {
	known := p.known()
	for _, r := range known {
		m.CFI = append(m.CFI, extent(r.RVA, r.Size))
	}
	next := 0
	for _, fact := range p.Functions.All { // both are in order of the file
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
	if !p.unreadable {
		p.codeShare(known, m.lacks)
	}
	m.Lines, m.CFI = joined(m.Lines), joined(m.CFI)
}

// lacks sets what a function lacks.
func (m *Map) lacks(g *Gap) {
	if g.Kind != GapFunc {
		return
	}
	i, _ := slices.BinarySearchFunc(m.Functions, g.RVA, func(f MappedFunc, rva symfmt.RVA) int { return cmp.Compare(f.RVA, rva) })
	for ; i < len(m.Functions) && m.Functions[i].RVA == g.RVA; i++ {
		if f := &m.Functions[i]; f.Line == uint32(g.Line) {
			f.NoCFI += g.Missing
		}
	}
}

// joined sorts pieces, and joins those that touch or overlap.
func joined(list []Extent) []Extent {
	slices.SortFunc(list, func(a, b Extent) int { return cmp.Compare(a.RVA, b.RVA) })
	out := list[:0]
	for _, e := range list {
		out = appendExtent(out, e)
	}
	return out
}

// missing calls fn for the pieces of e outside of list, which is sorted and joined.
func missing(e Extent, list []Extent, fn func(Extent)) {
	i, _ := slices.BinarySearchFunc(list, e.RVA, func(x Extent, rva symfmt.RVA) int {
		if x.End <= rva {
			return -1
		}
		return 1
	})
	at := e.RVA
	for ; i < len(list) && list[i].RVA < e.End; i++ {
		if list[i].RVA > at {
			fn(Extent{at, list[i].RVA})
		}
		at = max(at, list[i].End)
	}
	if at < e.End {
		fn(Extent{at, e.End})
	}
}
