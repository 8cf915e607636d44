package symcache

import (
	"context"
	"github.com/symtool/symtool/symfmt"
)

// builder makes a module of a symcache's ranges.
type builder struct {
	c     *cache
	m     *symfmt.Module
	base  symfmt.RVA
	arena symfmt.Arena
	body  symfmt.BodyBuilder

	names   nameTable
	named   []bool      // functions that a source location names
	open    []*openFunc // FUNCs around each other, of which the last wins
	openAt  map[uint32]int
	spare   []*openFunc // closed ones, for their buffers
	chain   []uint32    // source locations of the place, outermost first
	last    uint32      // where the last range begins, if any is set
	any     bool
	budget  int // of ranges of INLINEs
	steps   int // that may be made along chains
	damages struct {
		order, location, function, chain, into, budget damage
	}
}

// nodesPerRange is how many ranges of INLINEs a symcache may have for each of its
// ranges, on average: a bound for memory, as each level of a chain is a range of
// its own in a module. Compilers stay below 4.
const nodesPerRange = 16

// stepsPerRange is the same for the steps along chains: a bound for time.
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
	first := b.c.locations.want - b.c.ranges.want // of the locations of ranges
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

// checkEvery is after how many ranges the context is looked at.
const checkEvery = 1 << 12

// locationOf returns the source location of a range, unknown if it is not there.
func (b *builder) locationOf(i uint32) location {
	if b.c.locations.has(i) {
		return b.c.location(i)
	}
	b.c.damaged(&b.damages.location, func() error {
		return b.c.errorf(b.c.locations.place(i), "source location %d of a range is past the end of the file", i)
	})
	return unknown
}

// add adds a range, from start to end, with a source location of the number at;
// next is that of the range behind it.
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

// isSymbol reports whether a source location is what is written of a PUBLIC.
func (b *builder) isSymbol(l location) bool {
	return l.file == none && l.line == 0 && l.into == none && b.c.functions.has(l.function) &&
		b.c.order.Uint32(b.c.functions.entry(l.function)[12:]) == noLanguage
}

// follow fills the chain of source locations that l, with the number at, is
// inlined into. It is false if that has no end.
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
		return b.c.errorf(place, "more than %d source locations for each range", stepsPerRange)
	}
	return b.c.errorf(place, "source location %d is inlined more than %d times", at, symfmt.MaxInlineDepth)
}

// function returns the name of a function, "?" for one that is not there.
func (b *builder) function(i uint32) string {
	if !b.c.functions.has(i) {
		b.c.damaged(&b.damages.function, func() error {
			return b.c.errorf(b.c.functions.at, "a source location names function %d of %d", i, b.c.functions.len())
		})
		return "?"
	}
	b.named[i] = true
	return b.names.function(i)
}

// funcOf returns the FUNC of a function whose code starts at start: one of those
// that are open, or a new one inside of them.
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

// closeTo ends FUNCs until n are open.
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
	parent := int32(symfmt.NoCall)
	for depth := 0; depth+1 < len(b.chain); depth++ {
		if b.budget == 0 {
			b.c.damaged(&b.damages.budget, func() error {
				return b.c.errorf(b.c.locations.at, "more than %d inlined functions for each range", nodesPerRange)
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

// describe makes an INLINE of the source location of a call. A call whose file is
// not known names the FILE of that: without one, as in the old form, readers would
// take the FUNC's.
func (b *builder) describe(in *symfmt.Inline, depth int, at location, callee uint32) {
	in.Depth, in.CallLine, in.CallFile = uint32(depth), at.line, b.names.file(at.file)
	in.Origin = b.names.origin(callee, b.function)
}
