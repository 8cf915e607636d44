package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Covered returns the number of bytes in [rva, rva+size) that can be unwound.
func (o *Outline) Covered(rva symfmt.RVA, size uint64) (n uint64) {
	for _, s := range o.in(rva, size) {
		if o.Rows.covers(s.Row) {
			n += uint64(s.Size)
		}
	}
	return n
}

// effort bounds how many spans are examined when functions overlap. In real files
// nearly all code is in just one function.
type effort struct{ spent int }

const (
	maxLooks   = 64 // examinations of each span, on average
	leastLooks = 64 // spans that each function may examine in any case
)

// allowed returns how many of n spans may be examined; all is the number of all.
func (e *effort) allowed(n, all int) int {
	if n <= leastLooks {
		return n
	}
	if e.spent += n; e.spent > maxLooks*all+1<<20 {
		return leastLooks
	}
	return n
}

// exceeded reports whether some were not examined.
func (e *effort) exceeded(all int) bool { return e.spent > maxLooks*all+1<<20 }

// in returns the spans of a piece of code, cut at the piece's ends.
func (o *Outline) in(rva symfmt.RVA, size uint64) []cfiSpan {
	if size == 0 {
		return nil
	}
	stop := rva + symfmt.RVA(size)
	if stop < rva {
		stop = math.MaxUint64
	}
	i, _ := slices.BinarySearchFunc(o.CFI, rva, func(s cfiSpan, rva symfmt.RVA) int {
		if s.stop() <= rva {
			return -1
		}
		return 1
	})
	j := i // most functions have only a few
	for j < len(o.CFI) && j < i+leastLooks && o.CFI[j].RVA < stop {
		j++
	}
	if j == i+leastLooks {
		n, _ := slices.BinarySearchFunc(o.CFI[j:], stop, func(s cfiSpan, rva symfmt.RVA) int { return cmp.Compare(s.RVA, rva) })
		j += n
	}
	if i == j {
		return nil
	}
	if j = i + o.effort.allowed(j-i, len(o.CFI)); o.CFI[i].RVA >= rva && o.CFI[j-1].stop() <= stop {
		return o.CFI[i:j]
	}
	cut := slices.Clone(o.CFI[i:j])
	if cut[0].RVA < rva {
		cut[0].Size -= uint32(rva - cut[0].RVA)
		cut[0].RVA = rva
	}
	if last := &cut[len(cut)-1]; last.stop() > stop {
		last.Size = uint32(stop - last.RVA)
	}
	return cut
}

// sameRows reports whether two pieces of code are unwound alike. If their sizes
// differ, code was inserted or removed, and only the order of the rules must be
// equal.
func sameRows(a, b []cfiSpan, startA, startB symfmt.RVA, places bool) bool {
	i, _ := firstRow(a, b, startA, startB, places)
	return i < 0
}

// firstRow returns the index of the first span of a that has no equal in b, or the
// index after the last one if b continues, or -1 if the spans are equal. j is the
// corresponding index in b.
func firstRow(a, b []cfiSpan, startA, startB symfmt.RVA, places bool) (i, j int) {
	if !places {
		a, b = orders(a), orders(b)
	}
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return i, i
		}
		if a[i].Row != b[i].Row || places && (a[i].RVA-startA != b[i].RVA-startB || a[i].Size != b[i].Size) {
			return i, i
		}
	}
	return -1, -1
}

// orders drops spans with the same row as the previous span.
func orders(s []cfiSpan) []cfiSpan {
	out := make([]cfiSpan, 0, len(s))
	for _, x := range s {
		if len(out) == 0 || out[len(out)-1].Row != x.Row {
			out = append(out, x)
		}
	}
	return out
}
