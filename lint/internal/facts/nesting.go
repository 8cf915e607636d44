package facts

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// MaxDepth limits the nesting levels that are tracked, and so their memory.
// Compilers nest inlined calls some dozen levels deep.
const MaxDepth = 512

// Nesting tracks how the INLINEs of a FUNC are nested. It is updated before rules
// see a record.
type Nesting struct {
	levels []nestLevel
	used   int // number of levels with ranges of the FUNC
	open   int // highest level at which the next INLINE may be

	Overlaps bool // the record shares bytes with another of its level and parent

	// The first range of each record that is inside the FUNC and
	Strays  NestedRanges // outside the last INLINE of the level above
	Orphans NestedRanges // outside all INLINEs of the level above
	Skips   NestedRanges // at too high a level, but inside an INLINE of the level above
}

// NestedRanges are ranges without a place. A later INLINE of the level above may
// still contain them.
type NestedRanges struct {
	open []Nested // of the FUNC
	Done []Nested // of the last FUNC that ended
}

// nestLevel holds the ranges of a nesting level.
type nestLevel struct {
	parent extent.Spans // ranges of the last INLINE
	taken  extent.Spans // ranges of it and of earlier ones inside the same parent
	all    extent.Spans // ranges of all INLINEs; for level 0, they are in taken
}

// Nested is a range of an INLINE.
type Nested struct {
	symfmt.Range
	Depth uint32
	Most  uint32 // highest level that it may have
	Pos   symfmt.Pos
}

// maxStrays is how many ranges of a FUNC may wait for their parent. A FUNC with more
// is damaged in another way, and further ranges are ignored.
const maxStrays = 1 << 12

// begin begins a FUNC.
func (n *Nesting) begin() { n.used, n.open = 0, 0 }

// end ends a FUNC.
func (n *Nesting) end() {
	n.Orphans.end(n.isOrphan)
	notOrphan := func(x *Nested) bool { return !n.Orphans.has(x.Pos.Line) }
	n.Strays.end(notOrphan)
	n.Skips.end(notOrphan)
}

// end keeps the first range of each record for which ok returns true.
func (l *NestedRanges) end(ok func(*Nested) bool) {
	l.Done = l.Done[:0]
	for i := range l.open {
		if x := &l.open[i]; !l.has(x.Pos.Line) && ok(x) {
			l.Done = append(l.Done, *x)
		}
	}
	l.open = l.open[:0]
}

// has reports whether a range of the record at a line was kept.
func (l *NestedRanges) has(line int) bool {
	_, ok := slices.BinarySearchFunc(l.Done, line, func(x Nested, line int) int { return cmp.Compare(x.Pos.Line, line) })
	return ok
}

func (l *NestedRanges) add(x Nested) {
	if len(l.open) < maxStrays {
		l.open = append(l.open, x)
	}
}

func (n *Nesting) isOrphan(x *Nested) bool {
	above := n.all(int(x.Depth) - 1)
	return !above.Forgot && !above.Holds(x.RVA, x.Size)
}

// all returns the ranges of all INLINEs of a level.
func (n *Nesting) all(depth int) *extent.Spans {
	if depth == 0 {
		return &n.levels[0].taken
	}
	return &n.levels[depth].all
}

// see processes an INLINE of f, ignoring it if it is too deep.
func (n *Nesting) see(r *symfmt.Record, f *Func) {
	in := &r.Inline
	d := int(in.Depth)
	n.Overlaps = false
	fits := uint64(in.Depth) <= uint64(n.open)
	if in.Depth < MaxDepth {
		n.make(d)
		if fits {
			n.openLevel(d, in)
		} else {
			n.Skips.add(Nested{Depth: in.Depth, Most: uint32(n.open), Pos: r.FieldPos(1)})
		}
		n.place(d, r, f, fits)
	}
	if fits {
		n.open = d + 1
	}
}

// make creates the levels up to and including d.
func (n *Nesting) make(d int) {
	for d >= len(n.levels) {
		n.levels = append(n.levels, nestLevel{})
	}
	for ; n.used <= d; n.used++ {
		n.all(n.used).Reset()
	}
}

// openLevel makes an INLINE the last one of its level.
func (n *Nesting) openLevel(d int, in *symfmt.Inline) {
	level := &n.levels[d]
	if d >= n.open {
		level.taken.Reset()
	}
	level.parent.Reset()
	for _, x := range in.Ranges {
		if x.Size > 0 {
			level.parent.Add(x.RVA, x.Size)
			n.Overlaps = level.taken.Add(x.RVA, x.Size) > 0 || n.Overlaps
		}
	}
}

// place looks for the record's ranges in the level above. It leaves ranges outside the FUNC to
// another rule.
func (n *Nesting) place(d int, r *symfmt.Record, f *Func, fits bool) {
	if d == 0 {
		return // level 0 always fits
	}
	above := &n.levels[d-1]
	for i, x := range r.Inline.Ranges {
		if x.Size == 0 {
			continue
		}
		n.levels[d].all.Add(x.RVA, x.Size)
		if fits && above.parent.Holds(x.RVA, x.Size) || !f.Holds(x) {
			continue
		}
		stray := Nested{Range: x, Depth: r.Inline.Depth, Pos: r.FieldPos(RangeField(r, i))}
		if fits && !above.parent.Forgot {
			n.Strays.add(stray)
		}
		if !n.all(d-1).Holds(x.RVA, x.Size) {
			n.Orphans.add(stray)
		}
	}
}

// RangeField returns the number of the field of an INLINE where range i starts.
func RangeField(r *symfmt.Record, i int) int {
	if r.OldForm {
		return 4 + 2*i
	}
	return 5 + 2*i
}
