// Package extent implements unions of, and gaps between, pieces of a module.
package extent

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

// Of returns the extent of size bytes at an address. A piece that would pass the last address ends there.
func Of(rva symfmt.RVA, size uint64) coverage.Extent {
	end := rva + symfmt.RVA(size)
	if end < rva {
		end = ^symfmt.RVA(0)
	}
	return coverage.Extent{RVA: rva, End: end}
}

// Between returns the extent of the addresses from one up to another.
func Between(from, to symfmt.RVA) coverage.Extent { return coverage.Extent{RVA: from, End: to} }

// Append appends e to list, joining it with the last extent if they touch.
func Append(list []coverage.Extent, e coverage.Extent) []coverage.Extent {
	if n := len(list); n > 0 && e.RVA >= list[n-1].RVA && e.RVA <= list[n-1].End {
		list[n-1].End = max(list[n-1].End, e.End)
		return list
	}
	if e.RVA == e.End {
		return list
	}
	return append(list, e)
}

// Join sorts list and joins extents that touch or overlap. It reuses the memory of list.
func Join(list []coverage.Extent) []coverage.Extent {
	slices.SortFunc(list, func(a, b coverage.Extent) int { return cmp.Compare(a.RVA, b.RVA) })
	out := list[:0]
	for _, e := range list {
		out = Append(out, e)
	}
	return out
}

// Missing calls fn for the pieces of e that are not in list, which is sorted and joined.
func Missing(e coverage.Extent, list []coverage.Extent, fn func(coverage.Extent)) {
	at := e.RVA
	for i := EndsBehind(list, at); i < len(list) && list[i].RVA < e.End; i++ {
		if list[i].RVA > at {
			fn(coverage.Extent{RVA: at, End: list[i].RVA})
		}
		at = max(at, list[i].End)
	}
	if at < e.End {
		fn(coverage.Extent{RVA: at, End: e.End})
	}
}

// EndsBehind returns the index of the first extent in list, which is in ascending order, that ends
// after rva.
func EndsBehind(list []coverage.Extent, rva symfmt.RVA) int {
	i, _ := slices.BinarySearchFunc(list, rva, func(e coverage.Extent, rva symfmt.RVA) int {
		if e.End <= rva {
			return -1
		}
		return 1
	})
	return i
}
