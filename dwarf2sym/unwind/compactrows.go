package unwind

import (
	"slices"

	"github.com/symtool/symtool/internal/insn"
)

// entry writes the blocks of a range.
func (c *compactReader) entry(e *pdataEntry) error {
	if e.hi <= e.lo {
		c.r.stats.Empty++
		return nil
	}
	c.code = c.codeAt(e)
	body, ok, err := c.decode(e)
	if !ok || err != nil {
		return err
	}
	c.body, c.byFP = body, body.base != c.leafFrame().base
	each := c.isIndirect(e)
	for part := *e; part.lo < e.hi; part.lo = part.hi {
		part.hi = c.cut(part.lo, e.hi, each)
		c.code = c.codeAt(&part)
		if each && part.lo > e.lo {
			c.body = c.bodyOfNext(&part)
		}
		c.follow(&part, body.saves)
		c.functions(&part)
		part.info &^= encodingNotStart
	}
	return nil
}

// maxPart is the number of bytes of a range that are followed at once; an instruction has at least one byte. Linkers
// make one range of megabytes from all the code of a program that was compiled without tables.
const maxPart = maxFlow

// cut returns where a part that begins at lo ends: after at most maxPart bytes, unless the function in it is larger,
// or, with each, where the next function begins.
func (c *compactReader) cut(lo, hi uint64, each bool) uint64 {
	starts := c.r.in.Starts
	if each {
		i, _ := slices.BinarySearch(starts, lo+1)
		if i == len(starts) {
			return hi
		}
		return min(starts[i], hi)
	}
	if hi-lo <= maxPart {
		return hi
	}
	i, found := slices.BinarySearch(starts, lo+maxPart)
	switch {
	case found:
	case i > 0 && starts[i-1] > lo:
		i--
	}
	if i == len(starts) {
		return hi
	}
	return min(starts[i], hi)
}

// maxRounds is the number of times a range is followed, each time without the starts that turned out to be labels.
const maxRounds = 16

// follow follows the instructions of a range.
func (c *compactReader) follow(e *pdataEntry, saves uint32) {
	first, _ := slices.BinarySearch(c.r.in.Starts, e.lo)
	last, _ := slices.BinarySearch(c.r.in.Starts, e.hi)
	starts := c.r.in.Starts[first:last]
	entry := insn.Enter(c.leafFrame().sp, saves)
	entry.Listed = !c.body.none || len(c.taken) > 0
	w := &c.flow
	for range maxRounds {
		w.begin(e.lo, c.code, starts, entry)
		if len(c.code) > 0 && e.info&encodingNotStart == 0 {
			w.try(0, entry, true)
			w.returns()
		}
		c.seeds(e)
		if !c.body.none || len(c.taken) > 0 {
			return
		}
		if w.labels = w.interpreter(); w.labels {
			return
		}
		outer := slices.DeleteFunc(slices.Clone(starts), w.inside)
		if len(outer) == len(starts) {
			return
		}
		starts = outer
	}
}

// seeds follows code that nothing leads to: other functions of the range, the cases of a switch, landing pads. Without
// an encoding, code that is not the start of a function has a frame only if an earlier switch may lead to it.
func (c *compactReader) seeds(e *pdataEntry) {
	w := &c.flow
	for at := uint32(0); int(at) < len(w.code); {
		if p := w.found[at]; p != 0 {
			at += uint32(p.size())
			continue
		}
		w.origin = noOrigin
		switch n := c.r.in.Padding(w.code[at:]); {
		case w.isStart(at):
			w.jumps, w.origin = w.jumps[:0], at
			w.try(at, w.entry, true)
		case n > 0:
			at += uint32(n)
			continue
		case w.afterSwitch(at):
		case !c.body.none || len(c.taken) > 0:
			w.try(at, c.bodyState(c.bodyAt(e.lo+uint64(at))), false)
		}
		w.returns()
		if w.found[at] == 0 {
			at++ // data, or code that contradicts the encoding
			for int(at) < len(w.code) && w.found[at] == 0 && !w.isStart(at) {
				at++
			}
		}
	}
	w.origin = noOrigin
	for _, item := range w.last {
		w.try(item.at, item.frame, false)
		w.returns()
	}
}

// bodyState returns the frame after the instructions of a prologue.
func (c *compactReader) bodyState(body *compactBody) insn.Frame {
	f := insn.Enter(body.off, body.saves)
	f.Listed = true
	if body.base != c.leafFrame().base {
		f.SP, f.SPKnown = 0, false
		f.FP, f.FPKnown = body.off, true
	}
	for reg := range uint8(32) {
		if body.saved>>reg&1 != 0 {
			f.Saved |= 1 << reg
			f.At[reg] = int32(body.at[reg])
		}
	}
	if c.leafFrame().ra == 0 && body.ra != 0 {
		f.Saved |= 1 << arm64X30
		f.At[arm64X30] = int32(body.ra)
	}
	return f
}

// functions writes the rows of each function of a range.
func (c *compactReader) functions(e *pdataEntry) {
	w := &c.flow
	cuts := []uint64{e.lo}
	for _, s := range w.starts {
		if at := s - e.lo; s > e.lo && at < uint64(len(w.code)) && w.found[at] != 0 && w.state[w.found[at].state()].SP == w.entry.SP {
			cuts = append(cuts, s)
		}
	}
	cuts = append(cuts, e.hi)
	for i := range len(cuts) - 1 {
		c.function(cuts[i], cuts[i+1])
		c.r.w.close()
	}
}

// function writes the rows of a function: the rows of its instructions if they reach the frame of the encoding, or a
// return with the stack pointer as at the entry; otherwise that frame for the whole function. LLVM's encodings are
// wrong for functions in assembly with directives for their epilogues.
func (c *compactReader) function(lo, hi uint64) {
	w, body := &c.flow, c.bodyAt(lo)
	c.lo = lo
	from, to := lo-w.lo, min(hi-w.lo, uint64(len(w.code)))
	to = min(to, c.unpadded(from, to))
	framed := body.none && w.has(lo, ownFrame)
	if body.none && (slices.Contains(w.wrong, uint32(from)) || w.inside(lo) || w.labels && !framed) {
		return
	}
	if w.full || !framed && !c.reaches(from, to, body) && (body.none || !slices.Contains(w.whole, uint32(from))) {
		if !body.none {
			c.from(lo, &body.pdataFrame)
			c.flush(hi)
		}
		return
	}
	c.rows(from, to, body.none)
}

// rows writes the rows of the instructions between two offsets. With none, meaning no encoding, code whose frame is
// unknown or that was not followed has no rules. Padding has the rules of the code before it.
func (c *compactReader) rows(from, to uint64, none bool) {
	w := &c.flow
	open, known := false, false
	var last pdataFrame
	before := -1 // the previous instruction's state, which is known if its frame is
	var p flowPlace
	padded := from // the end of padding
	for at := from; at < to; at += p.size() {
		if p = w.found[at]; p == 0 {
			if n := c.r.in.Padding(w.code[at:]); n > 0 && at >= padded {
				padded = at + uint64(n)
			} else if none && open && at >= padded {
				c.flush(w.lo + at)
				c.r.w.close()
				open, known = false, false
			}
			continue
		}
		if known && p.state() == before {
			continue
		}
		addr := w.lo + at
		before = p.state()
		f, ok := c.frameOf(&w.state[before], c.byFP || none && c.keepsFP(&w.state[before]))
		known = ok
		switch {
		case !ok && !none:
			f, ok = c.bodyAt(addr).pdataFrame, true
		case !ok && open:
			c.flush(addr)
			c.r.w.close()
			open = false
		}
		if !ok || open && f == last {
			continue
		}
		if !open {
			c.lo = addr
		}
		c.from(addr, &f)
		last, open = f, true
	}
	if open {
		c.flush(w.lo + to)
	}
}

// unpadded returns the end of the last instruction that was followed.
func (c *compactReader) unpadded(from, to uint64) uint64 {
	w := &c.flow
	for at := to; at > from; at-- {
		if p := w.found[at-1]; p != 0 {
			return at - 1 + p.size()
		}
	}
	return from
}

// reaches reports whether the frame of the encoding is among the frames of the instructions. Without an encoding, all
// frames must be known.
func (c *compactReader) reaches(from, to uint64, body *compactBody) bool {
	w := &c.flow
	found := false
	byFP := body.base != c.leafFrame().base
	before := -1 // the previous instruction's state
	var p flowPlace
	for at := from; at < to; at += p.size() {
		if p = w.found[at]; p == 0 || p.state() == before {
			continue
		}
		before = p.state()
		state := &w.state[before]
		if body.none {
			if found = state.SPKnown && !state.Popped || c.keepsFP(state); !found {
				return false
			}
		} else if f, ok := c.frameOf(state, byFP); ok && f.within(&body.pdataFrame) {
			return true
		}
	}
	return found
}

// within reports whether f has the CFA of o, and everything that o saves in the same places.
func (f *pdataFrame) within(o *pdataFrame) bool {
	if f.base != o.base || f.off != o.off || f.saved&o.saved != o.saved || o.ra != 0 && f.ra != o.ra {
		return false
	}
	for reg := range o.at {
		if o.saved>>reg&1 != 0 && f.at[reg] != o.at[reg] {
			return false
		}
	}
	return true
}

// stubs writes the blocks of a section of stubs. All stubs begin with the frame of a function's entry; only the shared
// code before those of __stub_helper does not.
func (c *compactReader) stubs(e *pdataEntry) error {
	c.code = c.codeAt(e)
	c.body = compactBody{pdataFrame: c.leafFrame(), none: true}
	c.byFP = false
	entry := insn.Enter(c.body.sp, 0)
	w := &c.flow
	w.begin(e.lo, c.code, nil, entry)
	at := uint32(0)
	for int(at) < len(c.code) {
		f := entry
		size, flow, _ := w.effect(c.code[at:], e.lo+uint64(at), &f)
		at += uint32(max(size, 1))
		if flow == insn.Jump {
			at = 0 // a stub comes first, and leads to the shared code
		}
		if flow == insn.Jump || flow == insn.Leave {
			break
		}
	}
	least := uint32(1) // size in bytes of the shortest instruction
	if c.leafFrame().base == arm64SP {
		least = 4
	}
	for int(at) < len(c.code) && !w.full {
		w.try(at, entry, false)
		step := least
		if p := w.found[at]; p != 0 {
			step = max(step, uint32(p.size()))
		}
		at += step
	}
	w.try(0, entry, false)
	c.function(e.lo, e.hi)
	return nil
}
