package dwarf

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/bin"
)

// CodeIndex is a .debug_aranges section (DWARF 5, 6.1.2): the code of units, as their producers list it.
// Units may be missing, and so may some of the code of the others.
type CodeIndex struct {
	sets  []codeSet // in order of the units' offsets
	spans []Span
}

// codeSet is the code of a unit, spans[first:last].
type codeSet struct {
	unit        uint64 // its offset in .debug_info
	first, last int
}

// arangesVersion is the version of the section, in DWARF 2 to 5.
const arangesVersion = 2

// ReadCodeIndex decodes a .debug_aranges section. It returns nil if the section is damaged in any way.
func (d *Sections) ReadCodeIndex(data []byte) *CodeIndex {
	x := &CodeIndex{}
	c := bin.New(".debug_aranges", data, d.Order.byteOrder())
	for c.Len() > 0 {
		if !x.readSet(d, &c) {
			return nil
		}
	}
	slices.SortFunc(x.sets, func(a, b codeSet) int { return cmp.Compare(a.unit, b.unit) })
	for i := 1; i < len(x.sets); i++ {
		if x.sets[i].unit == x.sets[i-1].unit {
			return nil
		}
	}
	return x
}

// readSet reads the ranges of a unit. It reports false if they are damaged.
func (x *CodeIndex) readSet(d *Sections, c *bin.Cursor) bool {
	start := c.Pos()
	length, offsetSize := uint64(c.U32()), 4
	if length == 0xffffffff {
		length, offsetSize = c.U64(), 8
	}
	if c.Err() != nil || length > uint64(c.Len()) {
		return false
	}
	end := c.Pos() + int(length)
	version := c.U16()
	set := codeSet{unit: c.Uint(offsetSize), first: len(x.spans)}
	size, segment := int(c.U8()), c.U8()
	if c.Err() != nil || version != arangesVersion || size != 4 && size != 8 || segment != 0 {
		return false
	}
	if over := (c.Pos() - start) % (2 * size); over > 0 {
		c.Skip(uint64(2*size - over)) // ranges are aligned to their size
	}
	for c.Pos()+2*size <= end {
		lo, n := c.Uint(size), c.Uint(size)
		if lo == 0 && n == 0 {
			break
		}
		lo &^= d.ISA
		if hi := lo + n; hi > lo {
			x.spans = append(x.spans, Span{lo, hi})
		}
	}
	if c.Err() != nil || c.Pos() > end {
		return false
	}
	c.Seek(end)
	set.last = len(x.spans)
	x.sets = append(x.sets, set)
	return true
}

// Of returns the code of the unit at offset unit of .debug_info. It reports false if the unit is not
// listed.
func (x *CodeIndex) Of(unit uint64) ([]Span, bool) {
	if x == nil {
		return nil, false
	}
	i := sort.Search(len(x.sets), func(i int) bool { return x.sets[i].unit >= unit })
	if i == len(x.sets) || x.sets[i].unit != unit {
		return nil, false
	}
	return x.spans[x.sets[i].first:x.sets[i].last], true
}

// Units returns the offsets of the units in .debug_info, in order.
func (x *CodeIndex) Units() []uint64 {
	all := make([]uint64, len(x.sets))
	for i := range x.sets {
		all[i] = x.sets[i].unit
	}
	return all
}
