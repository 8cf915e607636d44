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

// expand returns the rows of an inlined call in p, ascending. A row without a length extends to
// the next one, and the last one to the end of the function.
func (m *moduleLines) expand(p *proc, s *site) []row {
	return closeRows(m.annotated(p, s), p.rva+symfmt.RVA(p.size))
}

// annotated returns the rows of an inlined call in p as its annotations have them. One without a length has no end.
func (m *moduleLines) annotated(p *proc, s *site) []row {
	where := m.inlinees[s.inlinee]
	n := notes{b: s.notes}
	var rows []row
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

// within returns the parts of rows that are in ranges; both ascend.
func within(rows []row, ranges []symfmt.Range) (in []row) {
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

// rangesOf returns the ranges of rows, joining adjacent rows.
func rangesOf(rows []row) (ranges []symfmt.Range) {
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
	known     bool
	ranges    []symfmt.Range
	layerRows []row
}

// inlines returns the inlined calls of a function, in order.
func (m *moduleLines) inlines(p *proc, own []row) (calls []inlined) {
	whole := []symfmt.Range{{RVA: p.rva, Size: uint64(p.size)}}
	type level struct {
		rows   []row
		ranges []symfmt.Range
	}
	levels := []level{{own, whole}}
	for i := range p.sites {
		s := &p.sites[i]
		if s.depth >= len(levels) {
			continue // the call that contains it has no code
		}
		levels = levels[:s.depth+1]
		parent := &levels[s.depth]
		rows := m.charge(within(m.expand(p, s), parent.ranges))
		if len(rows) == 0 {
			continue
		}
		c := inlined{depth: s.depth, inlinee: s.inlinee, ranges: rangesOf(rows), layerRows: rows}
		c.call, c.known = rowAt(parent.rows, rows[0].lo)
		calls = append(calls, c)
		levels = append(levels, level{rows, c.ranges})
	}
	return calls
}
