package pdb

import (
	"slices"

	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
)

// painter overlays the rows of inlined calls on those of their function. Its memory is reused for the next
// function.
type painter struct {
	all   []row // the rows of an inlined call follow those that they cover
	sweep span.Sweep
	out   []row
}

// lines returns the rows of a function's code, each from the innermost function there. They are valid until
// the next call.
func (p *painter) lines(own []row, calls []inlined) []row {
	if len(calls) == 0 {
		return own
	}
	n := len(own)
	for _, c := range calls {
		n += len(c.layerRows)
	}
	p.all, p.out = append(slices.Grow(p.all[:0], n), own...), slices.Grow(p.out[:0], n)
	for _, c := range calls {
		p.all = append(p.all, c.layerRows...)
	}
	p.sweep.Reset(len(p.all))
	for i, r := range p.all {
		if r.lo < r.hi {
			p.sweep.Claim(i, uint64(r.lo), uint64(r.hi))
		}
	}
	p.sweep.Each(func(owner int32, lo, hi uint64) bool {
		p.add(&p.all[owner], symfmt.RVA(lo), symfmt.RVA(hi))
		return true
	})
	return p.out
}

// add appends the part of a row from lo to hi. A part that is not the start of its row is joined with a
// preceding row of the same line that ends there.
func (p *painter) add(r *row, lo, hi symfmt.RVA) {
	if n := len(p.out) - 1; n >= 0 && r.lo < lo && p.out[n].hi == lo && p.out[n].line == r.line && p.out[n].file == r.file {
		p.out[n].hi = hi
		return
	}
	p.out = append(p.out, row{lo, hi, r.line, r.file})
}
