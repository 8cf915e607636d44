package symfmt

import (
	"encoding/binary"

	"github.com/symtool/symtool/internal/intern"
)

// Body holds the INLINE and line records of one Func in packed form: a line
// record takes two to four bytes instead of the 24 of a Line. A module has
// millions, and every user reads them in order, function by function.
//
//	uvarint  flags; number of files, number of origins
//	4 bytes  each file's FileID, in order of first use, little-endian
//	4 bytes  each origin's OriginID, likewise
//	uvarint  number of inlines, length of their records in bytes
//	...      inline records
//	uvarint  number of lines
//	...      line records
//
// Records name files and origins by their index in these two tables, so that
// Renumber touches only the tables. Addresses are stored as differences: the
// start of an inline's range from the end of the previous range, a line from the
// end of the previous line, and the first of either from the Func's RVA. The
// zero Body has no records. Funcs do not share a Body, because Renumber modifies
// it in place.
type Body struct{ data []byte }

// Size returns the size of the packed records in bytes.
func (b Body) Size() int { return len(b.data) }

// Arena allocates the bytes of many bodies in large chunks.
type Arena struct {
	Alloc func(n int) []byte // allocates a chunk; nil means make

	free  []byte
	chunk int // size of the last chunk
}

// Chunks grow up to arenaChunk, so that an arena with few bodies wastes little.
const (
	arenaChunk = 256 << 10
	firstChunk = 4 << 10
)

// keep returns a copy of b that lives as long as the arena.
func (a *Arena) keep(b []byte) []byte {
	if len(b) > len(a.free) {
		a.chunk = min(max(2*a.chunk, firstChunk), arenaChunk)
		if len(b) > a.chunk/8 {
			own := a.alloc(len(b))
			copy(own, b)
			return own
		}
		a.free = a.alloc(a.chunk)
	}
	n := copy(a.free, b)
	kept := a.free[:n:n]
	a.free = a.free[n:]
	return kept
}

func (a *Arena) alloc(n int) []byte {
	if a.Alloc == nil {
		return make([]byte, n)
	}
	return a.Alloc(n)
}

// BodyBuilder packs the records of Funcs, one Func at a time, and reuses its
// buffers. Inlines and lines each keep the order in which they are added; they
// may be interleaved.
type BodyBuilder struct {
	start   RVA
	files   idTable
	origins idTable
	inlines []byte
	lines   []byte
	nInline uint64
	nLine   uint64

	inlineEnd RVA
	lineEnd   RVA
	lastNum   uint32
	lastFile  uint32
	flags     uint64
	mixed     bool // an inline that names a file was added after a line
	out       []byte
}

// Flags of a body: the forms of INLINE records in it.
const (
	bodyOldInlines = 1 << iota // without a call file
	bodyNewInlines
)

// Reset starts the body of a Func at rva, discarding any unfinished one.
func (b *BodyBuilder) Reset(rva RVA) {
	b.start, b.inlineEnd, b.lineEnd = rva, rva, rva
	b.files.reset()
	b.origins.reset()
	b.inlines, b.lines = b.inlines[:0], b.lines[:0]
	b.nInline, b.nLine, b.lastNum, b.lastFile = 0, 0, 0, 0
	b.flags, b.mixed = 0, false
}

// AddInline appends an INLINE record unless it has no ranges: the text has no
// form for that. It does not retain in.Ranges.
func (b *BodyBuilder) AddInline(in *Inline) {
	if len(in.Ranges) == 0 {
		return
	}
	p := binary.AppendUvarint(b.inlines, uint64(in.Depth))
	p = binary.AppendUvarint(p, uint64(in.CallLine))
	if in.NoFile {
		p = append(p, 0)
		b.flags |= bodyOldInlines
	} else {
		b.flags |= bodyNewInlines
		p = binary.AppendUvarint(p, uint64(b.files.index(uint32(in.CallFile)))+1)
	}
	p = binary.AppendUvarint(p, uint64(b.origins.index(uint32(in.Origin))))
	p = binary.AppendUvarint(p, uint64(len(in.Ranges)))
	for _, r := range in.Ranges {
		p = binary.AppendVarint(p, int64(r.RVA-b.inlineEnd))
		p = binary.AppendUvarint(p, r.Size)
		b.inlineEnd = r.RVA + RVA(r.Size)
	}
	b.inlines = p
	b.nInline++
	b.mixed = b.mixed || b.nLine > 0 && !in.NoFile
}

// Flags in the low bits of a line record's first number; the size is above them.
const (
	lineMoved    = 1 << iota // an address difference follows
	lineNewFile              // a file index follows
	lineFlagBits = iota
)

// sizeOverflow stands for a size that does not fit above the flags; the size
// follows.
const sizeOverflow = 1<<(64-lineFlagBits) - 1

// AddLine appends a line record.
func (b *BodyBuilder) AddLine(l Line) {
	file := b.lastFile
	if len(b.files.ids) == 0 || b.files.ids[file] != uint32(l.File) {
		file = b.files.index(uint32(l.File))
	}
	size := min(l.Size, sizeOverflow)
	head := size << lineFlagBits
	if l.RVA != b.lineEnd {
		head |= lineMoved
	}
	if file != b.lastFile {
		head |= lineNewFile
	}
	p := b.lines
	if head < 0x80 {
		p = append(p, byte(head))
	} else {
		p = binary.AppendUvarint(p, head)
	}
	if size == sizeOverflow {
		p = binary.AppendUvarint(p, l.Size)
	}
	if l.RVA != b.lineEnd {
		p = binary.AppendVarint(p, int64(l.RVA-b.lineEnd))
	}
	if file != b.lastFile {
		p = binary.AppendUvarint(p, uint64(file))
	}
	if d := int32(l.Num - b.lastNum); -64 <= d && d < 64 {
		p = append(p, byte(d<<1)^byte(d>>31))
	} else {
		p = binary.AppendVarint(p, int64(d))
	}
	b.lines = p
	b.nLine++
	b.lineEnd, b.lastNum, b.lastFile = l.RVA+RVA(l.Size), l.Num, file
}

// Finish returns the body, which is allocated in a.
func (b *BodyBuilder) Finish(a *Arena) Body {
	if b.nInline == 0 && b.nLine == 0 {
		return Body{}
	}
	if b.mixed {
		b.reorder()
	}
	return Body{a.keep(b.pack())}
}

// pack joins tables and records.
func (b *BodyBuilder) pack() []byte {
	p := binary.AppendUvarint(b.out[:0], b.flags)
	p = binary.AppendUvarint(p, uint64(len(b.files.ids)))
	p = binary.AppendUvarint(p, uint64(len(b.origins.ids)))
	for _, id := range b.files.ids {
		p = binary.LittleEndian.AppendUint32(p, id)
	}
	for _, id := range b.origins.ids {
		p = binary.LittleEndian.AppendUint32(p, id)
	}
	p = binary.AppendUvarint(p, b.nInline)
	p = binary.AppendUvarint(p, uint64(len(b.inlines)))
	p = append(p, b.inlines...)
	p = binary.AppendUvarint(p, b.nLine)
	p = append(p, b.lines...)
	b.out = p
	return p
}

// reorder adds all records again, inlines before lines, so that the table of
// files is in order of first use whatever the order of the calls.
func (b *BodyBuilder) reorder() {
	f := Func{RVA: b.start, Body: Body{append([]byte(nil), b.pack()...)}}
	b.Reset(b.start)
	for in := range f.Inlines() {
		b.AddInline(in)
	}
	for l := range f.Lines() {
		b.AddLine(l)
	}
}

// idTable numbers the ids of one body in order of first use. Most bodies name a
// handful, for which a scan beats a table.
type idTable struct {
	ids  []uint32
	many intern.Offsets // their indices in ids, if there are more than scanIDs
}

const scanIDs = 16

func (t *idTable) reset() {
	t.ids = t.ids[:0]
	t.many.Clear()
}

func (t *idTable) index(id uint32) uint32 {
	if len(t.ids) <= scanIDs {
		for i := len(t.ids) - 1; i >= 0; i-- {
			if t.ids[i] == id {
				return uint32(i)
			}
		}
	} else if i, ok := t.many.Get(uint64(id)); ok {
		return i
	}
	i := uint32(len(t.ids))
	t.ids = append(t.ids, id)
	switch {
	case len(t.ids) == scanIDs+1:
		for i, id := range t.ids {
			t.many.Put(uint64(id), uint32(i))
		}
	case len(t.ids) > scanIDs:
		t.many.Put(uint64(id), i)
	}
	return i
}
