package code

import "github.com/symtool/symtool/internal/object"

// class is what a byte of described code is.
type class uint8

const (
	outside class = iota // no FDE describes it
	unknownCode
	covered // it has derived rules
	padding
	landing // only the unwinder enters it: a handler of exceptions, or what only that leads to
	dead    // only a call leads to it that does not return
)

// classes says what the bytes of code are.
type classes struct {
	*follower
	parts [][]class
}

// classify distinguishes the code that functions describe. Of code without rules, what is reached from landing pads is found
// first, then what is reached from behind calls that do not return: by every branch, if calls return.
func classify(e *follower, f *object.File, funcs []ehFunc) *classes {
	c := &classes{follower: e}
	for _, p := range e.in.parts {
		c.parts = append(c.parts, make([]class, len(p.bytes)))
	}
	for i := range funcs {
		c.mark(funcs[i].lo, funcs[i].hi, outside, unknownCode)
	}
	e.each(func(lo, hi uint64, _ *state) { c.mark(lo, hi, unknownCode, covered) })
	for i := range funcs {
		c.pad(funcs[i].lo, funcs[i].hi)
	}
	for i := range funcs {
		for _, a := range landingPads(f, &funcs[i]) {
			c.flood(a, landing)
		}
	}
	for _, a := range c.behindEnds() {
		c.flood(a, dead)
	}
	return c
}

// at returns what the byte at an address is.
func (c *classes) at(a uint64) class {
	if part, off, ok := c.in.part(a); ok {
		return c.parts[part][off]
	}
	return outside
}

// mark changes the class of bytes in [lo, hi).
func (c *classes) mark(lo, hi uint64, from, to class) (n uint64) {
	part, off, ok := c.in.part(lo)
	if !ok {
		return 0
	}
	p := c.parts[part][off:]
	p = p[:min(hi-lo, uint64(len(p)))]
	for i := range p {
		if p[i] == from {
			p[i] = to
			n++
		}
	}
	return n
}

// step decodes the instruction at an address.
func (c *classes) step(a uint64) step {
	part, off, ok := c.in.part(a)
	if !ok {
		return step{flow: bad}
	}
	s := c.in.cpu.entry
	return c.in.cpu.step(c.in.parts[part].bytes[off:], a, &s)
}

// pad finds the padding in [lo, hi).
func (c *classes) pad(lo, hi uint64) {
	for a := lo; a < hi; {
		if c.at(a) != unknownCode {
			a++
			continue
		}
		part, off, _ := c.in.part(a)
		code := c.in.parts[part].bytes[off:]
		n := uint64(c.in.cpu.skip(code[:min(len(code), 16)]))
		c.mark(a, a+n, unknownCode, padding)
		if n == 0 {
			n = uint64(c.step(a).size)
		}
		a += max(n, 1)
	}
}

// flood marks what code leads to that has no rules.
func (c *classes) flood(from uint64, as class) {
	for queue := []uint64{from}; len(queue) > 0; {
		a := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for c.at(a) == unknownCode || c.at(a) == padding {
			in := c.step(a)
			if in.flow == bad || c.mark(a, a+uint64(in.size), c.at(a), as) == 0 {
				break
			}
			a += uint64(in.size)
			if in.flow == jump || in.flow == branch {
				queue = append(queue, in.to)
			}
			if in.flow == jump || in.flow == ret || in.flow == stop || in.flow == indirect {
				break
			}
		}
	}
}

// behindEnds returns the addresses behind calls of functions that certainly do not return.
func (c *classes) behindEnds() (all []uint64) {
	unsure := c.unsure()
	c.each(func(lo, hi uint64, s *state) {
		now := *s
		part, off, _ := c.in.part(lo)
		in := c.in.cpu.step(c.in.parts[part].bytes[off:], lo, &now)
		if in.flow != call {
			return
		}
		to, never := in.to, false
		if in.slot != 0 {
			to, never = c.in.imported(in.slot)
		}
		if fn, ok := c.by[to]; never || c.in.never(to) || ok && !c.fns[fn].returns && !unsure[fn] {
			all = append(all, hi)
		}
	})
	return all
}

// unsure returns the functions that may return although no path was found to do so: those with a jump to somewhere unknown,
// and those that call or go on in such functions.
func (c *classes) unsure() map[int32]bool {
	unsure := map[int32]bool{}
	queue := []int32{}
	add := func(fn int32) {
		if !unsure[fn] && !c.fns[fn].returns {
			unsure[fn] = true
			queue = append(queue, fn)
		}
	}
	for n := range c.leads {
		if l := &c.leads[n]; !l.gone && !c.fns[l.fn].returns && (c.fns[l.fn].wrong || c.loose(int32(n))) {
			add(l.fn)
		}
	}
	for len(queue) > 0 {
		f := &c.fns[queue[0]]
		queue = queue[1:]
		for i := range f.waiting {
			add(f.waiting[i].fn)
		}
		for _, fn := range f.tails {
			add(fn)
		}
	}
	return unsure
}

// loose reports whether a block ends where nothing is known to follow.
func (c *classes) loose(n int32) bool {
	var last step
	c.write(n, func(lo, hi uint64, s *state) {
		part, off, _ := c.in.part(lo)
		now := *s
		last = c.in.cpu.step(c.in.parts[part].bytes[off:], lo, &now)
	})
	switch {
	case last.flow == bad:
		return true
	case last.flow != indirect:
		return false
	case last.slot != 0:
		addr, never := c.in.imported(last.slot)
		return !never && !c.in.follows(addr)
	}
	if last.table.size == 0 {
		return true
	}
	to, _ := c.word(last.table, 0)
	return !c.in.follows(to)
}
