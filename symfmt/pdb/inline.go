package pdb

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symtool/symtool/symfmt"
)

// Operations of binary annotations (cvinfo.h, BinaryAnnotationOpcode).
const (
	noteCodeOffset = 1 + iota
	noteCodeBase
	noteAddCode
	noteLength
	noteFile
	noteAddLine
	noteAddEndLine
	noteRangeKind
	noteColumn
	noteAddColumn
	noteCodeAndLine
	noteLengthAndCode
	noteEndColumn
)

// notes reads the compressed numbers of annotations.
type notes struct {
	b   []byte
	bad bool
}

func (n *notes) number() uint32 {
	b := n.b
	switch {
	case len(b) >= 1 && b[0]&0x80 == 0:
		n.b = b[1:]
		return uint32(b[0])
	case len(b) >= 2 && b[0]&0xc0 == 0x80:
		n.b = b[2:]
		return uint32(b[0]&0x3f)<<8 | uint32(b[1])
	case len(b) >= 4 && b[0]&0xe0 == 0xc0:
		n.b = b[4:]
		return uint32(b[0]&0x1f)<<24 | uint32(b[1])<<16 | uint32(b[2])<<8 | uint32(b[3])
	}
	n.bad = true
	return 0
}

func signed(v uint32) int32 {
	if v&1 != 0 {
		return -int32(v >> 1)
	}
	return int32(v >> 1)
}

// expand returns the rows of an inlined call in p, in ascending order, valid until the next call. A row without
// a length extends to the next one, and the last one to the end of the function.
func (m *moduleLines) expand(p *proc, s *site) []row {
	m.raw = m.annotated(m.raw[:0], p, s)
	return closeRows(m.raw, p.rva+symfmt.RVA(p.size))
}

// annotated appends the rows that the annotations of an inlined call in p describe. A row without a length
// has no end.
func (m *moduleLines) annotated(rows []row, p *proc, s *site) []row {
	where := m.inlinees[s.inlinee]
	n := notes{b: s.notes}
	code, line, file, length := uint32(0), where.line, where.file, uint32(0)
	for len(n.b) > 0 && !n.bad {
		op := n.number()
		emit := false
		switch op {
		case noteCodeOffset:
			code = n.number()
		case noteCodeBase, noteAddEndLine, noteRangeKind, noteColumn, noteAddColumn, noteEndColumn:
			n.number()
		case noteAddCode:
			code += n.number()
			emit = true
		case noteLength:
			length := n.number()
			if k := len(rows) - 1; k >= 0 && rows[k].hi == 0 {
				rows[k].hi = rows[k].lo + symfmt.RVA(length)
			}
			code += length
		case noteFile:
			file = m.file(n.number())
		case noteAddLine:
			line += uint32(signed(n.number()))
		case noteCodeAndLine:
			v := n.number()
			code += v & 15
			line += uint32(signed(v >> 4))
			emit = true
		case noteLengthAndCode:
			length = n.number()
			code += n.number()
			emit = true
		default: // 0 is padding at the end
			n.bad = true
		}
		if emit && !n.bad {
			r := row{lo: p.rva + symfmt.RVA(code), line: line, file: file}
			if length > 0 {
				r.hi = r.lo + symfmt.RVA(length)
				length = 0
			}
			rows = append(rows, r)
		}
	}
	return rows
}

// closeRows ends each row where the next one begins, and at end.
func closeRows(rows []row, end symfmt.RVA) []row {
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.lo, b.lo) })
	n := 0
	for i, r := range rows {
		next := end
		if i+1 < len(rows) {
			next = min(next, rows[i+1].lo)
		}
		if r.hi == 0 || r.hi > next {
			r.hi = next
		}
		if r.lo < r.hi {
			rows[n] = r
			n++
		}
	}
	return rows[:n]
}

// within appends the parts of rows that are in ranges; both are in ascending order.
func within(in, rows []row, ranges []symfmt.Range) []row {
	k := 0
	for _, r := range rows {
		for k < len(ranges) && ranges[k].RVA+symfmt.RVA(ranges[k].Size) <= r.lo {
			k++
		}
		for i := k; i < len(ranges) && ranges[i].RVA < r.hi; i++ {
			part := r
			part.lo, part.hi = max(r.lo, ranges[i].RVA), min(r.hi, ranges[i].RVA+symfmt.RVA(ranges[i].Size))
			if part.lo < part.hi {
				in = append(in, part)
			}
		}
	}
	return in
}

// rangesOf appends the ranges of rows to ranges, which must be empty, joining adjacent rows.
func rangesOf(ranges []symfmt.Range, rows []row) []symfmt.Range {
	for _, r := range rows {
		if n := len(ranges) - 1; n >= 0 && ranges[n].RVA+symfmt.RVA(ranges[n].Size) == r.lo {
			ranges[n].Size += uint64(r.hi - r.lo)
			continue
		}
		ranges = append(ranges, symfmt.Range{RVA: r.lo, Size: uint64(r.hi - r.lo)})
	}
	return ranges
}

// rowAt returns the row that contains an address.
func rowAt(rows []row, at symfmt.RVA) (row, bool) {
	i := sort.Search(len(rows), func(i int) bool { return rows[i].hi > at })
	if i == len(rows) || rows[i].lo > at {
		return row{}, false
	}
	return rows[i], true
}

// inlined is an inlined call with its code.
type inlined struct {
	depth     int
	inlinee   uint32
	call      row // in the caller
	ranges    []symfmt.Range
	layerRows []row
}

// level is a caller of inlined calls: its rows, and its code.
type level struct {
	rows   []row
	ranges []symfmt.Range
}

// calls holds the inlined calls of a function. Its memory is reused for the next function.
type calls struct {
	list   []inlined
	levels []level
	rows   chunk[row]
	ranges chunk[symfmt.Range]
	parts  []row          // of the call being read
	code   []symfmt.Range // likewise
}

// chunk is memory for many short slices. When it is full, slices already returned stay where they are.
type chunk[T any] struct{ free []T }

const minChunk = 1 << 10

// keep returns a copy of a slice, valid until the next reset.
func (c *chunk[T]) keep(s []T) []T {
	if cap(c.free)-len(c.free) < len(s) {
		c.free = make([]T, 0, max(minChunk, len(s)))
	}
	from := len(c.free)
	c.free = append(c.free, s...)
	return c.free[from:len(c.free):len(c.free)]
}

func (c *chunk[T]) reset() { c.free = c.free[:0] }

// read returns the inlined calls of a function, in order, valid until the next call.
func (c *calls) read(m *moduleLines, p *proc, own []row) []inlined {
	c.list, c.levels = c.list[:0], c.levels[:0]
	c.rows.reset()
	c.ranges.reset()
	c.levels = append(c.levels, level{own, c.ranges.keep([]symfmt.Range{{RVA: p.rva, Size: uint64(p.size)}})})
	for i := range p.sites {
		s := &p.sites[i]
		if s.depth >= len(c.levels) {
			continue // the call that contains it has no code
		}
		c.levels = c.levels[:s.depth+1]
		parent := c.levels[s.depth]
		c.parts = within(c.parts[:0], m.expand(p, s), parent.ranges)
		rows := c.rows.keep(m.charge(c.parts))
		if len(rows) == 0 {
			continue
		}
		c.code = rangesOf(c.code[:0], rows)
		in := inlined{depth: s.depth, inlinee: s.inlinee, ranges: c.ranges.keep(c.code), layerRows: rows}
		in.call, _ = rowAt(parent.rows, rows[0].lo)
		c.list = append(c.list, in)
		c.levels = append(c.levels, level{rows, in.ranges})
	}
	return c.list
}
