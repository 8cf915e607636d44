package facts

import (
	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
)

// lineCover counts the bytes of a function that its line records cover. Lines in
// order and without gaps cost nothing; for others it keeps ranges until the
// function ends.
type lineCover struct {
	start  symfmt.RVA
	size   uint64
	run    lineSpan   // offsets that the latest lines cover without a gap
	before []lineSpan // earlier runs
	room   int        // number of runs kept before they are joined
}

// lineSpan is a range of offsets or RVAs, [start, end).
type lineSpan struct{ start, end uint64 }

func (c *lineCover) begin(f *Func) {
	*c = lineCover{start: f.RVA, size: f.Size, before: c.before[:0], room: minRoom}
}

// add adds a line record. Bytes outside the function are ignored.
func (c *lineCover) add(rva symfmt.RVA, size uint64) {
	start, end := uint64(rva-c.start), uint64(0)
	switch {
	case rva < c.start:
		if before := uint64(c.start - rva); size > before {
			start, end = 0, min(size-before, c.size)
		} else {
			return
		}
	case start >= c.size:
		return
	default:
		end = start + min(size, c.size-start)
	}
	if start == c.run.end { // by far the most common
		c.run.end = end
		return
	}
	c.keep()
	c.run = lineSpan{start, end}
}

// keep moves the current run to the earlier ones.
func (c *lineCover) keep() {
	if c.run.start == c.run.end {
		return
	}
	c.before = append(c.before, c.run)
	if len(c.before) > c.room {
		c.before = lineSpans.Join(c.before)
		c.room = max(minRoom, 2*len(c.before))
	}
}

// minRoom is the least number of runs that are kept before they are joined.
const minRoom = 1 << 12

// end ends the function, and returns the number of its bytes that lines cover.
func (c *lineCover) end() (n uint64) {
	c.keep()
	c.before = lineSpans.Join(c.before)
	for _, s := range c.before {
		n += s.end - s.start
	}
	return n
}

var lineSpans = span.Type[lineSpan]{
	Ends: func(s lineSpan) (start, end uint64) { return s.start, s.end },
	Make: func(start, end uint64) lineSpan { return lineSpan{start, end} },
}
