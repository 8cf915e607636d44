package minidump

import (
	"fmt"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/walk/dump"
)

func (r *reader) memoryList(s span) {
	const size = 16 // MINIDUMP_MEMORY_DESCRIPTOR
	r.list(s, size, func(i, n int, c *bin.Cursor) {
		r.regions = slices.Grow(r.regions, n-i)
		addr := c.U64()
		if region, ok := r.region(addr, place(c), label{"memory", i}); ok {
			r.regions = append(r.regions, region)
		}
	})
}

// region returns the memory at a location in the file, as much of it as the file has.
func (r *reader) region(addr uint64, l location, what label) (dump.Region, bool) {
	data, whole := r.at(l)
	if !whole {
		r.problemf(fmt.Sprintf("the rest of %s at %#x", what, addr), l.off, "%d bytes of memory, of which the file has %d", l.size, len(data))
	}
	return dump.Region{Addr: addr, Data: data}, len(data) > 0
}

// memory64List reads a list whose memory is contiguous in the file.
func (r *reader) memory64List(s span) {
	const size = 16 // MINIDUMP_MEMORY_DESCRIPTOR64
	c := r.cursor(s)
	count, off := c.U64(), c.U64()
	r.entries(s, &c, count, size, func(i, entries int, c *bin.Cursor) {
		r.regions = slices.Grow(r.regions, entries-i)
		addr, n := c.U64(), c.U64()
		if region, ok := r.region(addr, location{off, n}, label{"memory", i}); ok {
			r.regions = append(r.regions, region)
		}
		if off+n < off {
			off = uint64(len(r.data)) // this is the last memory that the file has
		} else {
			off += n
		}
	})
}

// Page protections of Windows, from winnt.h, and the state of memory that is in
// use.
const (
	pageWritable   = 0x04 | 0x08 | 0x40 | 0x80
	pageReadable   = pageWritable | 0x02 | 0x20
	pageExecutable = 0x10 | 0x20 | 0x40 | 0x80
	memCommit      = 0x1000
)

func (r *reader) memoryInfoList(s span) {
	const least = 48 // MINIDUMP_MEMORY_INFO
	r.longList(s, true, least, func(i, n int, c *bin.Cursor) {
		r.memInfo = slices.Grow(r.memInfo, n-i)
		var m dump.Mapping
		m.Addr, m.AllocBase, m.AllocProtect = c.U64(), c.U64(), c.U32()
		c.Skip(4)
		m.Size, m.State, m.Protect, m.Type = c.U64(), c.U32(), c.U32(), c.U32()
		if m.State == memCommit {
			m.Read, m.Write, m.Exec = m.Protect&pageReadable != 0, m.Protect&pageWritable != 0, m.Protect&pageExecutable != 0
		}
		r.memInfo = append(r.memInfo, m)
	})
}
