package symcache

import (
	"context"

	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// builder builds a module from a symcache's ranges.
type builder struct {
	c     *cache
	m     *symfmt.Module
	base  symfmt.RVA
	arena symfmt.Arena
	body  symfmt.BodyBuilder

	names   nameTable
	named   []bool      // functions that a source location refers to
	open    []*openFunc // nested open FUNCs; the last wins
	openAt  map[uint32]int
	spare   []*openFunc // closed ones, kept for their buffers
	chain   []uint32    // current source locations, outermost first
	last    uint32      // start of the last range, if any is set
	any     bool
	budget  int // ranges of INLINEs left
	steps   int // steps along chains left
	damages struct {
		order, location, function, chain, into, budget damage
	}
}

// nodesPerRange is the average number of ranges of INLINEs that a symcache may
// have per range. It bounds memory, because each level of a chain becomes a
// range of its own in a module. Compilers stay below 4.
const nodesPerRange = 16

// stepsPerRange likewise bounds the steps along chains, and so the time.
const stepsPerRange = 64

func newBuilder(c *cache, m *symfmt.Module, base symfmt.RVA) *builder {
	b := &builder{c: c, m: m, base: base, openAt: make(map[uint32]int), budget: nodesPerRange * (c.ranges.len() + symfmt.MaxInlineDepth)}
	b.steps = stepsPerRange * (c.ranges.len() + symfmt.MaxInlineDepth)
	b.named = make([]bool, c.functions.len())
	b.names.init(c, m)
	d := &b.damages
	d.order.lost, d.location.lost, d.chain.lost = "ranges", "ranges", "ranges"
	d.function.lost, d.into.lost = "names of functions", "functions that others are inlined into"
	d.budget.lost = "ranges of INLINE records"
	return b
}

// build adds all FUNCs and PUBLICs.
func (b *builder) build(ctx context.Context) error {
	n := uint32(b.c.ranges.len())
	first := b.c.locations.want - b.c.ranges.want // index of the first range's location
	start, l, at := uint32(0), unknown, uint32(none)
	for i := range n {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		next := b.c.order.Uint32(b.c.ranges.entry(i))
		if b.any && next <= b.last {
			b.c.damaged(&b.damages.order, func() error {
				return b.c.errorf(b.c.ranges.place(i), "a range at %#x after one at %#x: want ascending ranges", next, b.last)
			})
			continue
		}
		nextAt := first + i
		nextLocation := b.locationOf(nextAt)
		if b.any {
			b.add(start, uint64(next), l, at, nextLocation)
		}
		start, l, at = next, nextLocation, nextAt
		b.last, b.any = next, true
	}
	if b.any {
		b.add(start, addressEnd, l, at, location{into: none})
	}
	b.closeTo(0)
	b.names.finish()
	return nil
}

// checkEvery is the number of ranges after which the context is checked.
const checkEvery = 1 << 12

// locationOf returns the source location of a range, unknown if it is missing.
func (b *builder) locationOf(i uint32) location {
	if b.c.locations.has(i) {
		return b.c.location(i)
	}
	b.c.damaged(&b.damages.location, func() error {
		return b.c.errorf(b.c.locations.place(i), "source location %d of a range is past the end of the file", i)
	})
	return unknown
}

// add adds the range from start to end with source location l, number at; next
// is the following range's.
func (b *builder) add(start uint32, end uint64, l location, at uint32, next location) {
	if l == unknown || !b.follow(l, at) {
		b.closeTo(0)
		return
	}
	root := l
	if len(b.chain) > 1 {
		root = b.c.location(b.chain[0])
	}
	if b.isSymbol(l) && next != unknown {
		b.closeTo(0)
		b.m.Publics = append(b.m.Publics, symfmt.Public{RVA: b.base + symfmt.RVA(start), Name: b.function(l.function)})
		return
	}
	f := b.funcOf(root.function, start)
	code := symfmt.Range{RVA: b.base + symfmt.RVA(start), Size: end - uint64(start)}
	f.end = code.RVA + symfmt.RVA(code.Size)
	if l.file != none || l.line != 0 {
		f.addLine(code, l.line, b.names.file(l.file))
	}
	b.addInlines(f, code)
}

// isSymbol reports whether a source location has the form written for a PUBLIC.
func (b *builder) isSymbol(l location) bool {
	return l.file == none && l.line == 0 && l.into == none && b.c.functions.has(l.function) &&
		b.c.order.Uint32(b.c.functions.entry(l.function)[12:]) == noLanguage
}

// follow fills the chain of source locations that l, number at, is inlined
// into. It reports whether the chain has an end.
func (b *builder) follow(l location, at uint32) bool {
	b.chain = append(b.chain[:0], at)
	for l.into != none {
		if b.steps--; len(b.chain) > symfmt.MaxInlineDepth || b.steps < 0 {
			b.c.damaged(&b.damages.chain, func() error { return b.tooLong(at) })
			return false
		}
		if !b.c.locations.has(l.into) {
			last := b.chain[len(b.chain)-1]
			b.c.damaged(&b.damages.into, func() error {
				return b.c.errorf(b.c.locations.place(last)+12, "source location %d is inlined into %d of %d", last, l.into, b.c.locations.len())
			})
			break
		}
		b.chain = append(b.chain, l.into)
		l = b.c.location(l.into)
	}
	for i, j := 0, len(b.chain)-1; i < j; i, j = i+1, j-1 {
		b.chain[i], b.chain[j] = b.chain[j], b.chain[i]
	}
	return true
}

// tooLong returns the reason why the chain of a source location is not followed to its end.
func (b *builder) tooLong(at uint32) error {
	place := b.c.locations.place(at)
	if b.steps < 0 {
		return b.c.errorf(place, "more than %d source locations per range", stepsPerRange)
	}
	return b.c.errorf(place, "source location %d is inlined more than %d times", at, symfmt.MaxInlineDepth)
}

// function returns the name of a function, or "?" if it does not exist.
func (b *builder) function(i uint32) string {
	if !b.c.functions.has(i) {
		b.c.damaged(&b.damages.function, func() error {
			return b.c.errorf(b.c.functions.at, "a source location refers to function %d of %d", i, b.c.functions.len())
		})
		return "?"
	}
	b.named[i] = true
	return b.names.function(i)
}

// funcOf returns the FUNC of a function whose code starts at start: one that is
// open, or a new one inside them.
func (b *builder) funcOf(function, start uint32) *openFunc {
	if at, ok := b.openAt[function]; ok {
		b.closeTo(at + 1)
		return b.open[at]
	}
	f := new(openFunc)
	if n := len(b.spare); n > 0 {
		f, b.spare = b.spare[n-1], b.spare[:n-1]
	}
	f.reset(function, b.base+symfmt.RVA(start), len(b.m.Funcs))
	b.m.Funcs = append(b.m.Funcs, symfmt.Func{RVA: b.base + symfmt.RVA(start), Name: b.function(function)})
	b.openAt[function] = len(b.open)
	b.open = append(b.open, f)
	return f
}

// closeTo closes FUNCs until n are open.
func (b *builder) closeTo(n int) {
	for len(b.open) > n {
		f := b.open[len(b.open)-1]
		b.open = b.open[:len(b.open)-1]
		delete(b.openAt, f.function)
		out := &b.m.Funcs[f.index]
		out.Size = uint64(f.end - f.start)
		out.Body = f.body(&b.body, &b.arena)
		b.spare = append(b.spare, f)
	}
}

// addInlines adds a range to the INLINEs of the chain.
func (b *builder) addInlines(f *openFunc, code symfmt.Range) {
	parent := int32(flatten.NoCall)
	for depth := 0; depth+1 < len(b.chain); depth++ {
		if b.budget == 0 {
			b.c.damaged(&b.damages.budget, func() error {
				return b.c.errorf(b.c.locations.at, "more than %d inlined functions per range", nodesPerRange)
			})
			f.current = f.current[:depth]
			return
		}
		at := b.c.location(b.chain[depth])
		callee := b.c.location(b.chain[depth+1]).function
		key := inlineKey{parent, callee, at.file, at.line}
		n, isNew := f.inline(depth, key)
		if isNew {
			b.describe(&f.nodes[n].inline, depth, at, callee)
		}
		if f.nodes[n].extend(code) {
			b.budget--
		}
		parent = n
	}
	f.current = f.current[:len(b.chain)-1]
}

// describe fills in an INLINE from the source location of a call. A call with an
// unknown file refers to the FILE for unknown files: without a file, as in the
// old form, readers would use the FUNC's.
func (b *builder) describe(in *symfmt.Inline, depth int, at location, callee uint32) {
	in.Depth, in.CallLine, in.CallFile = uint32(depth), at.line, b.names.file(at.file)
	in.Origin = b.names.origin(callee, b.function)
}
