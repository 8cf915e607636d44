package object

import (
	"io"
)

// Open implements Contents. Stored contents are read from the file with pread, unless their View is
// used. Compressed contents are inflated into memory or, above Limits.SpillOver, into an unlinked
// temporary file: on demand, unless they are short. The Source is valid until Release.
func (p *Piece) Open() (Source, error) {
	switch err := p.check(); {
	case err != nil:
		return nil, err
	case p.parts != nil:
		return p.openParts()
	case p.compression == "":
		return p.fixed(readerSource{p, p.in.Reader, p.off})
	case p.size > min(inflateChunk, p.in.Limits.SpillOver):
		return p.openInflating()
	}
	return p.openHeld()
}

func (p *Piece) openHeld() (Source, error) {
	data, err := p.Data()
	if err != nil {
		return nil, err
	}
	return &heldSource{p, data}, nil
}

// checkPart returns an error unless n bytes at off are in the contents.
func (p *Piece) checkPart(off, n int64) error {
	if off < 0 || n < 0 || off > p.size || n > p.size-off {
		return p.Errorf(uint64(off), "%d bytes wanted, the section has %d", n, p.size)
	}
	return nil
}

// heldSource is contents in memory.
type heldSource struct {
	p    *Piece
	data []byte
}

func (h *heldSource) Size() int64 { return int64(len(h.data)) }

func (h *heldSource) Bytes(off, n int64, _ []byte) ([]byte, error) {
	if err := h.p.checkPart(off, n); err != nil {
		return nil, err
	}
	return h.data[off : off+n : off+n], nil
}

// readerSource is contents at an offset of a file.
type readerSource struct {
	p    *Piece
	r    io.ReaderAt
	base int64
}

func (r *readerSource) Size() int64 { return r.p.size }

func (r *readerSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if err := r.p.checkPart(off, n); err != nil {
		return nil, err
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if got, err := readFull(r.r, buf, r.base+off); err != nil {
		return nil, r.p.Wrap(uint64(off)+uint64(got), err, "reading %d bytes", n)
	}
	return buf, nil
}

// fixedSource applies the Fixer to what is read.
type fixedSource struct{ readerSource }

func (f *fixedSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	b, err := f.readerSource.Bytes(off, n, buf)
	if err != nil {
		return nil, err
	}
	return b, f.p.Fixer.Apply(b, uint64(off), &f.readerSource)
}

// fixed returns a Source for the contents at r, which applies the Fixer if there is one.
func (p *Piece) fixed(r readerSource) (Source, error) {
	if p.Fixer == nil {
		return &r, nil
	}
	if err := p.Fixer.Prepare(); err != nil {
		return nil, err
	}
	return &fixedSource{r}, nil
}
