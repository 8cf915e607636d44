package pdb

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// painter covers the rows of functions with those of inlined calls. Its memory is used again for the next function.
type painter struct {
	all    []layer // by address
	active []layer // a heap, the innermost first
	out    []row
	at     symfmt.RVA // out is complete up to here
}

// layer is a row that those of a higher order cover.
type layer struct {
	row
	order int
}

// lines returns the rows of a function's code, those of the innermost functions. They are valid until the next call.
func (p *painter) lines(own []row, calls []inlined) []row {
	if len(calls) == 0 {
		return own
	}
	p.all, p.active, p.out, p.at = p.all[:0], p.active[:0], p.out[:0], 0
	for _, r := range own {
		p.all = append(p.all, layer{r, 0})
	}
	for i, c := range calls {
		for _, r := range c.layerRows {
			p.all = append(p.all, layer{r, i + 1})
		}
	}
	slices.SortStableFunc(p.all, func(a, b layer) int { return cmp.Compare(a.lo, b.lo) })
	for _, l := range p.all {
		p.advance(l.lo)
		p.push(l)
	}
	p.advance(^symfmt.RVA(0))
	return p.out
}

// advance adds the rows up to limit.
func (p *painter) advance(limit symfmt.RVA) {
	for p.at < limit && len(p.active) > 0 {
		top := p.active[0]
		if top.hi <= p.at {
			p.pop()
			continue
		}
		r := top.row
		r.lo, r.hi = p.at, min(top.hi, limit)
		last := len(p.out) - 1
		if last >= 0 && p.out[last].hi == r.lo && p.out[last].line == r.line && p.out[last].file == r.file && top.lo < r.lo {
			p.out[last].hi = r.hi
		} else {
			p.out = append(p.out, r)
		}
		p.at = r.hi
	}
	p.at = max(p.at, limit)
}

// push adds a layer to the heap.
func (p *painter) push(l layer) {
	p.active = append(p.active, l)
	for i := len(p.active) - 1; i > 0; {
		up := (i - 1) / 2
		if p.active[up].order >= p.active[i].order {
			break
		}
		p.active[up], p.active[i] = p.active[i], p.active[up]
		i = up
	}
}

// pop removes the first layer of the heap.
func (p *painter) pop() {
	last := len(p.active) - 1
	p.active[0] = p.active[last]
	p.active = p.active[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if right := down + 1; right < last && p.active[right].order > p.active[down].order {
			down = right
		}
		if p.active[i].order >= p.active[down].order {
			break
		}
		p.active[i], p.active[down] = p.active[down], p.active[i]
		i = down
	}
}
