package extent

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Spans is a set of addresses, as sorted ranges that do not touch. Consecutive ranges added in
// order, each starting where the previous one ends, form one span.
type Spans struct {
	list   []run
	Forgot bool // part of what was added is no longer in the list
}

// run is [from, to], where to is the last address: an end after 2^64-1 would not fit.
type run struct{ from, to symfmt.RVA }

// maxSpans is how many spans are remembered. When there are more, the lowest span is forgotten: an
// overlap with it will be missed, but none is invented. Compilers write the records of a function
// in order of address, so this affects only damaged files.
const maxSpans = 1024

// Reset removes all spans.
func (s *Spans) Reset() { s.list, s.Forgot = s.list[:0], false }

// Add adds [rva, rva+size), where size is not 0, and returns how many of its
// bytes were there already.
func (s *Spans) Add(rva symfmt.RVA, size uint64) (again uint64) {
	last := rva + symfmt.RVA(size-1)
	n := len(s.list)
	if n > 0 {
		if top := &s.list[n-1]; rva > top.to {
			if rva-1 == top.to {
				top.to = last
			} else {
				s.append(run{rva, last})
			}
			return 0
		}
	} else {
		s.append(run{rva, last})
		return 0
	}
	return s.insert(run{rva, last})
}

func (s *Spans) append(x run) {
	if len(s.list) >= maxSpans {
		s.list, s.Forgot = slices.Delete(s.list, 0, maxSpans/2), true
	}
	s.list = append(s.list, x)
}

// insert adds a span that does not come after all others.
func (s *Spans) insert(x run) (again uint64) {
	// list[i:j] are the spans that x overlaps or touches.
	i := s.search(max(x.from, 1) - 1)
	j := i
	joined := x
	for ; j < len(s.list) && (s.list[j].from <= x.to || s.list[j].from-1 == x.to); j++ {
		y := s.list[j]
		if from, to := max(x.from, y.from), min(x.to, y.to); from <= to {
			again += uint64(to-from) + 1
		}
		joined.from, joined.to = min(joined.from, y.from), max(joined.to, y.to)
	}
	if i == j && len(s.list) >= maxSpans {
		s.Forgot = true
		return again
	}
	s.list = slices.Replace(s.list, i, j, joined)
	return again
}

// Holds reports whether all of [rva, rva+size) is inside one span.
func (s *Spans) Holds(rva symfmt.RVA, size uint64) bool {
	last := rva + symfmt.RVA(size-1)
	i := s.search(rva)
	return i < len(s.list) && s.list[i].from <= rva && last <= s.list[i].to
}

// search returns the index of the first span that ends at or above rva.
func (s *Spans) search(rva symfmt.RVA) int {
	low, high := 0, len(s.list)
	for low < high {
		if mid := int(uint(low+high) >> 1); s.list[mid].to < rva {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}
