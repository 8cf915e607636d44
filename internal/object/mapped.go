package object

import (
	"os"

	"github.com/symtool/symtool/internal/bin"
)

const (
	// mapOver is the size from which Map maps contents: below it reading costs less,
	// and the memory is negligible.
	mapOver = 1 << 20

	// dropOver is the size from which Drop gives memory back: for smaller contents, faulting them in
	// again, which a kernel's needed 43 times, costs more than the memory is worth.
	dropOver = 4 << 20
)

// Map returns the uncompressed contents, as Data does. Large contents are not read
// but mapped into memory, from the file or from the temporary file that they were
// inflated to, and are valid until Release. If they are larger still, Drop gives back the
// memory of the parts that were examined; they may be examined again.
//
// If the file shrinks while it is mapped, access to the missing part faults:
// callers must read the bytes under debug.SetPanicOnFault, in a goroutine that
// recovers.
func (p *Piece) Map() ([]byte, error) {
	if b := p.view(); b != nil {
		return b, nil
	}
	return p.Data()
}

// view returns the contents mapped, or nil if they cannot be or are short.
func (p *Piece) view() []byte {
	if p.bad != nil || p.parts != nil || p.Fixer != nil || p.size < mapOver || !bin.CanMap {
		return nil
	}
	file, off := p.mapSource()
	if file == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mapped == nil {
		before := off % int64(os.Getpagesize())
		m, err := bin.MapFile(file, off-before, p.size+before)
		if err != nil {
			return nil
		}
		p.mapped, p.before = m, before
	}
	return p.mapped[p.before:][:p.size:p.size]
}

// View implements Viewer. Contents that are inflated on demand stay so.
func (r *readerSource) View() []byte {
	if r.p.compression != "" {
		return nil
	}
	return r.p.view()
}

// mapSource returns a file that has the contents uncompressed and complete, and their offset in it.
func (p *Piece) mapSource() (*os.File, int64) {
	if p.compression == "" {
		file, _ := p.in.Reader.(*os.File)
		return file, p.off
	}
	if p.size <= p.in.Limits.SpillOver {
		return nil, 0
	}
	g, err := p.inflating()
	if err != nil || g == nil || g.upTo(p.size) != nil {
		return nil, 0
	}
	return g.file, 0
}

// Drop implements Contents.
func (p *Piece) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mapped) >= dropOver {
		bin.DropPages(p.mapped)
	}
}

// unmap ends the mapping; p.mu is held.
func (p *Piece) unmap() {
	if p.mapped != nil {
		bin.UnmapFile(p.mapped)
		p.mapped = nil
	}
}
