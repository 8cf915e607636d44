package lint

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// maxDepth bounds the nesting levels that are looked at, and so the memory for
// them. Compilers nest inlined calls some dozen levels deep.
const maxDepth = 512

// nesting is how the INLINEs of a FUNC are inside each other. It is brought up to
// date before rules see a record.
type nesting struct {
	levels []nestLevel
	used   int // levels that have ranges of the FUNC
	open   int // levels in which the next INLINE may be, and one more

	overlaps bool // the record has bytes of another of its level and parent

	// The first range of each record that is inside the FUNC, and
	strays  nestRanges // outside of the INLINE of the level above
	orphans nestRanges // outside of all INLINEs of the level above
	skips   nestRanges // of a level too high, but inside an INLINE of the level above
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
	most  uint32 // the greatest level that it may have
	pos   symfmt.Pos
}

// maxStrays is how many ranges of a FUNC may wait for their parent. A FUNC with more
// is damage in another way, and the others are passed over.
const maxStrays = 1 << 12

// begin begins a FUNC.
func (n *nesting) begin() { n.used, n.open = 0, 0 }

// end ends a FUNC.
func (n *nesting) end() {
	n.orphans.end(n.isOrphan)
	notOrphan := func(x *nestRange) bool { return !n.orphans.has(x.pos.Line) }
	n.strays.end(notOrphan)
	n.skips.end(notOrphan)
}

// end keeps the first range of each record for which ok is true.
func (l *nestRanges) end(ok func(*nestRange) bool) {
	l.done = l.done[:0]
	for i := range l.open {
		if x := &l.open[i]; !l.has(x.pos.Line) && ok(x) {
			l.done = append(l.done, *x)
		}
	}
	l.open = l.open[:0]
}

// has reports whether a range of the record at a line was kept.
func (l *nestRanges) has(line int) bool {
	_, ok := slices.BinarySearchFunc(l.done, line, func(x nestRange, line int) int { return cmp.Compare(x.pos.Line, line) })
	return ok
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

// see takes in an INLINE of the FUNC f. One that is too deep is nowhere.
func (n *nesting) see(r *symfmt.Record, f *FuncFact) {
	in := &r.Inline
	d := int(in.Depth)
	n.overlaps = false
	fits := uint64(in.Depth) <= uint64(n.open)
	if in.Depth < maxDepth {
		n.make(d)
		if fits {
			n.openLevel(d, in)
		} else {
			n.skips.add(nestRange{depth: in.Depth, most: uint32(n.open), pos: r.FieldPos(1)})
		}
		n.place(d, r, f, fits)
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

// place looks for the record's ranges in the level above. Ranges outside of the FUNC are left to
// another rule.
func (n *nesting) place(d int, r *symfmt.Record, f *FuncFact, fits bool) {
	if d == 0 {
		return // always fits
	}
	above := &n.levels[d-1]
	for i, x := range r.Inline.Ranges {
		if x.Size == 0 {
			continue
		}
		n.levels[d].all.add(x.RVA, x.Size)
		if fits && above.parent.holds(x.RVA, x.Size) || !f.holds(x) {
			continue
		}
		stray := nestRange{Range: x, depth: r.Inline.Depth, pos: r.FieldPos(rangeField(r, i))}
		if fits && !above.parent.forgot {
			n.strays.add(stray)
		}
		if !n.all(d-1).holds(x.RVA, x.Size) {
			n.orphans.add(stray)
		}
	}
}

// atFuncEnd makes a check that calls report with each range of a list when the FUNC has ended: at
// the next FUNC, or the end of the file.
func atFuncEnd(list func(*nesting) *nestRanges, report func(p *Pass, x *nestRange)) checkFunc {
	return func(p *Pass) (func(*symfmt.Record), func()) {
		end := func() {
			done := list(&p.nest).done
			for i := range done {
				report(p, &done[i])
			}
		}
		return func(*symfmt.Record) { end() }, end
	}
}
