package code

import (
	"cmp"
	"slices"
)

// each calls fn for the instructions of functions that contradict nothing, in order of address. The state must not be kept.
func (e *follower) each(fn func(lo, hi uint64, s *state)) {
	if e.left <= 0 {
		return // not everything was followed, so that nothing is certain
	}
	order := make([]int32, 0, len(e.leads))
	for n := range e.leads {
		l := &e.leads[n]
		if f := &e.fns[l.fn]; !l.gone && !f.wrong && !e.doubtful(l.doubt) && (f.returns || !f.guessed) {
			order = append(order, int32(n))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Compare(e.leads[a].addr, e.leads[b].addr) })
	for _, n := range order {
		e.write(n, fn)
	}
}

// write calls fn for the instructions of a block.
func (e *follower) write(n int32, fn func(lo, hi uint64, s *state)) {
	var s state
	e.leads[n].state.restore(&s)
	a := e.leads[n].addr
	part, off, _ := e.in.part(a)
	code := e.in.parts[part].bytes
	for off < len(code) && *e.at(a)-1 == n {
		e.block = s
		in := e.in.cpu.step(code[off:], a, &s)
		if in.flow == bad {
			return
		}
		fn(a&^e.in.cpu.isa, a&^e.in.cpu.isa+uint64(in.size), &e.block)
		a += uint64(in.size)
		off += in.size
		if in.flow != next {
			return
		}
	}
}
