package pdb

import (
	"slices"

	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
)

// painter covers the rows of functions with those of inlined calls. Its memory is used again for the next function.
type painter struct {
	all   []row // an inlined call's behind those that it covers
	sweep span.Sweep
	out   []row
}

// lines returns the rows of a function's code, those of the innermost functions. They are valid until the next call.
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

// add appends the part of a row from lo to hi. Where it is not the row's first, it continues one of the same line
// that ends there.
func (p *painter) add(r *row, lo, hi symfmt.RVA) {
	if n := len(p.out) - 1; n >= 0 && r.lo < lo && p.out[n].hi == lo && p.out[n].line == r.line && p.out[n].file == r.file {
		p.out[n].hi = hi
		return
	}
	p.out = append(p.out, row{lo, hi, r.line, r.file})
}
