package code

import "slices"

// doubts has the calls of other modules, and those through pointers, of a file without symbols, by their return addresses:
// what is behind one may be another function, if the call does not return. It is certain once the path leads to code that
// is, or returns as its function does.
type doubts struct {
	outer map[uint64]uint64   // the call in doubt that a call in doubt is behind, or 0
	joins map[uint64][]uint64 // those in doubt that lead to the same code
	sure  map[uint64]bool     // those that do return
}

// doubted notes a call on a path, and returns what the path behind it has as its doubt.
func (e *follower) doubted(ret uint64, p path) uint64 {
	if !e.in.unnamed {
		return 0
	}
	if outer, known := e.outer[ret]; !known || e.doubtful(outer) && !e.doubtful(p.doubt) {
		e.outer[ret] = p.doubt
	}
	return ret
}

// behind goes on behind a call of a function that returns.
func (e *follower) behind(callee int32, at uint64, s *state, p path) {
	if e.fns[callee].foreign {
		p.doubt = e.doubted(at, p)
	}
	e.reach(at, s, path{p.fn, at, p.doubt})
}

// inherit notes that a function returns by another that it jumps to.
func (e *follower) inherit(fn, other int32) {
	if f := &e.fns[fn]; !f.returns {
		f.foreign = e.fns[other].foreign
	}
}

// doubtful reports whether a call is in doubt.
func (e *follower) doubtful(ret uint64) bool { return ret != 0 && !e.sure[ret] }

// confirm notes that a call returns, those that it is behind, and those that lead to the same code.
func (e *follower) confirm(ret uint64) {
	for list := []uint64{ret}; len(list) > 0; {
		ret, list = list[len(list)-1], list[:len(list)-1]
		if e.doubtful(ret) {
			e.sure[ret] = true
			list = append(append(list, e.outer[ret]), e.joins[ret]...)
		}
	}
}

// meet compares the doubts of a path and of a lead that it comes to, with the same stack pointer or not, and reports whether
// those of the lead changed.
func (e *follower) meet(l *lead, p path, same bool) (changed bool) {
	switch a, b := e.doubtful(l.doubt), e.doubtful(p.doubt); {
	case a && !b:
		l.doubt = 0
		return true
	case b && !a && same:
		e.confirm(p.doubt)
	case a && b && same && l.doubt != p.doubt && !slices.Contains(e.joins[l.doubt], p.doubt):
		e.joins[l.doubt] = append(e.joins[l.doubt], p.doubt)
		e.joins[p.doubt] = append(e.joins[p.doubt], l.doubt)
	}
	return false
}
