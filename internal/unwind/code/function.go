package code

import "slices"

// functions has what is known about functions.
type functions struct {
	fns     []function
	by      map[uint64]int32 // their indexes, by address
	stops   map[uint64]bool  // the return addresses of calls that turned out not to return
	again   []int32          // functions to follow again
	guesses []uint64         // addresses at which a function may begin, in order
	guessed bool             // they are known
	lazy    int32            // the function of linker, plus 1
}

// function is what is known about a function.
type function struct {
	start   uint64
	returns bool
	foreign bool // only another module's function returns, to which it jumps
	wrong   bool
	waiting []waiter // calls that go on if it returns
	tails   []int32  // functions that return if it does
	leads   []int32  // that it reached first
	resets  int      // how often it was followed again
	guessed bool     // nothing calls it: it is a function only if it returns as one
	dropped bool     // and turned out to be none
}

// waiter is a path that goes on at an address if a call returns.
type waiter struct {
	at    uint64
	state kept
	fn    int32
	doubt uint64
}

// begin returns the function at an address, which it begins to follow the first time.
func (e *follower) begin(start uint64) int32 {
	fn, known := e.by[start]
	if !known {
		fn = int32(len(e.fns))
		e.fns = append(e.fns, function{start: start})
		e.by[start] = fn
		e.reach(start, &e.in.cpu.entry, path{fn: fn})
		return fn
	}
	f := &e.fns[fn]
	f.guessed = false // something calls it
	if f.dropped {
		f.wrong, f.dropped = false, false
		e.reach(start, &e.in.cpu.entry, path{fn: fn})
	}
	return fn
}

// linker returns the function that stands for the code by which a procedure linkage table calls the dynamic linker: all its
// stubs share it, those of functions that do not return as well.
func (e *follower) linker() int32 {
	if e.lazy == 0 {
		e.fns = append(e.fns, function{})
		e.lazy = int32(len(e.fns))
	}
	return e.lazy - 1
}

// guess begins a function at an address of code that instructions or data have, such as that of a callback, if functions
// have no symbols and nothing has come there yet. It reports whether there was one.
func (e *follower) guess() bool {
	if !e.in.unnamed {
		return false
	}
	if !e.guessed {
		e.guessed = true
		e.label()
		e.guesses = sorted(append(slices.Clone(e.labels), e.in.words()...))
	}
	for len(e.guesses) > 0 {
		a := e.guesses[0]
		e.guesses = e.guesses[1:]
		isa := e.in.cpu.isa
		if a&^isa%e.in.cpu.alignment == 0 && e.in.follows(a) && *e.at(a) == 0 && *e.at(a ^ isa) == 0 {
			e.fns[e.begin(a)].guessed = true
			return true
		}
	}
	return false
}

// misguessed drops a guessed function that another one shares code with, as functions do not: the other one, if it is not
// guessed.
func (e *follower) misguessed(have, by int32) bool {
	switch {
	case e.fns[by].guessed:
		e.drop(by)
	case e.fns[have].guessed:
		e.drop(have)
		return true
	}
	return false
}

// drop forgets a guessed function.
func (e *follower) drop(fn int32) {
	f := &e.fns[fn]
	f.wrong, f.dropped = true, true
	for _, n := range f.leads {
		e.forget(n)
	}
	f.leads = nil
}

// wrong notes that a function contradicts the calling convention, so that nothing about it is certain.
func (e *follower) wrong(fn int32) { e.fns[fn].wrong = true }

// tail notes that a function returns if another does.
func (e *follower) tail(fn, other int32) {
	if fn == other || e.fns[fn].returns {
		return
	}
	if e.fns[other].returns {
		e.inherit(fn, other)
		e.returns(fn)
		return
	}
	if t := e.fns[other].tails; !slices.Contains(t, fn) {
		e.fns[other].tails = append(t, fn)
	}
}

// returns notes that a function may return, and goes on with those that waited for it.
func (e *follower) returns(fn int32) {
	var s state
	for list := []int32{fn}; len(list) > 0; {
		fn := list[0]
		f := &e.fns[fn]
		list = list[1:]
		if f.returns || e.in.never(f.start) {
			continue
		}
		f.returns = true
		waiting, tails := f.waiting, f.tails
		f.waiting, f.tails = nil, nil
		for i := range waiting {
			w := &waiting[i]
			w.state.restore(&s)
			e.behind(fn, w.at, &s, path{fn: w.fn, doubt: w.doubt})
		}
		for _, tail := range tails {
			e.inherit(tail, fn)
		}
		list = append(list, tails...)
	}
}

// wait goes on at an address once a function is known to return.
func (e *follower) wait(callee int32, at uint64, s *state, p path) {
	f := &e.fns[callee]
	if f.returns {
		e.behind(callee, at, s, p)
		return
	}
	i := slices.IndexFunc(f.waiting, func(w waiter) bool { return w.at == at })
	if i < 0 {
		i = len(f.waiting)
		f.waiting = append(f.waiting, waiter{})
	}
	f.waiting[i] = waiter{at, s.keep(), p.fn, p.doubt}
}

// maxResets is how often a function is followed again.
const maxResets = 64

// blame looks for a call that does not return, if a path comes to a lead with another stack pointer than the lead's:
// what is behind such a call belongs to another path. It reports whether the function is followed again without it.
func (e *follower) blame(l *lead, s *state, p path) bool {
	have, sp := l.state.reg(e.in.cpu.sp), s.regs[e.in.cpu.sp]
	if have == sp || have.base != cfa || sp.base != cfa {
		return false
	}
	if fp := s.regs[e.in.cpu.fp]; fp.base == cfa && fp == l.state.reg(e.in.cpu.fp) {
		return false // the stack pointer may differ, as behind alloca
	}
	if p.via == 0 || l.via == l.addr || p.via != l.addr && l.via != 0 && have.off < sp.off {
		p = l.path
	}
	return e.stop(p)
}

// stop notes that the call does not return that a path is behind. It reports whether the function is followed again
// without what is behind the call.
func (e *follower) stop(p path) bool {
	f := &e.fns[p.fn]
	if p.via == 0 || e.stops[p.via] || f.resets == maxResets {
		return false
	}
	e.stops[p.via] = true
	f.resets++
	if !slices.Contains(e.again, p.fn) {
		e.again = append(e.again, p.fn)
	}
	return true
}

// restart follows functions again in which calls turned out not to return.
func (e *follower) restart() {
	for _, fn := range e.again {
		f := &e.fns[fn]
		f.wrong = false
		for _, n := range f.leads {
			e.forget(n)
		}
		f.leads = f.leads[:0]
		e.reach(f.start, &e.in.cpu.entry, path{fn: fn})
	}
	e.again = e.again[:0]
}

// forget removes a block.
func (e *follower) forget(n int32) {
	l := &e.leads[n]
	l.gone = true
	part, off, _ := e.in.part(l.addr)
	for a := l.addr; off < len(e.in.parts[part].bytes); a, off = a+1, off+1 {
		at := e.at(a)
		if *at != 0 && *at != n+1 {
			return
		}
		if *at == 0 && e.ends(a, n) {
			return
		}
		*at = 0
	}
}

// ends reports whether no instruction of a block is found within the length of one from an address on.
func (e *follower) ends(a uint64, n int32) bool {
	for i := range e.in.cpu.longest {
		if *e.at(a + i) == n+1 {
			return false
		}
	}
	return true
}
