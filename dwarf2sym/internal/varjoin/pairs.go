package varjoin

import "github.com/symtool/symtool/internal/intern"

// pairNumbers maps pairs to numbers in order of first use. In nearly all pairs, the second half is
// 0.
type pairNumbers struct {
	firsts intern.Offsets
	others map[[2]uint64]uint32
	n      uint32
}

// find returns the number of a pair.
func (p *pairNumbers) find(a, b uint64) (uint32, bool) {
	if b == 0 {
		return p.firsts.Get(a)
	}
	n, ok := p.others[[2]uint64{a, b}]
	return n, ok
}

// add returns the number of a pair, and whether it is new.
func (p *pairNumbers) add(a, b uint64) (n uint32, isNew bool) {
	if n, ok := p.find(a, b); ok {
		return n, false
	}
	n = p.n
	p.n++
	if b == 0 {
		p.firsts.Put(a, n)
		return n, true
	}
	if p.others == nil {
		p.others = map[[2]uint64]uint32{}
	}
	p.others[[2]uint64{a, b}] = n
	return n, true
}
