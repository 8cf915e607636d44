package symcache

import (
	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// flat is a FUNC cut into segments, with what has been written for its calls: each
// call's function and source location, or none, and the index of equal calls.
type flat struct {
	flatten.Flat
	callees []uint32
	written []uint32
	known   map[location]uint32
}

// flatten fills out, reusing its buffers.
func (t *tables) flatten(f *symfmt.Func, out *flat) {
	p := &t.flattener
	p.Reset(f.RVA)
	for r := f.LineReader(); r.Next(); {
		p.AddLine(&r.Line)
	}
	for r := f.InlineReader(); r.Next(); {
		p.AddInline(&r.Inline)
	}
	p.Flatten(&out.Flat)
	out.forget()
}

// maxKnown is the largest map that is cleared for the next FUNC. A larger one
// is dropped, as clear would have to walk all of it each time.
const maxKnown = 4096

// forget marks all calls as not yet written.
func (c *flat) forget() {
	c.written, c.callees = c.written[:0], c.callees[:0]
	for range c.Calls {
		c.written, c.callees = append(c.written, none), append(c.callees, none)
	}
	if c.known == nil || len(c.known) > maxKnown {
		c.known = make(map[location]uint32)
	}
	clear(c.known)
}

// segmentAt returns the index of the last segment that begins at or before off.
func segmentAt(segments []flatten.Segment, off uint32) int {
	lo, hi := 0, len(segments)
	for lo < hi {
		if mid := (lo + hi) / 2; segments[mid].Off <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}
