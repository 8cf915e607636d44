package object

import (
	"os"

	"github.com/symtool/symtool/internal/bin"
)

const (
	// mapOver is the minimum size of contents that Map maps: reading smaller
	// contents costs less, and the memory is negligible.
	mapOver = 1 << 20

	// dropOver is the minimum size at which Drop releases memory: for smaller contents, faulting
	// them in again, which happened 43 times for a kernel's, costs more than the memory is worth.
	dropOver = 4 << 20
)

// Map returns the uncompressed contents, as Data does. It does not read large contents,
// but maps them into memory, from the file or from the temporary file that they were
// inflated to. They are valid until Release. For even larger contents, Drop releases the
// memory of the parts that were accessed; they may be accessed again.
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

// view returns the mapped contents, or nil if they cannot be mapped or are short.
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

// View implements Viewer. It returns nil for contents that are inflated on demand.
func (r *readerSource) View() []byte {
	if r.p.compression != "" {
		return nil
	}
	return r.p.view()
}

// mapSource returns a file that holds the complete uncompressed contents, and their offset in it. It
// returns nil if there is none.
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

// unmap ends the mapping. The caller holds p.mu.
func (p *Piece) unmap() {
	if p.mapped != nil {
		bin.UnmapFile(p.mapped)
		p.mapped = nil
	}
}
