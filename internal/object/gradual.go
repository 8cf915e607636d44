package object

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// spill is a temporary file with contents that are inflated on demand. The reader that needs more
// inflates it, so that while it does, other readers can examine what is there.
type spill struct {
	file *os.File
	size int64
	done atomic.Int64 // bytes in the file; the full size only once the end was checked

	mu  sync.Mutex
	z   inflater
	buf []byte
	err error // why inflating stopped
}

// openSpilled inflates into a temporary file, or into memory if none can be made. Contents with a
// Fixer are inflated at once.
func (p *Piece) openSpilled() (Source, error) {
	spill, err := p.spilling()
	switch {
	case err != nil:
		return nil, err
	case spill == nil:
		return p.openHeld()
	case p.Fixer == nil:
		return &spillSource{readerSource{p, spill.file, 0}, spill}, nil
	}
	if err := spill.upTo(p.size); err != nil {
		return nil, err
	}
	return p.fixed(readerSource{p, spill.file, 0})
}

// spilling returns the temporary file, which may still be empty; nil if the contents are in memory,
// or the file cannot be made.
func (p *Piece) spilling() (*spill, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.spill != nil || p.data != nil {
		return p.spill, nil
	}
	file, err := TempFile(p.in.Limits.TempDir)
	if err != nil {
		return nil, nil
	}
	if !p.in.Disk.Take(p.size) {
		file.Close()
		return nil, p.Errorf(0, "%d bytes of contents would exceed the limit of %d bytes in temporary files for a file of %d bytes",
			p.size, p.in.Limits.DiskBytes(p.in.Size), p.in.Size)
	}
	p.spill = newSpill(p, file)
	return p.spill, nil
}

func newSpill(p *Piece, file *os.File) *spill {
	return &spill{file: file, size: p.size, z: inflater{p: p}}
}

// upTo inflates until the first n bytes are in the file. The last bytes are available only after the
// end of the contents is checked.
func (s *spill) upTo(n int64) error {
	if n <= s.done.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for n > s.done.Load() && s.err == nil {
		s.more()
	}
	return s.err
}

// more inflates another chunk; s.mu is held.
func (s *spill) more() {
	if s.buf == nil {
		s.buf = make([]byte, min(inflateChunk, s.size+1))
	}
	n, err := s.z.next(s.buf)
	if _, bad := s.file.Write(s.buf[:n]); bad != nil {
		err = s.z.p.Wrap(0, bad, "temporary file for %d bytes", s.size)
	}
	switch err {
	case nil:
		s.done.Store(min(s.z.done, s.size-1))
		return
	case io.EOF:
		s.done.Store(s.size)
	default:
		s.err = err
	}
	s.end()
}

// end releases what inflating needs.
func (s *spill) end() {
	s.z.close()
	s.z, s.buf = inflater{}, nil
}

func (s *spill) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
	s.file.Close()
}

// spillSource is contents in a temporary file.
type spillSource struct {
	readerSource
	spill *spill
}

// Ready implements Gradual.
func (s *spillSource) Ready() int64 { return s.spill.done.Load() }

func (s *spillSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if err := s.p.checkPart(off, n); err != nil {
		return nil, err
	}
	if err := s.spill.upTo(off + n); err != nil {
		return nil, err
	}
	return s.readerSource.Bytes(off, n, buf)
}
