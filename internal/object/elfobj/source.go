package elfobj

import (
	"debug/elf"
	"io"
	"os"

	"github.com/symtool/symtool/internal/object"
)

// Open returns the contents for reading piece by piece. An uncompressed section
// is read from the file with pread, so that it never counts as memory; a
// compressed one is inflated, into memory, or, over Limits.SpillOver, into a
// temporary file that has no name. The Source is valid until Release or Close.
func (s *Section) Open() (object.Source, error) {
	switch {
	case s.Type == elf.SHT_NOBITS:
		return nil, s.errorf(0, "has no bytes in this file (SHT_NOBITS)")
	case s.bad != nil:
		return nil, s.bad
	case s.parts != nil:
		return s.openParts()
	case s.comp == stored:
		return s.reader(readerSource{s, s.file.r, int64(s.Offset)})
	case s.size > s.file.lim.SpillOver:
		return s.openSpilled()
	}
	return s.openHeld()
}

func (s *Section) openHeld() (object.Source, error) {
	data, err := s.Data()
	if err != nil {
		return nil, err
	}
	return &heldSource{s, data}, nil
}

// openSpilled inflates into a temporary file, or into memory if none can be made.
func (s *Section) openSpilled() (object.Source, error) {
	s.mu.Lock()
	if s.spill == nil && s.data == nil {
		tmp, err := object.TempFile(s.file.lim.TempDir)
		if err != nil {
			s.mu.Unlock()
			return s.openHeld()
		}
		if err := s.spillTo(tmp); err != nil {
			tmp.Close()
			s.mu.Unlock()
			return nil, err
		}
		s.spill = tmp
	}
	defer s.mu.Unlock()
	if s.data != nil {
		return &heldSource{s, s.data}, nil
	}
	return s.reader(readerSource{s, s.spill, 0})
}

func (s *Section) spillTo(tmp *os.File) error {
	if !s.file.disk.Take(s.size) {
		return s.errorf(0, "%d bytes of contents would exceed the limit of %d bytes in temporary files for a file of %d bytes",
			s.size, s.file.lim.DiskBytes(s.file.Size), s.file.Size)
	}
	err := s.inflateTo(func(b []byte) error {
		if _, err := tmp.Write(b); err != nil {
			return s.wrap(0, err, "temporary file for %d bytes", s.size)
		}
		return nil
	})
	if err != nil {
		s.file.disk.Give(s.size)
	}
	return err
}

// heldSource is a section in memory.
type heldSource struct {
	s    *Section
	data []byte
}

func (h *heldSource) Size() int64 { return int64(len(h.data)) }

func (h *heldSource) Bytes(off, n int64, _ []byte) ([]byte, error) {
	if err := h.s.checkPiece(off, n); err != nil {
		return nil, err
	}
	return h.data[off : off+n : off+n], nil
}

// readerSource is a section at an offset of a file.
type readerSource struct {
	s    *Section
	r    io.ReaderAt
	base int64
}

func (p *readerSource) Size() int64 { return p.s.size }

func (p *readerSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if err := p.s.checkPiece(off, n); err != nil {
		return nil, err
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if got, err := p.r.ReadAt(buf, p.base+off); int64(got) != n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, p.s.wrap(uint64(off)+uint64(got), object.BareError(err), "reading %d bytes", n)
	}
	return buf, nil
}

func (s *Section) checkPiece(off, n int64) error {
	if off < 0 || n < 0 || off > s.size || n > s.size-off {
		return s.errorf(uint64(off), "%d bytes wanted, the section has %d", n, s.size)
	}
	return nil
}
