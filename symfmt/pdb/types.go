package pdb

import (
	"bufio"
	"io"
	"slices"
)

// Kinds of type records (cvinfo.h).
const (
	leafModifier  = 0x1001
	leafPointer   = 0x1002
	leafProcedure = 0x1008
	leafMethod    = 0x1009
	leafArgList   = 0x1201
	leafArray     = 0x1503
	leafClass     = 0x1504
	leafStruct    = 0x1505
	leafUnion     = 0x1506
	leafEnum      = 0x1507
	leafInterface = 0x1519
	leafFuncID    = 0x1601
	leafMethodID  = 0x1602
	leafStringID  = 0x1605
)

const firstType = 0x1000

// typeTable locates the records of a stream of types. It keeps the offset of every typeStep-th record, since
// large files have tens of millions; those in between are found by their sizes.
type typeTable struct {
	r       *reader
	offsets []uint32
	count   int // of all records
}

const typeStep = 8

// readTypes reads the offsets of the records of a stream.
func (d *database) readTypes(stream int) (*typeTable, error) {
	t := &typeTable{r: d.stream(stream)}
	if t.r.s.size == 0 {
		return t, nil
	}
	head, err := t.r.part(0, 16)
	if err != nil {
		return t, err
	}
	at := int64(u32(head[4:]))
	t.offsets = make([]uint32, 0, min(int64(u32(head[12:])-u32(head[8:])), t.r.s.size/4)/typeStep+1)
	in := bufio.NewReaderSize(io.NewSectionReader(t.r, at, max(t.r.s.size-at, 0)), 256<<10)
	var size [2]byte
	for {
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return t, nil
		}
		n := int64(u16(size[:]))
		if n < 2 {
			return t, t.r.errorf(uint64(at), "type record of %d bytes", n)
		}
		if t.count%typeStep == 0 {
			t.offsets = append(t.offsets, uint32(at))
		}
		t.count++
		if _, err := in.Discard(int(n)); err != nil {
			return t, nil
		}
		at += 2 + n
	}
}

// typeReader reads the records of a table. It is not safe for concurrent use.
type typeReader struct {
	*typeTable
	pages [cachedPages]struct { // recently read: types refer to types near them
		number int64 // in the stream, from 1
		data   []byte
	}
	buf []byte // for a record that spans pages
}

const (
	pageSize    = 4 << 10 // bytes
	cachedPages = 256
)

// record returns the kind and the contents of a record, valid until the next call.
func (t *typeReader) record(i uint32) (uint16, []byte) {
	if i < firstType || uint64(i-firstType) >= uint64(t.count) {
		return 0, nil
	}
	i -= firstType
	at := int64(t.offsets[i/typeStep])
	for range i % typeStep {
		size, ok := t.bytes(2, at)
		if !ok {
			return 0, nil
		}
		at += 2 + int64(u16(size))
	}
	head, ok := t.bytes(4, at)
	if !ok {
		return 0, nil
	}
	size, kind := int(u16(head))-2, u16(head[2:])
	b, ok := t.bytes(size, at+4)
	if !ok {
		return 0, nil
	}
	return kind, b
}

// bytes returns n bytes at an offset, valid until the next call, and reports whether the stream has that
// many.
func (t *typeReader) bytes(n int, off int64) ([]byte, bool) {
	page, ok := t.page(off)
	if ok && len(page) >= n {
		return page[:n], true
	}
	b := slices.Grow(t.buf[:0], n)
	for ; ok && len(b) < n; page, ok = t.page(off + int64(len(b))) {
		if len(page) == 0 {
			return nil, false
		}
		b = append(b, page[:min(len(page), n-len(b))]...)
	}
	t.buf = b
	return b, len(b) == n
}

// page returns the rest of a page from an offset on.
func (t *typeReader) page(off int64) ([]byte, bool) {
	number := off / pageSize
	p := &t.pages[number%cachedPages]
	if p.number != number+1 {
		if p.number = 0; p.data == nil {
			p.data = make([]byte, pageSize)
		}
		n, err := t.r.ReadAt(p.data[:pageSize], number*pageSize)
		if err != nil && err != io.EOF {
			return nil, false
		}
		p.number, p.data = number+1, p.data[:n]
	}
	return p.data[min(int(off%pageSize), len(p.data)):], true
}
