package resolve

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Resolver answers addresses of one module. Its methods may be called by
// several goroutines, Close excepted.
type Resolver struct {
	Path     string        // of the symbol file; may be empty
	Problems []bin.Problem // records of the file that were left out

	x    *Index
	text text

	cache   atomic.Pointer[cache]
	limit   int64      // bytes in the cache
	mu      sync.Mutex // for writers of the cache
	files   *nameTable
	origins *nameTable
	publics publicSlots

	unmap func() // gives the index back; nil if it is no file
}

// cache has the functions that were read so far. When it is full, another one
// takes its place: that costs a look-up nothing, as an order of last use would,
// and functions are read again at over a million lines a second.
type cache struct {
	pages []atomic.Pointer[slotPage]
	held  int64 // bytes in functions, about
}

// slotPage has the functions from a multiple of its size on, by place in the
// index: a large module is open before there is memory for all of them.
type slotPage [256]slot

// slot returns the place of function i, nil if its page is not there.
func (c *cache) slot(i int) *slot {
	page := c.pages[uint(i)/uint(len(slotPage{}))].Load()
	if page == nil {
		return nil
	}
	return &page[uint(i)%uint(len(slotPage{}))]
}

// slot is a function, once ready is set.
type slot struct { // 64 bytes
	function
	ready atomic.Uint32
}

// heldFunctions is how many bytes of functions a Resolver keeps, about: more
// than all of a kernel.
const heldFunctions = 256 << 20

// Source tells what an address was found in.
type Source uint8

// The sources.
const (
	None   Source = iota
	Func          // a FUNC record around the address
	Public        // the nearest PUBLIC record below it
)

// Frame is a function at an address: one that was inlined, or the FUNC itself.
type Frame struct {
	Function string
	File     string // "" if it is not known
	Line     uint32 // 0 if it is not known
	Inlined  bool
}

// Location is what is known of an address.
type Location struct {
	Source    Source
	Start     symfmt.RVA // of the FUNC or PUBLIC
	Size      uint64     // of the FUNC in bytes
	ParamSize uint64     // bytes of arguments on the stack
	Multiple  bool       // several symbols share the code

	// Frames are the functions at the address, innermost first.
	Frames []Frame
}

// Open indexes the symbol file at path, which may be compressed.
func Open(path string) (*Resolver, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x, t, problems, err := openText(f, path)
	if err != nil || t != text(f) {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	return newResolver(path, x, t, problems), nil
}

func newResolver(path string, x *Index, t text, problems []bin.Problem) *Resolver {
	r := &Resolver{
		Path: path, Problems: problems, x: x, text: t, limit: heldFunctions,
		files:   newNameTable(x.files.len(), false),
		origins: newNameTable(x.origins.len(), x.OldInlines),
		publics: make(publicSlots, x.publics.len()),
	}
	r.cache.Store(r.newCache())
	return r
}

func (r *Resolver) newCache() *cache {
	n := len(slotPage{})
	return &cache{pages: make([]atomic.Pointer[slotPage], (r.x.funcs.len()+n-1)/n)}
}

// Close gives the symbol file back.
func (r *Resolver) Close() error {
	if r.unmap != nil {
		r.unmap()
	}
	return r.text.Close()
}

// Index returns the index.
func (r *Resolver) Index() *Index { return r.x }

// Find tells what is at an address, in at, whose Frames are reused. It is false
// for an address that no FUNC covers and no PUBLIC speaks for. It allocates
// nothing for functions that were asked for before. The error is of the symbol
// file.
func (r *Resolver) Find(rva symfmt.RVA, at *Location) (bool, error) {
	*at = Location{Frames: at.Frames[:0]}
	i, base := r.x.funcs.find(rva)
	if i >= 0 {
		return true, r.inFunc(i, rva, at)
	}
	k := r.x.publics.below(uint64(rva)) - 1
	if k < 0 {
		return false, nil
	}
	// A PUBLIC in front of the nearest FUNC says nothing of what is behind that
	// (Breakpad's basic_source_line_resolver.cc, LookupAddress).
	start := symfmt.RVA(r.x.publics.u64(k, 0))
	if base >= 0 && uint64(start) <= r.x.funcs.u64(base, 0) {
		return false, nil
	}
	at.Source, at.Start = Public, start
	p, err := r.public(k)
	if err != nil {
		return true, err
	}
	at.Multiple, at.ParamSize = p.multiple, p.paramSize
	at.Frames = append(at.Frames, Frame{Function: p.name})
	return true, nil
}

// inFunc fills at for an address in function i.
func (r *Resolver) inFunc(i int, rva symfmt.RVA, at *Location) error {
	s := r.x.funcs.span(i)
	at.Source, at.Start, at.Size = Func, s.rva, s.size
	f := r.cache.Load().slot(i)
	if f == nil || f.ready.Load() == 0 {
		var err error
		if f, err = r.read(i, s); err != nil {
			return err
		}
	}
	at.Multiple, at.ParamSize = f.multiple, f.paramSize
	if uint64(rva-s.rva) >= 1<<32 {
		at.Frames = append(at.Frames, Frame{Function: f.name})
		return nil
	}
	r.frames(&f.function, uint32(rva-s.rva), at)
	return nil
}

// frames appends the frames at an offset of a function.
func (r *Resolver) frames(f *function, off uint32, at *Location) {
	s, calls := f.at(off)
	files := r.files.names
	line, file, call := s[0], files[s[1]], s[2]
	for call > 0 {
		c := calls[callWords*(call-1):][:callWords]
		at.Frames = append(at.Frames, Frame{r.origins.names[c[0]], file, line, true})
		file, line, call = files[c[1]], c[2], c[3]
	}
	at.Frames = append(at.Frames, Frame{Function: f.name, File: file, Line: line})
}

var parsers = sync.Pool{New: func() any { return new(functionParser) }}

// read reads function i into the cache.
func (r *Resolver) read(i int, s span) (*slot, error) {
	data, err := r.spanText(s)
	if err != nil {
		return nil, err
	}
	p := parsers.Get().(*functionParser)
	defer parsers.Put(p)
	f, err := p.parse(data, s, r)
	if err != nil {
		return nil, r.errorf(s.offset, err)
	}
	return r.keep(i, f), nil
}

// spanText reads the text of a function or a block.
func (r *Resolver) spanText(s span) ([]byte, error) {
	if s.offset > r.x.size || uint64(s.length) > r.x.size-s.offset {
		return nil, r.errorf(s.offset, errChanged)
	}
	data := make([]byte, s.length)
	n, err := r.text.ReadAt(data, int64(s.offset))
	if n == len(data) {
		return data, nil
	}
	if errors.Is(err, io.EOF) {
		err = errChanged
	}
	return nil, r.errorf(s.offset, err)
}

// keep puts a function into the cache.
func (r *Resolver) keep(i int, f function) *slot {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.cache.Load()
	if s := c.slot(i); s != nil && s.ready.Load() != 0 {
		return s
	}
	if c.held > 0 && c.held+f.held() > r.limit {
		c = r.newCache()
		r.cache.Store(c)
	}
	s := c.slot(i)
	if s == nil {
		c.pages[i/len(slotPage{})].Store(new(slotPage))
		s = c.slot(i)
	}
	c.held += f.held()
	s.function = f
	s.ready.Store(1)
	return s
}

func (r *Resolver) errorf(offset uint64, err error) error {
	return fmt.Errorf("%s: offset %#x: %w", r.Path, offset, err)
}
