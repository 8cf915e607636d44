package resolve

import (
	"encoding/binary"

	"github.com/symtool/symtool/symfmt"
)

// records holds the records of a table while their number is unknown. Each is
// encoded as the differences of its fields from the previous record's, in as
// few bytes as possible. That is a fifth of the table, which is allocated once
// its size is known: a growing table would leave as much garbage, when the most
// memory is in use.
type records struct {
	chunks [][]byte
	count  int
	last   [maxFields]uint64
}

// maxFields is the maximum number of fields of a record.
const maxFields = 4

// Chunks are small for a small file, and otherwise of a size that leaves little
// of them unused.
const (
	smallChunk = 1 << 9
	largeChunk = 1 << 16
)

// add appends a record. All records of a table have the same number of fields.
func (r *records) add(fields ...uint64) {
	last := len(r.chunks) - 1
	if last < 0 || cap(r.chunks[last])-len(r.chunks[last]) < len(fields)*binary.MaxVarintLen64 {
		last++
		r.chunks = append(r.chunks, make([]byte, 0, min(smallChunk<<min(last, 16), largeChunk)))
	}
	chunk := r.chunks[last]
	for i, f := range fields {
		chunk = binary.AppendVarint(chunk, int64(f-r.last[i]))
		r.last[i] = f
	}
	r.chunks[last] = chunk
	r.count++
}

// each calls take for each record of n fields, in the order of add, and drops
// the records.
func (r *records) each(n int, take func(fields []uint64)) {
	var fields [maxFields]uint64
	for i, chunk := range r.chunks {
		for len(chunk) > 0 {
			for k := range n {
				delta, size := binary.Varint(chunk)
				fields[k] += uint64(delta)
				chunk = chunk[size:]
			}
			take(fields[:n])
		}
		r.chunks[i] = nil
	}
	*r = records{}
}

// table builds the table of records of two fields.
func (r *records) table(t *table) {
	t.data = make([]byte, 0, r.count*t.size)
	r.each(2, func(f []uint64) { t.add(f...) })
}

// spanRecords are records of spans. The last is kept apart until the length of
// its text is known.
type spanRecords struct {
	records
	open     span
	haveOpen bool
}

// add appends a span, and ends the one before it.
func (r *spanRecords) add(v span) {
	r.flush()
	r.open, r.haveOpen = v, true
}

// setLength sets the length of the last span's text.
func (r *spanRecords) setLength(text symfmt.Extent) {
	r.open.length = uint32(min(text.End-text.Start, 1<<32-1))
}

func (r *spanRecords) flush() {
	if v := &r.open; r.haveOpen {
		r.records.add(uint64(v.rva), v.size, v.offset, uint64(v.length))
	}
	r.haveOpen = false
}

// spans builds the tables of the spans, except those for searches.
func (r *spanRecords) spans(s *spans) {
	r.flush()
	s.starts.data = make([]byte, 0, r.count*s.starts.size)
	s.data = make([]byte, 0, r.count*s.size)
	r.each(4, func(f []uint64) {
		s.starts.add(f[0])
		s.table.add(f[1:]...)
	})
}
