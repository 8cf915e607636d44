package lint

import "github.com/symtool/symtool/symfmt"

// maxDepth bounds the nesting levels that are looked at, and so the memory for
// them. Compilers nest inlined calls some dozen levels deep.
const maxDepth = 512

// nesting is how the INLINEs of a FUNC are inside each other. It is brought up to
// date before rules see a record.
type nesting struct {
	levels []nestLevel
	used   int // levels that have ranges of the FUNC
	open   int // levels in which the next INLINE may be, and one more

	// Of the record:
	most     int  // the greatest level that it may have
	overlaps bool // it has bytes of another of its level and parent

	strays  nestRanges // outside of the INLINE of the level above: the first of each record
	orphans nestRanges // outside of all INLINEs of the level above
}

// nestRanges are ranges that have no place. An INLINE of the level above that comes
// later may hold them.
type nestRanges struct {
	open []nestRange // of the FUNC
	done []nestRange // of the last FUNC that ended
}

// nestLevel are ranges of a level of nesting.
type nestLevel struct {
	parent spans // of the last INLINE
	taken  spans // of it and those before it inside the same parent
	all    spans // of all INLINEs; of level 0, taken has them
}

// nestRange is a range of an INLINE.
type nestRange struct {
	symfmt.Range
	depth uint32
	pos   symfmt.Pos
}

// maxStrays is how many ranges of a FUNC may wait for their parent. A FUNC with more
// is damage in another way, and the others are passed over.
const maxStrays = 1 << 12

// begin begins a FUNC.
func (n *nesting) begin() { n.used, n.open = 0, 0 }

// end ends a FUNC.
func (n *nesting) end() {
	n.strays.end(func(x *nestRange) bool { return !n.isOrphan(x) })
	n.orphans.end(n.isOrphan)
}

// end keeps the ranges for which ok is true.
func (l *nestRanges) end(ok func(*nestRange) bool) {
	l.done = l.done[:0]
	for i := range l.open {
		if ok(&l.open[i]) {
			l.done = append(l.done, l.open[i])
		}
	}
	l.open = l.open[:0]
}

func (l *nestRanges) add(x nestRange) {
	if len(l.open) < maxStrays {
		l.open = append(l.open, x)
	}
}

func (n *nesting) isOrphan(x *nestRange) bool {
	above := n.all(int(x.depth) - 1)
	return !above.forgot && !above.holds(x.RVA, x.Size)
}

// all are the ranges of all INLINEs of a level.
func (n *nesting) all(depth int) *spans {
	if depth == 0 {
		return &n.levels[0].taken
	}
	return &n.levels[depth].all
}

// see takes in an INLINE of the FUNC.
func (n *nesting) see(r *symfmt.Record) {
	in := &r.Inline
	d := int(in.Depth)
	n.most, n.overlaps = n.open, false
	fits := uint64(in.Depth) <= uint64(n.open)
	if in.Depth < maxDepth {
		n.make(d)
		if fits {
			n.openLevel(d, in)
		}
		n.place(d, r, fits)
	}
	if fits {
		n.open = d + 1
	}
}

// make makes the levels up to d.
func (n *nesting) make(d int) {
	for d >= len(n.levels) {
		n.levels = append(n.levels, nestLevel{})
	}
	for ; n.used <= d; n.used++ {
		n.all(n.used).reset()
	}
}

// openLevel makes an INLINE the last one of its level.
func (n *nesting) openLevel(d int, in *symfmt.Inline) {
	level := &n.levels[d]
	if d >= n.open {
		level.taken.reset()
	}
	level.parent.reset()
	for _, x := range in.Ranges {
		if x.Size > 0 {
			level.parent.add(x.RVA, x.Size)
			n.overlaps = level.taken.add(x.RVA, x.Size) > 0 || n.overlaps
		}
	}
}

// place looks for the ranges in the level above.
func (n *nesting) place(d int, r *symfmt.Record, fits bool) {
	if d == 0 {
		return // always fits
	}
	above, stray := &n.levels[d-1], false
	for i, x := range r.Inline.Ranges {
		if x.Size == 0 {
			continue
		}
		n.levels[d].all.add(x.RVA, x.Size)
		if fits && above.parent.holds(x.RVA, x.Size) {
			continue
		}
		if fits && !above.parent.forgot && !stray {
			stray = true
			n.strays.add(nestRange{x, r.Inline.Depth, r.FieldPos(rangeField(r, i))})
		}
		if !n.all(d-1).holds(x.RVA, x.Size) {
			n.orphans.add(nestRange{x, r.Inline.Depth, r.FieldPos(rangeField(r, i))})
		}
	}
}

// atFuncEnd makes a check that tells of each range of a list when the FUNC has ended:
// at the next FUNC, or the end of the file.
func atFuncEnd(list func(*nesting) *nestRanges, tell func(p *Pass, x *nestRange)) checkFunc {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		end := func() {
			done := list(&p.nest).done
			for i := range done {
				tell(p, &done[i])
			}
		}
		return func(*symfmt.Record) { end() }, end
	}
}
