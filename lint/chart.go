package lint

import (
	"cmp"
	"slices"
)

// The coverage map of a page is drawn from a few thousand columns, whatever the
// size of the module.
const (
	chartColumns = 2048
	// maxPieces bounds the pieces of the axis, between which addresses that have
	// nothing are left out.
	maxPieces = 128
	// A hole of less than this part of the code, one in so many, stays in the axis,
	// and so does padding between functions, in bytes.
	holePart = 100
	minHole  = 64
	// chartGaps and chartWorst bound the lists of a page: the largest are there.
	chartGaps  = 3000
	chartWorst = 200
)

// chart is a Map in columns. Shares are in thousandths of the column's bytes.
type chart struct {
	Pieces  []chartPiece `json:"pieces"`
	Step    uint64       `json:"step"` // bytes of a column
	Func    []uint16     `json:"func"`
	Lines   []uint16     `json:"lines"`
	CFI     []uint16     `json:"cfi"`
	NoLines []uint16     `json:"no_lines"` // of functions
	NoCFI   []uint16     `json:"no_cfi"`   // of functions
	NoFunc  []uint16     `json:"no_func"`  // has call frame information, but is in no function
	Gaps    []chartGap   `json:"gaps"`     // by address
	More    int          `json:"more"`     // gaps that are not there, all smaller
	Worst   []chartFunc  `json:"worst"`
}

// chartPiece is a piece of the axis.
type chartPiece struct {
	RVA  string `json:"rva"`
	End  string `json:"end"`
	Size uint64 `json:"size"`
}

// chartGap is a piece of a function that lacks something.
type chartGap struct {
	RVA      string `json:"rva"`
	End      string `json:"end"`
	At       uint64 `json:"at"` // on the axis
	Size     uint64 `json:"size"`
	What     string `json:"what"`
	Function string `json:"function,omitempty"`
	Line     uint32 `json:"line,omitempty"`

	place Extent
}

// chartFunc is a function with what it lacks, in bytes.
type chartFunc struct {
	Name    string `json:"name"`
	RVA     string `json:"rva"`
	Size    uint64 `json:"size"`
	NoCFI   uint64 `json:"no_cfi"`
	NoLines uint64 `json:"no_lines"`
	Line    uint32 `json:"line"`
}

// newChart draws a map.
func newChart(m *Map) *chart {
	funcs := make([]Extent, 0, len(m.Functions))
	for i := range m.Functions {
		funcs = append(funcs, m.Functions[i].Extent)
	}
	funcs = joined(funcs)
	a := newAxis(joined(slices.Concat(funcs, m.Lines, m.CFI)))
	c := &chart{Pieces: []chartPiece{}, Step: a.step, Gaps: []chartGap{}, Worst: []chartFunc{}}
	for _, p := range a.pieces {
		c.Pieces = append(c.Pieces, chartPiece{hexAddr(uint64(p.RVA)), hexAddr(uint64(p.End)), p.Size()})
	}
	c.Func, c.Lines, c.CFI = a.columns(funcs), a.columns(m.Lines), a.columns(m.CFI)
	c.NoLines, c.NoCFI = a.columns(without(funcs, m.Lines)), a.columns(without(funcs, m.CFI))
	outside := without(m.CFI, funcs)
	c.NoFunc = a.columns(outside)
	c.gaps(m, outside)
	for i := range c.Gaps {
		g := &c.Gaps[i]
		g.At = a.at(uint64(g.place.RVA))
	}
	c.worst(m)
	return c
}

// without are the pieces of list that other does not have; both are joined.
func without(list, other []Extent) (out []Extent) {
	for _, e := range list {
		missing(e, other, func(gap Extent) { out = append(out, gap) })
	}
	return out
}

// gaps lists what functions lack, and what functions are lacking.
func (c *chart) gaps(m *Map, outside []Extent) {
	add := func(e Extent, what string, f *MappedFunc) {
		g := chartGap{RVA: hexAddr(uint64(e.RVA)), End: hexAddr(uint64(e.End)), Size: e.Size(), What: what, place: e}
		if f != nil {
			g.Function, g.Line = m.Name(f), f.Line
		}
		c.Gaps = append(c.Gaps, g)
		if len(c.Gaps) >= 4*chartGaps {
			c.largest()
		}
	}
	for _, e := range outside {
		add(e, "no FUNC", nil)
	}
	var last Extent
	for i := range m.Functions {
		f := &m.Functions[i]
		if f.Extent == last {
			continue // the same code by another name
		}
		last = f.Extent
		var noCFI, noLines []Extent
		missing(f.Extent, m.CFI, func(gap Extent) { noCFI = append(noCFI, gap) })
		missing(f.Extent, m.Lines, func(gap Extent) { noLines = append(noLines, gap) })
		if slices.Equal(noCFI, noLines) {
			for _, e := range noCFI {
				add(e, "no CFI, no lines", f)
			}
			continue
		}
		for _, e := range noCFI {
			add(e, "no CFI", f)
		}
		for _, e := range noLines {
			add(e, "no lines", f)
		}
	}
	c.largest()
	slices.SortStableFunc(c.Gaps, func(a, b chartGap) int { return cmp.Compare(a.place.RVA, b.place.RVA) })
}

// largest keeps the largest gaps, of those of one size the first.
func (c *chart) largest() {
	if len(c.Gaps) <= chartGaps {
		return
	}
	slices.SortStableFunc(c.Gaps, func(a, b chartGap) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.place.RVA, b.place.RVA))
	})
	c.More += len(c.Gaps) - chartGaps
	c.Gaps = c.Gaps[:chartGaps]
}

// worst lists the functions that lack most, call frame information first.
func (c *chart) worst(m *Map) {
	type lack struct {
		cfi, lines uint64
		i          int
	}
	var list []lack
	order := func(a, b lack) int {
		return cmp.Or(cmp.Compare(b.cfi, a.cfi), cmp.Compare(b.lines, a.lines), cmp.Compare(a.i, b.i))
	}
	for i := range m.Functions {
		e := m.Functions[i].Extent
		if l := (lack{lacks(e, m.CFI), lacks(e, m.Lines), i}); l.cfi+l.lines > 0 {
			list = append(list, l)
		}
	}
	slices.SortFunc(list, order)
	for _, l := range list[:min(len(list), chartWorst)] {
		f := &m.Functions[l.i]
		c.Worst = append(c.Worst, chartFunc{m.Name(f), hexAddr(uint64(f.RVA)), f.Size(), l.cfi, l.lines, f.Line})
	}
}
