package pdb

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// Subsections of C13 line information.
const (
	c13Lines     = 0xf2
	c13Checksums = 0xf4
	c13Inlinees  = 0xf6
	c13Ignore    = 1 << 31
)

// Line numbers for code that a debugger steps over or into, which are not in the source.
const (
	lineStepOver = 0xfeefee
	lineStepInto = 0xf00f00
)

// row is a piece of code from one line.
type row struct {
	lo, hi symfmt.RVA
	line   uint32
	file   uint32 // offset of the name in /names
}

// inlinee is the place where the body of an inlined function begins.
type inlinee struct{ file, line uint32 }

// moduleLines holds the lines of a module. Its memory is reused for the next module.
type moduleLines struct {
	blocks   map[symfmt.RVA][]row // by the start address of a subsection; ascending
	starts   []symfmt.RVA
	inlinees map[uint32]inlinee
	files    []byte // checksums
	room     int    // number of rows that functions may still have
	rows     []row  // of all blocks
	raw      []row  // of an inlined call
}

func newLines() *moduleLines {
	return &moduleLines{blocks: map[symfmt.RVA][]row{}, inlinees: map[uint32]inlinee{}}
}

// linesRatio bounds the rows of functions beyond minLines, as a multiple of the bytes of lines
// and symbols: functions of a damaged file may share their lines. Real files have fewer rows than
// bytes.
const (
	linesRatio = 1
	minLines   = 1 << 12
)

// charge charges rows to the budget. It returns nil if the budget is exhausted.
func (m *moduleLines) charge(rows []row) []row {
	if m.room -= len(rows); m.room < 0 {
		return nil
	}
	return rows
}

// eachC13 calls fn with the subsections of C13 information.
func eachC13(data []byte, fn func(kind uint32, b []byte)) {
	for len(data) >= 8 {
		kind, size := u32(data), uint64(u32(data[4:]))
		if size > uint64(len(data)-8) {
			return
		}
		if kind&c13Ignore == 0 {
			fn(kind, data[8:8+size])
		}
		data = data[min(uint64(len(data)), 8+(size+3)&^3):]
	}
}

// read reads the C13 information of a module; symbols is the size of the module's symbols in
// bytes.
func (m *moduleLines) read(d *database, data []byte, symbols int) {
	m.room, m.files, m.starts, m.rows = minLines+linesRatio*(len(data)+symbols), nil, m.starts[:0], m.rows[:0]
	clear(m.blocks)
	clear(m.inlinees)
	eachC13(data, func(kind uint32, b []byte) {
		if kind == c13Checksums && m.files == nil {
			m.files = b
		}
	})
	eachC13(data, func(kind uint32, b []byte) {
		switch kind {
		case c13Lines:
			m.readLines(d, b)
		case c13Inlinees:
			m.readInlinees(b)
		}
	})
	for start := range m.blocks {
		m.starts = append(m.starts, start)
	}
	slices.Sort(m.starts)
}

// file returns the offset of the name of the file whose checksum is at an offset.
func (m *moduleLines) file(at uint32) uint32 {
	if uint64(at)+4 > uint64(len(m.files)) {
		return 0
	}
	return u32(m.files[at:])
}

// readLines reads a subsection: the lines of one function, in blocks of one file each. Folded
// functions have several subsections for one address, and the last counts: linkers write the
// lines of the function that they keep, whose procedure is the first, after those of the
// others.
func (m *moduleLines) readLines(d *database, b []byte) {
	rows, start, end := m.rowsOf(d, b)
	if end == 0 {
		return
	}
	n := 0
	for i, r := range rows { // the last of several at one address counts
		if i+1 < len(rows) && rows[i+1].lo == r.lo {
			continue
		}
		r.hi = end
		if i+1 < len(rows) {
			r.hi = rows[i+1].lo
		}
		rows[n] = r
		n++
	}
	m.blocks[start] = rows[:n]
}

// rowsOf returns the rows of a subsection by address, without their ends, and the code that it describes. end
// is 0 if the subsection is damaged or empty.
func (m *moduleLines) rowsOf(d *database, b []byte) (rows []row, start, end symfmt.RVA) {
	if len(b) < 12 {
		return nil, 0, 0
	}
	start, ok := d.rva(u16(b[4:]), u32(b))
	columns, size, first := u16(b[6:])&1 != 0, u32(b[8:]), len(m.rows)
	if !ok {
		return nil, 0, 0
	}
	for b = b[12:]; len(b) >= 12; {
		file, count, bytes := m.file(u32(b)), uint64(u32(b[4:])), uint64(u32(b[8:]))
		need := 12 + 8*count
		if columns {
			need += 4 * count
		}
		if bytes < need || bytes > uint64(len(b)) {
			break
		}
		for i := range count {
			off, flags := u32(b[12+8*i:]), u32(b[16+8*i:])
			if off < size {
				m.rows = append(m.rows, row{lo: start + symfmt.RVA(off), line: flags & 0xffffff, file: file})
			}
		}
		b = b[bytes:]
	}
	rows = m.rows[first:len(m.rows):len(m.rows)]
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.lo, b.lo) })
	return rows, start, start + symfmt.RVA(size)
}

func (m *moduleLines) readInlinees(b []byte) {
	if len(b) < 4 {
		return
	}
	extended := u32(b) == 1
	for b = b[4:]; len(b) >= 12; {
		id := u32(b)
		if _, ok := m.inlinees[id]; !ok {
			m.inlinees[id] = inlinee{m.file(u32(b[4:])), u32(b[8:])}
		}
		b = b[12:]
		if extended {
			if len(b) < 4 {
				return
			}
			more := 4 + 4*uint64(u32(b))
			b = b[min(more, uint64(len(b))):]
		}
	}
}

// of appends the rows of the code from lo to hi to rows, which must be empty.
func (m *moduleLines) of(rows []row, lo, hi symfmt.RVA) []row {
	add := func(block []row) {
		for _, r := range m.charge(block) {
			if r.lo, r.hi = max(r.lo, lo), min(r.hi, hi); r.lo < r.hi {
				rows = append(rows, r)
			}
		}
	}
	if block := m.blocks[lo]; block != nil {
		add(block)
	}
	i, _ := slices.BinarySearch(m.starts, lo+1)
	if len(rows) == 0 && i > 0 {
		add(m.blocks[m.starts[i-1]])
	}
	for ; i < len(m.starts) && m.starts[i] < hi; i++ {
		end := lo
		if len(rows) > 0 {
			end = rows[len(rows)-1].hi
		}
		if m.starts[i] >= end {
			add(m.blocks[m.starts[i]])
		}
	}
	return rows
}
