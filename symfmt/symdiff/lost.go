package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// padding is how many bytes after a function's code may or may not count as part
// of it: compilers pad to the next multiple of 16, and some dumpers include the
// padding in sizes.
const padding = 15

// worse reports whether more bytes are uncovered than before, and a greater
// share. If the sizes differ, padding is ignored.
func worse(old, oldSize, new, newSize uint64) bool {
	if old >= oldSize && new >= newSize || old > oldSize || new > newSize {
		return false
	}
	before, now := oldSize-old, newSize-new
	if oldSize != newSize && now <= before+padding {
		return false
	}
	return now > before && float64(new)*float64(oldSize) < float64(old)*float64(newSize)
}

// findLost marks the removed functions that are lost: their code seems to still exist,
// and no FUNC covers it. The code of the others is gone as well, since later code has
// moved forward or other functions cover it.
func (r *Result) findLost(changes []Change) {
	var taken []symfmt.Range
	for i := range changes {
		c := &changes[i]
		if c.What&Removed == 0 || c.What&Merged != 0 {
			continue
		}
		if taken == nil {
			taken = r.New.code()
		}
		if f := &r.Old.Funcs[c.Old]; r.left(taken, f.RVA, f.Size) {
			c.What |= Lost
		}
	}
}

// left reports whether code of the old file is in the new one outside functions.
func (r *Result) left(taken []symfmt.Range, rva symfmt.RVA, size uint64) bool {
	size = max(size, 1)
	if closed := r.where.closed(rva); closed > 0 && closed >= size/2 {
		return false
	}
	return within(taken, r.where.of(rva), size) < (size+1)/2
}

// code returns the code in functions, by address, without overlaps.
func (o *Outline) code() []symfmt.Range {
	out := make([]symfmt.Range, 0, len(o.Funcs))
	for i := range o.Funcs {
		f := &o.Funcs[i]
		size := f.Size
		if f.stop() < f.RVA {
			size = uint64(math.MaxUint64 - f.RVA)
		}
		out = append(out, symfmt.Range{RVA: f.RVA, Size: size})
	}
	return union(out)
}

// union sorts ranges and joins those that touch or overlap.
func union(ranges []symfmt.Range) []symfmt.Range {
	slices.SortFunc(ranges, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
	out := ranges[:0]
	for _, r := range ranges {
		if n := len(out); n > 0 {
			last := &out[n-1]
			if gap := uint64(r.RVA - last.RVA); gap <= last.Size {
				last.Size = max(last.Size, gap+r.Size)
				continue
			}
		}
		out = append(out, r)
	}
	return out
}

// within returns how many bytes of a piece of code are in ranges.
func within(ranges []symfmt.Range, rva symfmt.RVA, size uint64) (n uint64) {
	stop := rva + symfmt.RVA(size)
	if stop < rva {
		stop = math.MaxUint64
	}
	i, _ := slices.BinarySearchFunc(ranges, rva, func(r symfmt.Range, rva symfmt.RVA) int {
		if r.RVA+symfmt.RVA(r.Size) <= rva {
			return -1
		}
		return 1
	})
	for ; i < len(ranges) && ranges[i].RVA < stop; i++ {
		start, end := max(ranges[i].RVA, rva), min(ranges[i].RVA+symfmt.RVA(ranges[i].Size), stop)
		n += uint64(end - start)
	}
	return n
}
