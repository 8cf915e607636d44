package minidump

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
)

// list iterates over a list of n-byte entries, which follow their count, a 32-bit number. Writers
// that align entries put 4 bytes after the count.
func (r *reader) list(s span, n int, each func(i, n int, c *bin.Cursor)) {
	c := r.cursor(s)
	count := uint64(c.U32())
	if s.size == 8+count*uint64(n) && len(s.data) >= 8 {
		c.Skip(4)
	}
	r.entries(s, &c, count, uint64(n), each)
}

// longList is like list for a header with its own size and the size of an entry. wide means that
// the count has 64 bits; least is the size of the known fields.
func (r *reader) longList(s span, wide bool, least int, each func(i, n int, c *bin.Cursor)) {
	c := r.cursor(s)
	header, entry := c.U32(), c.U32()
	count := uint64(0)
	if wide {
		count = c.U64()
	} else {
		count = uint64(c.U32())
	}
	if c.Err() == nil && (entry < uint32(least) || header < uint32(c.Pos())) {
		r.problemf(s.name, s.off, "a header of %d bytes and entries of %d, want at least %d and %d", header, entry, c.Pos(), least)
		return
	}
	if c.Err() == nil {
		c.Skip(uint64(header) - uint64(c.Pos()))
	}
	r.entries(s, &c, count, uint64(entry), each)
}

// entries calls each with the index of an entry, the number of entries and a
// cursor at it, for each complete entry.
func (r *reader) entries(s span, c *bin.Cursor, count, n uint64, each func(i, n int, c *bin.Cursor)) {
	if err := c.Err(); err != nil {
		r.problem(s.name, err)
		return
	}
	have := uint64(c.Len()) / n
	if count > have {
		r.problemf(fmt.Sprintf("%d entries of %s", count-have, s.name), c.Offset(), "%d entries of %d bytes, of which there are %d", count, n, have)
		count = have
	}
	for i := range int(count) {
		off := c.Offset()
		entry := bin.NewAt("", c.Bytes(n), off, r.order)
		each(i, int(count), &entry)
	}
}
