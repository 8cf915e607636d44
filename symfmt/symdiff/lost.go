package symdiff

import (
	"math"

	"github.com/symtool/symtool/internal/coderange"
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
	return coderange.In(taken, r.where.of(rva), size) < (size+1)/2
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
	return coderange.Join(out)
}
