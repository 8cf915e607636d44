package object

import (
	"fmt"
	"math"
	"sync"

	"github.com/symtool/symtool/internal/bin"
)

// Piece is the bytes of a section in an Input, stored or compressed. It implements Contents.
type Piece struct {
	// Fixer completes the contents; nil if they are complete.
	Fixer Fixer

	in     *Input
	name   string   // of the section
	off    int64    // in the Input
	packed int64    // number of stored bytes, according to the file
	parts  []*Piece // the parts of joined contents, which have no bytes in the Input

	compression string
	skip        int64  // length of the compression header
	size        int64  // of the uncompressed contents, as declared
	absent      string // why the Input does not have the bytes; "" if it does
	bad         error  // why the contents cannot be read

	mu      sync.Mutex
	data    []byte // contents, if loaded
	mapped  []byte // contents, if mapped, preceded by before bytes of a page
	before  int64
	gradual *gradual // contents, if inflated on demand
}

// Fixer changes contents in the way a linker would have.
type Fixer interface {
	// Prepare reads what Apply needs. After an error the contents are unusable.
	Prepare() error
	// Apply changes data, which is the contents from off on. raw provides the contents
	// around data as they are in the file; it is nil if data is all of them.
	Apply(data []byte, off uint64, raw Source) error
}

// NewPiece returns a Piece for the n bytes at off, the contents of a section. name is the
// section's name in messages. If the bytes are outside the Input, reading them returns an
// error.
func NewPiece(in *Input, name string, off, n uint64) *Piece {
	p := &Piece{in: in, name: name}
	if n == 0 {
		return p
	}
	p.packed = int64(min(n, math.MaxInt64))
	if size := uint64(in.Size); off > size || n > size-off {
		p.bad = p.Errorf(0, "%d bytes at offset %#x do not fit into the file of %d bytes", n, off, size)
		return p
	}
	p.off, p.size = int64(off), int64(n)
	return p
}

// AbsentPiece returns a Piece for a section whose bytes are in another file. Reading it returns an
// error with the reason why.
func AbsentPiece(in *Input, name, why string) *Piece {
	return &Piece{in: in, name: name, absent: why}
}

// HasData implements Contents.
func (p *Piece) HasData() bool { return p.packed > 0 }

// Stripped implements Contents.
func (p *Piece) Stripped() bool { return p.absent != "" }

// Size implements Contents.
func (p *Piece) Size() int64 { return p.size }

// Compression implements Contents.
func (p *Piece) Compression() string { return p.compression }

// Damage returns the reason why contents that the file claims to have cannot be read, or nil if
// none is known so far.
func (p *Piece) Damage() error { return p.bad }

// Refuse records err as the reason why the contents cannot be read.
func (p *Piece) Refuse(err error) { p.size, p.bad = 0, err }

// Errorf returns an error at an offset in the uncompressed contents.
func (p *Piece) Errorf(offset uint64, format string, args ...any) *bin.Error {
	return p.Wrap(offset, nil, format, args...)
}

// Wrap is like Errorf, with a cause.
func (p *Piece) Wrap(offset uint64, cause error, format string, args ...any) *bin.Error {
	return &bin.Error{File: p.in.Path, Section: p.name, Offset: offset, Msg: fmt.Sprintf(format, args...), Err: cause}
}

// check returns the reason why there are no contents, or nil.
func (p *Piece) check() error {
	if p.absent != "" {
		return p.Errorf(0, "%s", p.absent)
	}
	return p.bad
}

// ReadAt fills buf from offset off of the stored bytes, which may be compressed.
func (p *Piece) ReadAt(buf []byte, off int64) error {
	if got, err := readFull(p.in.Reader, buf, p.off+off); err != nil {
		return p.Wrap(uint64(off)+uint64(got), err, "reading %d bytes", len(buf))
	}
	return nil
}

// Data implements Contents.
func (p *Piece) Data() ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data != nil {
		return p.data, nil
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	if g := p.gradual; g != nil && g.file == nil {
		if err := g.upTo(p.size); err != nil {
			return nil, err
		}
		return g.data[:p.size:p.size], nil
	}
	if err := p.takeHeld(); err != nil {
		return nil, err
	}
	data, err := p.load()
	if err != nil {
		p.in.Held.Give(p.size)
		return nil, err
	}
	p.data = data
	return data, nil
}

// takeHeld charges the contents to the memory budget.
func (p *Piece) takeHeld() error {
	if !p.in.Held.Take(p.size) {
		return p.Errorf(0, "%d bytes of contents would exceed the limit of %d bytes in memory for a file of %d bytes",
			p.size, p.in.Limits.HeldBytes(p.in.Size), p.in.Size)
	}
	return nil
}

// load reads or inflates the contents and applies the Fixer.
func (p *Piece) load() (data []byte, err error) {
	switch {
	case p.parts != nil:
		data, err = p.loadParts()
	case p.compression != "":
		data, err = p.inflateAll()
	default:
		data, err = p.read()
	}
	if err == nil && p.Fixer != nil {
		if err = p.Fixer.Prepare(); err == nil {
			err = p.Fixer.Apply(data, 0, nil)
		}
	}
	return data, err
}

// read returns the stored contents.
func (p *Piece) read() ([]byte, error) {
	m, ok := p.in.Reader.(Memory)
	if ok && p.Fixer == nil && p.off <= int64(len(m)) && p.size <= int64(len(m))-p.off {
		return m[p.off:][:p.size:p.size], nil
	}
	data := make([]byte, p.size)
	return data, p.ReadAt(data, 0)
}

// Release implements Contents. It invalidates what Open and Map returned.
func (p *Piece) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.data != nil {
		p.in.Held.Give(p.size)
		p.data = nil
	}
	p.unmap()
	if g := p.gradual; g != nil {
		budget := &p.in.Disk
		if g.file == nil {
			budget = &p.in.Held
		}
		budget.Give(p.size)
		g.close()
		p.gradual = nil
	}
}
