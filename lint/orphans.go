package lint

import "github.com/symtool/symtool/symfmt"

// orphanRule is told by levels alone, and at the end of a FUNC: an INLINE of the
// level above may come later.
var orphanRule = &Rule{
	ID:       "SYM325",
	Title:    "INLINE range that no INLINE of the level above holds",
	Severity: Error,
	Since:    "0.1",
	Spec:     "symbol_files: INLINE records",
	Doc: `The call that this one is inside is missing, with its name and line. rust-minidump
goes from level to level and stops at the gap: this call is missing in stacks, too.
Breakpad shows it as if the function itself had made it.`,
	Bad:   head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 4\nINLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
	Good:  head + "FILE 0 a.c\nINLINE_ORIGIN 0 g\nFUNC 1000 10 0 f\nINLINE 0 5 0 0 1000 8\nINLINE 1 6 0 0 1004 4\n1000 10 1 0\n",
	At:    6,
	On:    onBody,
	Check: orphans,
}

// onBody are INLINEs, and the FUNC that ends those before.
var onBody = []symfmt.Kind{symfmt.KindFunc, symfmt.KindInline}

// maxOpen is how many ranges of a FUNC may wait for their parent. A FUNC with more
// is damage in another way, and the others are passed over.
const maxOpen = 1 << 12

// openRange is a range that nothing of the level above held when it came.
type openRange struct {
	rng   symfmt.Range
	depth uint32
	pos   symfmt.Pos
}

// levels are what the INLINEs of a FUNC cover, by level.
type levels struct {
	list []spans
	used int
	open []openRange
}

func (l *levels) begin() {
	l.used, l.open = 0, l.open[:0]
}

// add adds the ranges of an INLINE.
func (l *levels) add(r *symfmt.Record) {
	in := &r.Inline
	d := int(in.Depth)
	for d >= len(l.list) {
		l.list = append(l.list, spans{})
	}
	for ; l.used <= d; l.used++ {
		l.list[l.used].reset()
	}
	for i, x := range in.Ranges {
		if x.Size == 0 {
			continue
		}
		l.list[d].add(x.RVA, x.Size)
		if d > 0 && !l.list[d-1].holds(x.RVA, x.Size) && len(l.open) < maxOpen {
			l.open = append(l.open, openRange{x, in.Depth, r.FieldPos(rangeField(r, i))})
		}
	}
}

func orphans(p *Pass) (func(*symfmt.Record), func()) {
	var l levels
	end := func() {
		for _, o := range l.open {
			above := &l.list[o.depth-1]
			if !above.forgot && !above.holds(o.rng.RVA, o.rng.Size) {
				p.reportPos(o.pos, "no INLINE of level %d holds the range [%x, %x)", o.depth-1, o.rng.RVA, o.rng.RVA+symfmt.RVA(o.rng.Size))
			}
		}
		l.begin()
	}
	return func(r *symfmt.Record) {
		if r.Kind == symfmt.KindFunc {
			end()
		} else if p.InFunc && r.Inline.Depth < maxDepth {
			l.add(r)
		}
	}, end
}
