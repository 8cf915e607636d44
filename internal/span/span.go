// Package span joins ranges of addresses, finds the gaps between them, and the owner of each among several
// that claim it.
package span

import (
	"cmp"
	"iter"
	"slices"
)

// Type describes how type R represents a range [start, end). A range that extends past the last address
// ends there.
type Type[R any] struct {
	Ends func(r R) (start, end uint64)
	Make func(start, end uint64) R
}

// Join sorts list by start, joins ranges that touch or overlap, and drops empty ones. It reuses the
// memory of list.
func (t Type[R]) Join(list []R) []R {
	byStart := func(a, b R) int {
		x, _ := t.Ends(a)
		y, _ := t.Ends(b)
		return cmp.Compare(x, y)
	}
	if !slices.IsSortedFunc(list, byStart) {
		slices.SortFunc(list, byStart)
	}
	out := list[:0]
	var from, to uint64 // the last range of out
	for _, r := range list {
		switch start, end := t.Ends(r); {
		case start >= end:
		case len(out) == 0 || start > to:
			out = append(out, r)
			from, to = start, end
		case end > to:
			to = end
			out[len(out)-1] = t.Make(from, to)
		}
	}
	return out
}

// After returns the index of the first range of list that ends after addr. list must be a result of Join.
func (t Type[R]) After(list []R, addr uint64) int {
	i, _ := slices.BinarySearchFunc(list, addr, func(r R, addr uint64) int {
		if _, end := t.Ends(r); end <= addr {
			return -1
		}
		return 1
	})
	return i
}

// Gaps returns the parts of whole that are not in list, which must be a result of Join.
func (t Type[R]) Gaps(whole R, list []R) iter.Seq[R] {
	return func(yield func(R) bool) {
		at, stop := t.Ends(whole)
		for _, r := range list[t.After(list, at):] {
			start, end := t.Ends(r)
			if start >= stop {
				break
			}
			if start > at && !yield(t.Make(at, start)) {
				return
			}
			at = end
		}
		if at < stop {
			yield(t.Make(at, stop))
		}
	}
}
