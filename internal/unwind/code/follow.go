package code

// flow is how control goes on after an instruction.
type flow uint8

const (
	next flow = iota
	bad
	call
	jump
	branch
	indirect
	ret
	stop
	astray // takes what a call left in the register of the return address for that of the function
)

// step is an instruction.
type step struct {
	size  int
	flow  flow
	to    uint64 // of a jump, branch or call; 0 if it is not known
	slot  uint64 // the address of the word that an indirect call or jump reads, or 0
	table table  // of an indirect jump, if it is a switch
	limit limit  // what a branch says
	// otherwise is the state where a condition does not hold, under which another instruction than a branch leaves a block.
	otherwise *state
}

// limit says that a compared value is at most n minus less where a branch is taken, or where it is not, or that two
// registers are equal there.
type limit struct {
	compare
	less  uint32
	taken bool
}

// path is how control comes to an address: in which function, and behind which call alone, by its return address, or 0.
// doubt is the return address of the call that is not known to return, if no other path leads there.
type path struct {
	fn         int32
	via, doubt uint64
}

// lead is an address that control comes to other than from the instruction before it.
type lead struct {
	path
	addr   uint64
	state  kept
	queued bool
	gone   bool // its function is followed again
}

// page has the leads of the instructions in a piece of code, plus 1. For other bytes, it has 0.
type page [1 << 12]int32

// follower follows the code of a binary.
type follower struct {
	in    *input
	leads []lead
	pages map[uint64]*page // by address
	page  *page            // the last one used
	paged uint64           // its address
	queue []int32
	block state // of the block that is being followed
	left  int   // how many instructions may still be followed
	over  bool  // there is more code than may be followed

	functions
	switches
	doubts
}

// maxSize is the maximum number of bytes of code that are followed: some 40 times as much memory is needed.
const maxSize = 16 << 20

// effort is how many instructions are followed for each byte of code, before everything is given up.
const effort = 64

// followAll follows the functions of a binary.
func followAll(in *input) *follower {
	e := &follower{in: in, pages: map[uint64]*page{}, functions: functions{by: map[uint64]int32{}, stops: map[uint64]bool{}}, switches: switches{known: map[uint64]int{}}, doubts: doubts{outer: map[uint64]uint64{}, joins: map[uint64][]uint64{}, sure: map[uint64]bool{}}}
	if e.left = in.effort; e.left == 0 {
		for _, p := range in.parts {
			e.left += effort * len(p.bytes)
		}
	}
	for _, s := range in.begins {
		e.begin(s)
	}
	if in.unnamed && in.entry != 0 {
		e.wrong(e.begin(in.entry)) // it has no caller, but calls functions
	}
	for e.settle(); e.openTables() || e.guess(); e.settle() {
	}
	return e
}

// settle follows all that is queued.
func (e *follower) settle() {
	for len(e.queue) > 0 && e.left > 0 {
		n := e.queue[len(e.queue)-1]
		e.queue = e.queue[:len(e.queue)-1]
		e.leads[n].queued = false
		if !e.leads[n].gone {
			e.follow(n)
		}
		e.restart()
	}
}

func (e *follower) enqueue(n int32) {
	if l := &e.leads[n]; !l.queued {
		l.queued = true
		e.queue = append(e.queue, n)
	}
}

// at returns where the lead of the instruction at an address is kept.
func (e *follower) at(a uint64) *int32 {
	if e.page == nil || e.paged != a>>12 {
		e.page, e.paged = e.pages[a>>12], a>>12
		if e.page == nil {
			if len(e.pages) == maxSize/len(e.page) {
				e.left, e.over = 0, true
			}
			e.page = new(page)
			e.pages[a>>12] = e.page
		}
	}
	return &e.page[a&(1<<12-1)]
}

// reach takes a state for an address.
func (e *follower) reach(a uint64, s *state, p path) {
	if p.via == a && e.stops[a] || !e.in.follows(a) {
		return
	}
	at := e.at(a)
	n := *at - 1
	if n >= 0 && e.leads[n].fn != p.fn && e.misguessed(e.leads[n].fn, p.fn) {
		n = *at - 1
	}
	if e.fns[p.fn].dropped {
		return
	}
	if n < 0 || e.leads[n].addr != a {
		if n >= 0 {
			e.enqueue(n) // its block ends here from now on
		}
		n = int32(len(e.leads))
		e.leads = append(e.leads, lead{path: p, addr: a, state: s.keep()})
		e.fns[p.fn].leads = append(e.fns[p.fn].leads, n)
		*at = n + 1
		e.enqueue(n)
		return
	}
	l := &e.leads[n]
	if l.fn != p.fn {
		e.tail(p.fn, l.fn)
	}
	if e.blame(l, s, p) {
		return
	}
	if l.via != p.via {
		l.via = 0
	}
	sp := s.regs[e.in.cpu.sp]
	same := sp.base != unknown && sp == l.state.reg(e.in.cpu.sp)
	changed := l.state.merge(s)
	if e.meet(l, p, same) || changed {
		e.enqueue(n)
	}
}

// follow follows the instructions of a block.
func (e *follower) follow(n int32) {
	l := &e.leads[n]
	s, a, p := &e.block, l.addr, l.path
	l.state.restore(s)
	padding := p.via == a // only padding so far, behind a call
	part, off, _ := e.in.part(a)
	code := e.in.parts[part].bytes
	_, end := e.in.described(a)
	for off < len(code) && a < end && e.left > 0 {
		if a != l.addr && (e.in.cold(a) || padding && e.in.starts(a)) {
			return // nothing falls into another section's code, or behind padding into another function
		}
		at := e.at(a)
		if m := *at - 1; m >= 0 && m != n && e.leads[m].addr == a {
			e.reach(a, s, p)
			return
		}
		*at = n + 1
		e.left--
		padding = padding && e.in.cpu.skip(code[off:min(off+16, len(code))]) > 0
		in := e.in.cpu.step(code[off:], a, s)
		a += uint64(in.size)
		off += in.size
		if in.flow != next {
			e.leave(&in, a, s, p)
			return
		}
	}
}

// leave goes on behind the last instruction of a block, which ends at the address next.
func (e *follower) leave(in *step, next uint64, s *state, p path) {
	if o := in.otherwise; o != nil {
		in.otherwise = nil
		e.leave(in, next, s, p)
		e.reach(next, o, p)
		return
	}
	switch in.flow {
	case bad:
		e.wrong(p.fn)
	case astray: // as where a function begins, behind a call that does not return
		if !e.stop(p) {
			e.wrong(p.fn)
		}
	case call:
		e.call(in, next, s, p)
	case jump:
		e.jump(in.to, s, p)
	case branch:
		e.branch(in, next, s, p)
	case indirect:
		e.indirect(in, next, s, p)
	case ret:
		switch leaves := e.in.cpu.leaves(s); {
		case leaves:
			e.confirm(p.doubt)
			e.fns[p.fn].foreign = false
		case e.doubtful(p.doubt) && e.stop(p):
			return
		case s.regs[e.in.cpu.sp].base != unknown || e.fns[p.fn].guessed:
			e.wrong(p.fn)
		}
		e.returns(p.fn)
	}
}

// call goes on behind a call.
func (e *follower) call(in *step, next uint64, s *state, p path) {
	s.called(e.in.cpu.changed, e.in.cpu.sp)
	if c := e.in.cpu; c.entry.regs[c.ra].base != unknown {
		s.regs[c.ra] = value{base: constant, off: int64(next)}
	}
	if e.in.cold(next) || e.in.starts(next) && next != e.fns[p.fn].start {
		return
	}
	to, never := in.to, false
	if in.slot != 0 {
		to, never = e.in.imported(in.slot)
	}
	switch {
	case never:
	case to == next, !e.in.follows(to):
		if !e.in.never(to) {
			e.reach(next, s, path{p.fn, next, e.doubted(next, p)})
		}
	default:
		e.wait(e.begin(to), next, s, p)
	}
}

// jump goes on where a jump leads.
func (e *follower) jump(to uint64, s *state, p path) {
	if !e.in.follows(to) {
		e.exit(to, s, p)
		return
	}
	other, known := e.by[to]
	switch {
	case known && e.in.cpu.leaves(s):
		e.confirm(p.doubt)
		e.tail(p.fn, other)
	case known && other != p.fn && e.in.starts(to):
		e.wrong(p.fn)
		e.wrong(other)
	default:
		e.reach(to, s, p)
	}
}

// exit ends a path in code that is not followed.
func (e *follower) exit(to uint64, s *state, p path) {
	if e.in.cpu.leaves(s) && !e.in.never(to) {
		e.confirm(p.doubt)
		if f := &e.fns[p.fn]; !f.returns {
			f.foreign = true
		}
		e.returns(p.fn)
	}
}

// branch goes on in both directions.
func (e *follower) branch(in *step, next uint64, s *state, p path) {
	c := in.limit
	if c.size == 0 || c.n < c.less {
		e.jump(in.to, s, p)
		e.reach(next, s, p)
		return
	}
	limited := *s
	limited.limit(c, e.in.cpu.changed)
	if c.taken {
		e.jump(in.to, &limited, p)
		e.reach(next, s, p)
	} else {
		e.jump(in.to, s, p)
		e.reach(next, &limited, p)
	}
}

// limit notes that what was compared is at most a number. changed are the registers that functions need not restore.
func (s *state) limit(c limit, changed regSet) {
	if c.other != 0 {
		s.equal(uint8(c.reg), c.other-1)
		return
	}
	v := value{base: below, n: c.n - c.less}
	if c.at.base != unknown {
		s.store(c.at, v, int64(c.size))
	}
	if c.reg < 0 {
		return
	}
	switch was := s.regs[c.reg]; {
	case was.base == below:
		v.n = min(v.n, was.n)
		fallthrough
	case changed.has(uint8(c.reg)), was == value{}:
		s.regs[c.reg] = v
	}
}

// equal notes that two registers are equal. A loop that probes the pages of a large frame ends when the stack pointer is
// where another register says.
func (s *state) equal(a, b uint8) {
	switch x, y := s.regs[a], s.regs[b]; {
	case y.onStack() && (x.onStack() || x == value{}):
		s.regs[a] = y
	case x.onStack() && y == value{}:
		s.regs[b] = x
	}
}
