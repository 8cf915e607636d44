package report

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

const (
	// maxPieces is the maximum number of pieces of the axis. Empty addresses between the pieces are
	// left out.
	maxPieces = 128
	// A hole smaller than this fraction of the code stays in the axis; so does padding between
	// functions, if it is smaller than minHole bytes.
	holePart = 100
	minHole  = 64
)

// chart is a Map as shown on a page: a picture and tables that need no script, and data from which
// a script draws details.
type chart struct {
	File    string // ID of the file on the page
	Picture *picture
	Gaps    []chartGap // the largest first
	AllGaps int
	Worst   []chartFunc
	AllLack int // number of functions that lack something
	Data    *chartData
}

// chartGap is a piece of the module that lacks call frame information or lines.
type chartGap struct {
	Place
	What     string
	Function string
	Line     uint32 // line of the function in the file, or 0
}

// chartFunc is a function with the bytes that it lacks.
type chartFunc struct {
	Place
	Name    string
	NoCFI   coverage.Share // here Covered is the number of missing bytes
	NoLines coverage.Share
	Line    uint32
}

// Place is a piece of the module, with addresses in the page's form.
type Place struct{ coverage.Extent }

// From returns the first address.
func (p Place) From() string { return hexAddr(uint64(p.RVA)) }

// To returns the address after the last.
func (p Place) To() string { return hexAddr(uint64(p.End)) }

// newChart draws a map.
func newChart(m *lint.Map, limits pageLimits) *chart {
	funcs := make([]coverage.Extent, 0, len(m.Functions))
	for i := range m.Functions {
		funcs = append(funcs, m.Functions[i].Extent)
	}
	funcs = extent.Join(funcs)
	a := newAxis(extent.Join(slices.Concat(funcs, m.Lines, m.CFI)), limits.columns)
	runs := newRuns(a, m, funcs)
	c := &chart{Picture: newPicture(a, m, funcs), Data: newChartData(a, m, runs, limits.data)}
	c.gaps(m, runs, limits.rows)
	c.worst(m, limits.rows)
	return c
}

// without returns the pieces of list that are not in other; both are joined.
func without(list, other []coverage.Extent) (out []coverage.Extent) {
	for _, e := range list {
		out = slices.AppendSeq(out, extent.Missing(e, other))
	}
	return out
}

// gaps lists the largest runs that lack something; runs of the same size are in order of address.
func (c *chart) gaps(m *lint.Map, runs []run, most int) {
	var list []run
	for _, r := range runs {
		if r.lacks() != "" {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b run) int {
		return cmp.Or(cmp.Compare(b.Size(), a.Size()), cmp.Compare(a.RVA, b.RVA))
	})
	c.AllGaps = len(list)
	for _, r := range list[:min(len(list), most)] {
		g := chartGap{Place: Place{r.Extent}, What: r.lacks()}
		if f := functionAt(m, r.RVA); f != nil {
			g.Function, g.Line = text.Printable(m.Name(f)), f.Line
			if f.Bytes == 0 {
				g.Function = "PUBLIC " + g.Function
			}
		}
		c.Gaps = append(c.Gaps, g)
	}
}

// functionAt returns the function that contains an address, or the public symbol exactly there. If
// a few functions overlap, it returns the last.
func functionAt(m *lint.Map, rva symfmt.RVA) *lint.MappedFunc {
	after := func(f lint.MappedFunc, rva symfmt.RVA) int {
		if f.RVA <= rva {
			return -1
		}
		return 1
	}
	const maxBack = 64
	i, _ := slices.BinarySearchFunc(m.Functions, rva, after)
	for back := 1; back <= min(i, maxBack); back++ {
		if f := &m.Functions[i-back]; f.End > rva {
			return f
		}
	}
	if i, _ = slices.BinarySearchFunc(m.Publics, rva, after); i > 0 && m.Publics[i-1].RVA == rva {
		return &m.Publics[i-1]
	}
	return nil
}

// worst lists the functions with the most bytes without call frame information, then those with the
// most bytes without lines, in the order of Coverage.
func (c *chart) worst(m *lint.Map, most int) {
	var list []*lint.MappedFunc
	for i := range m.Functions {
		if f := &m.Functions[i]; f.NoCFI > 0 || f.NoLines > 0 {
			list = append(list, f)
		}
	}
	c.AllLack = len(list)
	take := func(lack func(f *lint.MappedFunc) uint64) []*lint.MappedFunc {
		slices.SortFunc(list, func(a, b *lint.MappedFunc) int {
			return cmp.Or(cmp.Compare(lack(b), lack(a)), cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Line, b.Line))
		})
		return list[:min(len(list), most)]
	}
	noLines := slices.Clone(take(func(f *lint.MappedFunc) uint64 { return f.NoLines }))
	noCFI := take(func(f *lint.MappedFunc) uint64 { return f.NoCFI })
	for _, f := range withoutRepeats(noCFI, noLines) {
		c.Worst = append(c.Worst, chartFunc{Place{f.Extent}, text.Printable(m.Name(f)), coverage.Share{Covered: f.NoCFI, Total: f.Bytes}, coverage.Share{Covered: f.NoLines, Total: f.Bytes}, f.Line})
	}
}

// addCode adds the code outside FUNCs to the functions that lack most.
func (c *chart) addCode(cov *coverage.Coverage, m *lint.Map) {
	c.AllLack += cov.Unnamed
	for _, g := range cov.Worst {
		if g.Kind == coverage.GapFunc {
			continue
		}
		name := "without a name"
		if f := functionAt(m, g.RVA); f != nil && g.Kind == coverage.GapPublic {
			name = "PUBLIC " + text.Printable(m.Name(f))
		}
		c.Worst = append(c.Worst, chartFunc{Place{extent.Of(g.RVA, g.Size)}, name, coverage.Share{Covered: g.Missing, Total: g.Size}, coverage.Share{}, uint32(g.Line)})
	}
	slices.SortStableFunc(c.Worst, func(a, b chartFunc) int { return cmp.Compare(b.NoCFI.Covered, a.NoCFI.Covered) })
}

// withoutRepeats returns the functions in noCFI, followed by those in noLines that are not in
// noCFI.
func withoutRepeats(noCFI, noLines []*lint.MappedFunc) (list []*lint.MappedFunc) {
	seen := map[*lint.MappedFunc]bool{}
	for _, f := range noCFI {
		if f.NoCFI > 0 {
			list, seen[f] = append(list, f), true
		}
	}
	for _, f := range noLines {
		if f.NoLines > 0 && !seen[f] {
			list = append(list, f)
		}
	}
	return list
}
