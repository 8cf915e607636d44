// Package extent implements unions of, and gaps between, pieces of a module.
package extent

import (
	"iter"
	"math"
	"math/bits"

	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/lint/coverage"
	"github.com/symtool/symtool/symfmt"
)

// Of returns the extent of size bytes at rva. An extent that would pass the last address ends there.
func Of(rva symfmt.RVA, size uint64) coverage.Extent {
	end := rva + symfmt.RVA(size)
	if end < rva {
		end = ^symfmt.RVA(0)
	}
	return coverage.Extent{RVA: rva, End: end}
}

// Between returns the extent [from, to).
func Between(from, to symfmt.RVA) coverage.Extent { return coverage.Extent{RVA: from, End: to} }

var extents = span.Type[coverage.Extent]{
	Ends: func(e coverage.Extent) (start, end uint64) { return uint64(e.RVA), uint64(e.End) },
	Make: func(start, end uint64) coverage.Extent { return Between(symfmt.RVA(start), symfmt.RVA(end)) },
}

// Join sorts list and joins extents that touch or overlap. It reuses the memory of list.
func Join(list []coverage.Extent) []coverage.Extent { return extents.Join(list) }

// Missing returns the pieces of e that list does not contain. list must be sorted and joined.
func Missing(e coverage.Extent, list []coverage.Extent) iter.Seq[coverage.Extent] {
	return extents.Gaps(e, list)
}

// EndsBehind returns the index of the first extent in list, which is in ascending order, that ends
// after rva.
func EndsBehind(list []coverage.Extent, rva symfmt.RVA) int { return extents.After(list, uint64(rva)) }

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

// Sum returns the sum of two sizes, saturating: damaged files contain functions of 2^63 bytes.
func Sum(a, b uint64) uint64 {
	n, carry := bits.Add64(a, b, 0)
	if carry != 0 {
		return math.MaxUint64
	}
	return n
}
