// Package coderange joins ranges of code and counts the bytes in them. A range may reach the last
// address.
package coderange

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Join sorts ranges and joins those that overlap or touch. It reuses the
// memory of all.
func Join(all []symfmt.Range) []symfmt.Range {
	all = slices.DeleteFunc(all, func(r symfmt.Range) bool { return r.Size == 0 })
	byRVA := func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) }
	if !slices.IsSortedFunc(all, byRVA) {
		slices.SortFunc(all, byRVA)
	}
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && uint64(r.RVA-out[n-1].RVA) <= out[n-1].Size {
			gap := uint64(r.RVA - out[n-1].RVA)
			out[n-1].Size = max(out[n-1].Size, gap+min(r.Size, math.MaxUint64-gap))
			continue
		}
		out = append(out, r)
	}
	return out
}

// In returns the number of bytes of [rva, rva+size) that are in rs, which Join returned.
func In(rs []symfmt.Range, rva symfmt.RVA, size uint64) (n uint64) {
	i, found := slices.BinarySearchFunc(rs, rva, func(r symfmt.Range, rva symfmt.RVA) int { return cmp.Compare(r.RVA, rva) })
	if !found && i > 0 {
		if before := uint64(rva - rs[i-1].RVA); before < rs[i-1].Size {
			n = min(size, rs[i-1].Size-before)
		}
	}
	for ; i < len(rs) && uint64(rs[i].RVA-rva) < size; i++ {
		n += min(rs[i].Size, size-uint64(rs[i].RVA-rva))
	}
	return n
}
