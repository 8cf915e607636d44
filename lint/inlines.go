package lint

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/symfmt"
)

// maxDepth bounds the nesting levels that are looked at, and so the memory for
// them. Compilers nest inlined calls some dozen levels deep.
const maxDepth = 512

// maxRanges is how many ranges Breakpad reads: 512 fields, of which four come first.
const maxRanges = 254

// nesting are the INLINEs that the next one may be inside.
type nesting struct {
	fn     int         // number of the FUNC, to see the next one begin
	levels []nestLevel // the last INLINE of each level, and what is at its side
	depth  int         // of levels that are open
}

// nestLevel is a level of nesting.
type nestLevel struct {
	parent spans // ranges of the last INLINE
	taken  spans // by it and those before it inside the same parent
}

// begin goes to the levels of the FUNC that r belongs to.
func (n *nesting) begin(p *Pass) {
	if fn := p.Functions.Len() + 1; fn != n.fn {
		n.fn, n.depth = fn, 0
	}
}

// open makes r the last INLINE of its level.
func (n *nesting) open(in *symfmt.Inline) (again bool) {
	d := int(in.Depth)
	for d >= len(n.levels) {
		n.levels = append(n.levels, nestLevel{})
	}
	level := &n.levels[d]
	if d >= n.depth {
		level.taken.reset()
	}
	n.depth = d + 1
	level.parent.reset()
	for _, x := range in.Ranges {
		if x.Size == 0 {
			continue
		}
		level.parent.add(x.RVA, x.Size)
		again = level.taken.add(x.RVA, x.Size) > 0 || again
	}
	return again
}

// fits tells whether an INLINE has a parent: one a level higher in front of it.
func (n *nesting) fits(in *symfmt.Inline) bool { return uint64(in.Depth) <= uint64(n.depth) }

var inlineRules = sync.OnceValue(func() []*Rule {
	return []*Rule{
		{
			ID:       "SYM313",
			Title:    "INLINE skips a level",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `The level of an INLINE is at most one above that of the INLINE before it, and 0 for
the first. Breakpad drops one that skips a level, and the inlined call is missing in
stacks; rust-minidump sorts them. Mozilla's dump_syms orders INLINEs by address, not by
call. symtool dump writes them in order.`,
			Bad: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4 1008 4\n" +
				"INLINE 1 5 0 0 1000 2\nINLINE 0 7 0 0 1004 4\nINLINE 2 5 0 0 1000 2\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:   8,
			On:   onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				var n nesting
				return func(r *symfmt.Record) {
					if !p.InFunc {
						return
					}
					n.begin(p)
					if !n.fits(&r.Inline) {
						p.Report(r, 1, "level %d, want at most %d here", r.Inline.Depth, n.depth)
						return
					}
					n.depth = int(r.Inline.Depth) + 1
				}, nil
			},
		},
		{
			ID:       "SYM314",
			Title:    "INLINE range outside its FUNC",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `Readers look for the function first, so that this part of the range is never found:
if the code is in another part of a split function, the inlined call is missing there.
Breakpad's dumper repeats all INLINEs under every part.`,
			Cites: []string{"symbolic#603"},
			Bad:   head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 100c 8\n1000 10 1 0\n",
			Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:    5,
			On:    onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				return func(r *symfmt.Record) {
					if !p.InFunc {
						return
					}
					for i, x := range r.Inline.Ranges {
						if at := uint64(x.RVA - p.Func.RVA); x.RVA < p.Func.RVA || at > p.Func.Size || x.Size > p.Func.Size-at {
							p.Report(r, rangeField(r, i), "range [%x, %x) outside the function [%x, %x)",
								x.RVA, x.RVA+symfmt.RVA(x.Size), p.Func.RVA, p.Func.End())
							return
						}
					}
				}, nil
			},
		},
		{
			ID:       "SYM315",
			Title:    "INLINE range outside its parent",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `"The ranges of an INLINE record are always inside the ranges described by its parent
record", the last in front of it that is a level higher. Breakpad makes the larger range
the caller, or drops the record: the stack has the calls in the wrong order, or misses
one. rust-minidump looks at levels alone, and finds it where another INLINE of the level
above holds it: where none does, see SYM325. Mozilla's dump_syms joins equal neighbours
of two calls.`,
			Bad: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" +
				"INLINE 1 6 0 0 1004 8\nINLINE 0 7 0 0 1008 8\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" +
				"INLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
			At:    6,
			On:    onBody,
			Check: insideParent,
		},
		{
			ID:       "SYM316",
			Title:    "INLINEs of one level overlap",
			Severity: Error,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc: `An instruction comes from one call of a level. Breakpad drops a range that overlaps in
part, rust-minidump takes one of the two: the stack has the wrong call.`,
			Bad: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\n" +
				"INLINE 0 6 0 0 1004 8\n1000 10 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\n" +
				"INLINE 0 6 0 0 1004 8\n1000 10 1 0\n",
			At:    6,
			On:    onInline,
			Check: siblings,
		},
		{
			ID:       "SYM317",
			Title:    "INLINE range without bytes",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "symbol_files: INLINE records",
			Doc:      `Readers drop it. A linker or compiler removed the code, or the dumper took an end for a start.`,
			Bad:      head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1004 0\n1000 10 1 0\n",
			Good:     head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:       5,
			On:       onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				return func(r *symfmt.Record) {
					for i, x := range r.Inline.Ranges {
						if x.Size == 0 {
							p.Report(r, rangeField(r, i)+1, "range at %x of size 0", x.RVA)
							return
						}
					}
				}, nil
			},
		},
		{
			ID:       "SYM318",
			Title:    "INLINE behind line records",
			Severity: Note,
			Since:    "0.1",
			Spec:     "symtool: order of what it writes",
			Doc: `Readers take any order; dumpers write the INLINEs of a FUNC in front of its lines. It
is told once.`,
			Bad:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\n1000 10 1 0\nINLINE 0 5 0 0 1004 4\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\n" + inlined,
			At:   6,
			On:   onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				n, first := 0, 0
				return func(r *symfmt.Record) {
						if p.InFunc && p.Func.Lines > 0 {
							if n++; n == 1 {
								first = r.Pos().Line
							}
						}
					}, func() {
						if n > 0 {
							p.ReportLine(first, "INLINE behind line records; %s of this kind", plural(n, "record"))
						}
					}
			},
		},
		{
			ID:       "SYM319",
			Title:    "INLINE with more ranges than Breakpad reads",
			Severity: Warning,
			Since:    "0.1",
			Spec:     "Breakpad: ParseInline",
			Doc: `Breakpad reads 512 fields of an INLINE, which are 254 ranges, and drops a record with
more: the call and those inlined into it are missing in stacks.`,
			Bad:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 1000 0 f\nINLINE 0 5 0 0" + manyRanges(maxRanges+1) + "\n1000 1000 1 0\n",
			Good: head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 1000 0 f\nINLINE 0 5 0 0" + manyRanges(maxRanges) + "\n1000 1000 1 0\n",
			At:   5,
			On:   onInline,
			Check: func(p *Pass) (func(*symfmt.Record), func()) {
				return func(r *symfmt.Record) {
					if n := len(r.Inline.Ranges); n > maxRanges {
						p.Report(r, -1, "INLINE of %s, want at most %d", plural(n, "range"), maxRanges)
					}
				}, nil
			},
		},
	}
})

// rangeField is the field of an INLINE in which range number i starts.
func rangeField(r *symfmt.Record, i int) int {
	if r.OldForm {
		return 4 + 2*i
	}
	return 5 + 2*i
}

// insideParent waits for the end of the FUNC: what no INLINE of the level above
// holds is another rule's.
func insideParent(p *Pass) (func(*symfmt.Record), func()) {
	var n nesting
	var l levels
	var outside []openRange
	end := func() {
		for _, o := range outside {
			if above := &l.list[o.depth-1]; above.forgot || above.holds(o.rng.RVA, o.rng.Size) {
				p.reportPos(o.pos, "range [%x, %x) outside the INLINE of level %d before it", o.rng.RVA, o.rng.RVA+symfmt.RVA(o.rng.Size), o.depth-1)
			}
		}
		outside = outside[:0]
		l.begin()
	}
	return func(r *symfmt.Record) {
		if r.Kind == symfmt.KindFunc {
			end()
			return
		}
		in := &r.Inline
		if !p.InFunc || in.Depth >= maxDepth {
			return
		}
		l.add(r)
		n.begin(p)
		if !n.fits(in) {
			return
		}
		if i := n.outside(in); i >= 0 && len(outside) < maxOpen {
			outside = append(outside, openRange{in.Ranges[i], in.Depth, r.FieldPos(rangeField(r, i))})
		}
		n.open(in)
	}, end
}

// outside finds the first range of an INLINE that is not inside its parent, -1 if
// there is none.
func (n *nesting) outside(in *symfmt.Inline) int {
	if in.Depth == 0 {
		return -1
	}
	parent := &n.levels[in.Depth-1].parent
	return slices.IndexFunc(in.Ranges, func(x symfmt.Range) bool {
		return x.Size > 0 && !parent.forgot && !parent.holds(x.RVA, x.Size)
	})
}

func siblings(p *Pass) (func(*symfmt.Record), func()) {
	var n nesting
	return func(r *symfmt.Record) {
		if !p.InFunc {
			return
		}
		n.begin(p)
		in := &r.Inline
		if n.fits(in) && in.Depth < maxDepth && n.open(in) {
			p.Report(r, 1, "ranges overlap those of another INLINE of level %d with the same parent", in.Depth)
		}
	}, nil
}

// manyRanges are ranges of an example.
func manyRanges(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, " %x 1", 0x1000+2*i)
	}
	return b.String()
}
