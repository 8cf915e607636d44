package symfmt

import (
	"encoding/binary"
	"iter"
)

// packed reads a Body's bytes. A BodyBuilder in this process packed them, so
// they need no checks.
type packed struct{ data []byte }

func (p *packed) uvarint() uint64 {
	if c := p.data[0]; c < 0x80 {
		p.data = p.data[1:]
		return uint64(c)
	}
	v, n := binary.Uvarint(p.data)
	p.data = p.data[n:]
	return v
}

func (p *packed) varint() int64 {
	u := p.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// tables skips the flags and splits off the two id tables.
func (p *packed) tables() (files, origins []byte) {
	p.uvarint()
	nf, no := p.uvarint(), p.uvarint()
	files, origins = p.data[:4*nf], p.data[4*nf:4*(nf+no)]
	p.data = p.data[4*(nf+no):]
	return files, origins
}

func idAt(table []byte, i uint64) uint32 { return binary.LittleEndian.Uint32(table[4*i:]) }

// Renumber replaces the FileIDs and OriginIDs in place with the results of file and origin.
func (b Body) Renumber(file func(FileID) FileID, origin func(OriginID) OriginID) {
	if len(b.data) == 0 {
		return
	}
	p := packed(b)
	files, origins := p.tables()
	for ; len(files) > 0; files = files[4:] {
		binary.LittleEndian.PutUint32(files, uint32(file(FileID(binary.LittleEndian.Uint32(files)))))
	}
	for ; len(origins) > 0; origins = origins[4:] {
		binary.LittleEndian.PutUint32(origins, uint32(origin(OriginID(binary.LittleEndian.Uint32(origins)))))
	}
}

// Refs calls file and origin for each file and origin used by the body, in
// order of first use: inlines before lines.
func (b Body) Refs(file func(FileID), origin func(OriginID)) {
	if len(b.data) == 0 {
		return
	}
	p := packed(b)
	files, origins := p.tables()
	for ; len(files) > 0; files = files[4:] {
		file(FileID(idAt(files, 0)))
	}
	for ; len(origins) > 0; origins = origins[4:] {
		origin(OriginID(idAt(origins, 0)))
	}
}

// inlineForms returns the forms of the body's INLINE records.
func (b Body) inlineForms() uint64 {
	if len(b.data) == 0 {
		return 0
	}
	return uint64(b.data[0]) // flags are one byte
}

// Counts returns the number of INLINE and of line records.
func (b Body) Counts() (inlines, lines int) {
	if len(b.data) == 0 {
		return 0, 0
	}
	p := packed(b)
	p.tables()
	ni, n := p.uvarint(), p.uvarint()
	p.data = p.data[n:]
	return int(ni), int(p.uvarint())
}

// InlineReader reads the INLINE records of a Func. A copy continues
// independently from the same record, but shares Inline.Ranges.
type InlineReader struct {
	p       packed
	files   []byte
	origins []byte
	left    uint64
	end     RVA

	Inline Inline // the current record; its Ranges are valid until the next call of Next
}

// InlineReader returns a reader positioned before the first INLINE record.
func (f *Func) InlineReader() InlineReader {
	if len(f.Body.data) == 0 {
		return InlineReader{}
	}
	r := InlineReader{p: packed{f.Body.data}, end: f.RVA}
	r.files, r.origins = r.p.tables()
	r.left = r.p.uvarint()
	r.p.uvarint() // length
	return r
}

// Next advances to the next INLINE record and reports whether there is one.
func (r *InlineReader) Next() bool {
	if r.left == 0 {
		return false
	}
	r.left--
	in := &r.Inline
	in.Depth, in.CallLine = uint32(r.p.uvarint()), uint32(r.p.uvarint())
	in.CallFile, in.NoFile = 0, true
	if i := r.p.uvarint(); i > 0 {
		in.CallFile, in.NoFile = FileID(idAt(r.files, i-1)), false
	}
	in.Origin = OriginID(idAt(r.origins, r.p.uvarint()))
	in.Ranges = in.Ranges[:0]
	for k := r.p.uvarint(); k > 0; k-- {
		rng := Range{RVA: r.end + RVA(r.p.varint())}
		rng.Size = r.p.uvarint()
		r.end = rng.RVA + RVA(rng.Size)
		in.Ranges = append(in.Ranges, rng)
	}
	return true
}

// Inlines yields the INLINE records in order. The Inline and its Ranges are
// valid until the next iteration.
func (f *Func) Inlines() iter.Seq[*Inline] {
	return func(yield func(*Inline) bool) {
		for r := f.InlineReader(); r.Next(); {
			if !yield(&r.Inline) {
				return
			}
		}
	}
}

// LineReader reads the line records of a Func, for loops in which an iterator's
// calls would show up. A copy continues independently from the same record.
type LineReader struct {
	p     packed
	files []byte
	left  uint64
	end   RVA

	Line Line // the current record
}

// LineReader returns a reader positioned before the first line record.
func (f *Func) LineReader() LineReader {
	if len(f.Body.data) == 0 {
		return LineReader{}
	}
	r := LineReader{p: packed{f.Body.data}, end: f.RVA}
	r.files, _ = r.p.tables()
	r.p.uvarint() // number of inlines
	n := r.p.uvarint()
	r.p.data = r.p.data[n:]
	r.left = r.p.uvarint()
	if r.left > 0 {
		r.Line.File = FileID(idAt(r.files, 0))
	}
	return r
}

// Next advances to the next line record and reports whether there is one. It
// decodes in place what packed.uvarint decodes elsewhere, because this loop
// runs millions of times.
func (r *LineReader) Next() bool {
	if r.left == 0 {
		return false
	}
	r.left--
	d := r.p.data
	head, n := uint64(d[0]), 1
	if head >= 0x80 {
		head, n = binary.Uvarint(d)
	}
	size := head >> lineFlagBits
	if head&lineMoved != 0 || size == sizeOverflow {
		var more int
		size, more = r.moved(head, d[n:])
		n += more
	}
	if head&lineNewFile != 0 {
		file, more := uint64(d[n]), 1
		if file >= 0x80 {
			file, more = binary.Uvarint(d[n:])
		}
		n += more
		r.Line.File = FileID(idAt(r.files, file))
	}
	diff := uint64(d[n])
	if n++; diff >= 0x80 {
		var more int
		diff, more = binary.Uvarint(d[n-1:])
		n += more - 1
	}
	r.Line.Num += uint32(diff>>1) ^ -uint32(diff&1)
	r.Line.RVA, r.Line.Size = r.end, size
	r.end += RVA(size)
	r.p.data = d[n:]
	return true
}

// moved reads the numbers between the head and the file of an unusual line
// record: a size that does not fit into head, and the distance from the
// previous record. It returns the size and the number of bytes read.
func (r *LineReader) moved(head uint64, d []byte) (size uint64, n int) {
	if size = head >> lineFlagBits; size == sizeOverflow {
		size, n = binary.Uvarint(d)
	}
	if head&lineMoved != 0 {
		diff, more := binary.Varint(d[n:])
		r.end += RVA(diff)
		n += more
	}
	return size, n
}

// Lines yields the line records in order.
func (f *Func) Lines() iter.Seq[Line] {
	return func(yield func(Line) bool) {
		for r := f.LineReader(); r.Next(); {
			if !yield(r.Line) {
				return
			}
		}
	}
}
