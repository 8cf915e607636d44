package report

import (
	"github.com/symtool/symtool/lint"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// run is a piece of the axis with uniform properties. It takes 24 bytes.
type run struct {
	coverage.Extent
	has uint8
}

// Properties of a run. The page's script uses the same numbers.
const (
	hasFunc = 1 << iota
	hasLines
	hasCFI
)

// lacks describes what is missing from a run, or returns "". Padding between functions lacks
// nothing.
func (r run) lacks() string {
	switch r.has {
	case hasFunc:
		return "no CFI, no lines"
	case hasFunc | hasLines:
		return "no CFI"
	case hasFunc | hasCFI:
		return "no lines"
	case hasCFI, hasCFI | hasLines:
		return "no FUNC"
	}
	return ""
}

// newRuns cuts the axis where something begins or ends. Runs that lack something are also cut where
// functions and public symbols begin, so that each belongs to only one.
func newRuns(a *axis, m *lint.Map, funcs []coverage.Extent) (runs []run) {
	lists := [...]extentCursor{{list: funcs}, {list: m.Lines}, {list: m.CFI}}
	functions, publics := mappedCursor{list: m.Functions}, mappedCursor{list: m.Publics}
	for _, p := range a.pieces {
		for at := p.RVA; at < p.End; {
			r := run{Extent: extent.Between(at, p.End)}
			for i := range lists {
				in, change := lists[i].at(at)
				if in {
					r.has |= 1 << i
				}
				r.End = min(r.End, change)
			}
			functionAt, publicAt := functions.after(at), publics.after(at)
			switch {
			case r.lacks() == "":
			case r.has&hasFunc != 0:
				r.End = min(r.End, functionAt)
			default:
				r.End = min(r.End, publicAt)
			}
			runs, at = append(runs, r), r.End
		}
	}
	return runs
}

// extentCursor visits a sorted and joined list once.
type extentCursor struct{ list []coverage.Extent }

// at reports whether an address is in the list, and returns the address where that changes.
func (c *extentCursor) at(rva symfmt.RVA) (in bool, change symfmt.RVA) {
	for len(c.list) > 0 && c.list[0].End <= rva {
		c.list = c.list[1:]
	}
	switch {
	case len(c.list) == 0:
		return false, ^symfmt.RVA(0)
	case rva < c.list[0].RVA:
		return false, c.list[0].RVA
	}
	return true, c.list[0].End
}

// mappedCursor visits sorted functions once.
type mappedCursor struct{ list []lint.MappedFunc }

// after returns where the next function begins.
func (c *mappedCursor) after(rva symfmt.RVA) symfmt.RVA {
	for len(c.list) > 0 && c.list[0].RVA <= rva {
		c.list = c.list[1:]
	}
	if len(c.list) == 0 {
		return ^symfmt.RVA(0)
	}
	return c.list[0].RVA
}

// coarser joins runs below a size to the previous run, if they touch.
func coarser(runs []run, least uint64) (out []run) {
	for _, r := range runs {
		if n := len(out); n > 0 && out[n-1].End == r.RVA && (r.Size() < least || r.has == out[n-1].has) {
			out[n-1].End = r.End
			continue
		}
		out = append(out, r)
	}
	return out
}
