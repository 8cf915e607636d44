package object

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/internal/scratch"
)

// gradual is contents that are inflated on demand. A reader that needs more inflates it; meanwhile,
// other readers can examine what is already there.
type gradual struct {
	file *os.File // an unlinked temporary file; if nil, the contents are in data
	data []byte   // one byte longer than the contents, to detect contents that are too long
	size int64
	done atomic.Int64 // bytes that may be read; reaches the full size only once the end was checked

	mu  sync.Mutex
	z   inflater
	buf []byte // storage for what is written to the file
	err error  // why inflating stopped
}

// memoryStep is the number of bytes inflated at a time into memory, where a reader may need only a few.
const memoryStep = 64 << 10

// inflating returns the gradual that inflates the contents: into a temporary file above Limits.SpillOver,
// otherwise, or if no file can be created, into memory. It returns nil if the contents are in memory, or will be
// because they have a Fixer.
func (p *Piece) inflating() (*gradual, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gradual != nil || p.data != nil {
		return p.gradual, nil
	}
	if p.size > p.in.Limits.SpillOver {
		if file, err := scratch.File(p.in.Limits.TempDir); err == nil {
			return p.inflatingTo(file)
		}
	}
	if p.Fixer != nil {
		return nil, nil
	}
	if err := p.takeHeld(); err != nil {
		return nil, err
	}
	data, err := p.room()
	if err != nil {
		p.in.Held.Give(p.size)
		return nil, err
	}
	p.gradual = &gradual{data: data, size: p.size, z: inflater{p: p}}
	return p.gradual, nil
}

// inflatingTo is like inflating, for a temporary file. The caller holds p.mu.
func (p *Piece) inflatingTo(file *os.File) (*gradual, error) {
	if !p.in.Disk.Take(p.size) {
		file.Close()
		return nil, p.Errorf(0, "%d bytes of contents would exceed the limit of %d bytes in temporary files for a file of %d bytes",
			p.size, p.in.Limits.DiskBytes(p.in.Size), p.in.Size)
	}
	p.gradual = newSpill(p, file)
	return p.gradual, nil
}

func newSpill(p *Piece, file *os.File) *gradual {
	return &gradual{file: file, buf: make([]byte, min(inflateChunk, p.size+1)), size: p.size, z: inflater{p: p}}
}

// openInflating returns a Source of contents that are inflated on demand. With a Fixer, they are inflated
// at once.
func (p *Piece) openInflating() (Source, error) {
	g, err := p.inflating()
	switch {
	case err != nil:
		return nil, err
	case g == nil:
		return p.openHeld()
	case g.file == nil:
		return &gradualSource{&heldSource{p, g.data[:g.size]}, p, g}, nil
	case p.Fixer == nil:
		return &gradualSource{&readerSource{p, g.file, 0}, p, g}, nil
	}
	if err := g.upTo(p.size); err != nil {
		return nil, err
	}
	return p.fixed(readerSource{p, g.file, 0})
}

// upTo inflates until the first n bytes can be read. The last bytes become available only once
// the end of the contents was checked.
func (g *gradual) upTo(n int64) error {
	if n <= g.done.Load() {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for n > g.done.Load() && g.err == nil {
		g.more()
	}
	return g.err
}

// more inflates another chunk. The caller holds g.mu.
func (g *gradual) more() {
	buf := g.buf
	if g.file == nil {
		buf = g.data[g.z.done:min(g.z.done+memoryStep, g.size+1)]
	}
	n, err := g.z.next(buf)
	if g.file != nil {
		if _, bad := g.file.Write(buf[:n]); bad != nil {
			err = g.z.p.Wrap(0, bad, "temporary file for %d bytes", g.size)
		}
	}
	switch err {
	case nil:
		g.done.Store(min(g.z.done, g.size-1))
		return
	case io.EOF:
		g.done.Store(g.size)
	default:
		g.err = err
	}
	g.end()
}

// end releases the resources for inflating.
func (g *gradual) end() {
	g.z.close()
	g.z, g.buf = inflater{}, nil
}

func (g *gradual) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.end()
	if g.file != nil {
		g.file.Close()
	}
}

// gradualSource is contents that may be available only in part, from the beginning.
type gradualSource struct {
	Source
	p *Piece
	g *gradual
}

// Ready implements Gradual.
func (s *gradualSource) Ready() int64 { return s.g.done.Load() }

// Bytes implements Source.
func (s *gradualSource) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if err := s.p.checkPart(off, n); err != nil {
		return nil, err
	}
	if err := s.g.upTo(off + n); err != nil {
		return nil, err
	}
	return s.Source.Bytes(off, n, buf)
}
