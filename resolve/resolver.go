// Package resolve maps addresses to functions, inlined functions, files and lines, using
// symbol files or binaries. Open opens a symbol file, and FromModule takes symbols in memory;
// both return a Resolver, whose Find looks up an address.
//
// A symbol file is not read into a model for this. One pass over its text builds an index of its
// FUNC, PUBLIC, FILE, INLINE_ORIGIN and STACK records, by address or id. The records of a
// function are read from the text, and cached, when an address in it is first looked up. An index
// can be written to a file beside the symbol file, which later processes map (indexfile.go).
package resolve

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/symfmt"
)

// Resolver implements Symbols.
type Resolver struct {
	users

	path      string           // of the symbol file; may be empty
	doubt     string           // as ModuleOptions.Doubt
	debugPath string           // as Identity.DebugPath
	problems  []symfmt.Problem // records of the file that were left out

	x      *index
	source recordSource
	extent extent

	cache   atomic.Pointer[cache]
	limit   int64      // size of the cache in bytes
	mu      sync.Mutex // for writers of the cache
	files   *nameTable
	origins *nameTable
	publics publicSlots
	named   byName

	damaged   atomic.Int32     // the length of damage
	damage    []symfmt.Problem // found in functions, and in variables
	varsRead  bool             // damage includes the problems of variables
	damagedAt map[uint64]bool

	unmap func() // releases the index file; nil if there is none
}

// Source is the kind of record in which an address was found.
type Source uint8

// The sources.
const (
	None   Source = iota
	Func          // a FUNC record that contains the address
	Public        // the nearest PUBLIC record before it
)

// Frame is a function at an address: an inlined one, or the FUNC itself.
type Frame struct {
	Function string
	File     string // "" if it is unknown
	Line     uint32 // 0 if it is unknown
	Inlined  bool
}

// Linkage returns the name by which the linker knows the function, if the symbols have it, that
// is if Function is mangled. Otherwise it returns "".
func (f *Frame) Linkage() string {
	for _, prefix := range []string{"_Z", "_R", "__Z", "?"} { // Itanium C++, Rust v0, C++ of Mach-O, MSVC
		if rest, ok := strings.CutPrefix(f.Function, prefix); ok && rest != "" && !strings.ContainsAny(rest, " (") {
			return f.Function
		}
	}
	return ""
}

// Location is the symbol at an address.
type Location struct {
	Source    Source
	Start     symfmt.RVA // of the FUNC or PUBLIC
	Offset    uint64     // of the address from Start, in bytes, also for inlined Frames
	Size      uint64     // size of the FUNC in bytes
	ParamSize uint64     // bytes of arguments on the stack
	Multiple  bool       // several symbols share the code

	// Guess means that the PUBLIC may end before the address: see
	// Symbols.Nearest.
	Guess bool

	// Frames are the functions at the address, innermost first.
	Frames []Frame
}

// OpenOptions configures Open. The zero value keeps the index in memory.
type OpenOptions struct {
	// Index says that the index is kept in a file, which is used if it fits the symbol file, and
	// otherwise written for the next time. Its path is the symbol file's with .idx appended or, with
	// IndexDir, a file in that folder whose name is derived from the path.
	//
	// The index file is mapped, so it must not be truncated while it is in use. This package never
	// does: a new index is renamed over the old one.
	Index    bool
	IndexDir string
	// Unwritten, if non-nil, is called with the reason if the index file cannot be written, which is not
	// an error.
	Unwritten func(error)
}

// Open indexes the symbol file at path, which may be compressed.
func Open(ctx context.Context, path string, o OpenOptions) (Symbols, error) {
	var r *Resolver
	var unwritten, err error
	if o.Index {
		r, unwritten, err = openIndexedPath(ctx, path, o.IndexDir)
	} else {
		r, err = openPath(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	if unwritten != nil && o.Unwritten != nil {
		o.Unwritten(unwritten)
	}
	return r, nil
}

func openPath(ctx context.Context, path string) (*Resolver, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x, t, problems, err := openText(ctx, f, path)
	if err != nil || t != text(f) {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	return newTextResolver(path, x, t, problems), nil
}

// newTextResolver returns the Resolver of an index and its text.
func newTextResolver(path string, x *index, t text, problems []symfmt.Problem) *Resolver {
	return newResolver(path, x, &textSource{text: t, size: x.size, most: heldFunctions / 4}, problems, nil)
}

// newResolver returns the Resolver of an index and the records that it refers to. binary is nil
// for a symbol file.
func newResolver(path string, x *index, from recordSource, problems []symfmt.Problem, binary *symfmt.Extents) *Resolver {
	r := &Resolver{
		path: path, problems: problems, x: x, source: from, limit: heldFunctions,
		extent:  newExtent(x, binary),
		files:   newNameTable(x.files.len(), false),
		origins: newNameTable(x.origins.len(), x.OldInlines),
		publics: make(publicSlots, x.publics.len()),
	}
	r.cache.Store(newCache(x.funcs.len()))
	return r
}

// Close implements Symbols.
func (r *Resolver) Close() error {
	if !r.leave() {
		return nil
	}
	if r.unmap != nil {
		r.unmap()
	}
	return r.source.Close()
}

// Detail implements Symbols. If there are source files, there may be lines.
func (r *Resolver) Detail() Detail {
	switch {
	case r.x.files.len() > 0:
		return LineDetail
	case r.x.funcs.len() > 0:
		return FuncDetail
	}
	return PublicDetail
}

// HasRules implements Symbols.
func (r *Resolver) HasRules() bool { return r.x.blocks.len()+r.x.wins.len()+r.x.fpos.len() > 0 }

// Identity implements Symbols.
func (r *Resolver) Identity() Identity {
	id := r.x.Identity
	id.Path, id.DebugPath = r.path, r.debugPath
	return id
}

// Find implements Symbols. It does not allocate for functions that were looked up before.
func (r *Resolver) Find(rva symfmt.RVA, at *Location) (bool, error) {
	found, err := r.Nearest(rva, at)
	return found && at.sure(), err
}

// sure clears a guess, and reports whether it was not one.
func (at *Location) sure() bool {
	if at.Guess {
		*at = Location{Frames: at.Frames[:0]}
		return false
	}
	return true
}

// Nearest implements Symbols. Breakpad and rust-minidump also return the nearest PUBLIC.
// extent.go says how far one extends.
func (r *Resolver) Nearest(rva symfmt.RVA, at *Location) (bool, error) {
	*at = Location{Frames: at.Frames[:0]}
	base := r.x.funcs.below(rva) - 1
	if base >= 0 && r.known(base, rva, at) {
		return true, nil
	}
	if i := r.x.funcs.around(rva, base); i >= 0 {
		return true, r.inFunc(i, rva, at)
	}
	k := r.x.publics.below(uint64(rva)) - 1
	if k < 0 {
		return false, nil
	}
	// A PUBLIC before the nearest FUNC does not extend past that FUNC (Breakpad's
	// basic_source_line_resolver.cc, LookupAddress).
	start := symfmt.RVA(r.x.publics.u64(k, 0))
	if base >= 0 && start <= r.x.funcs.start(base) {
		return false, nil
	}
	verdict := r.extent.public(r.x, start, r.extent.sizeOf(start), rva)
	if verdict == outside {
		return false, nil
	}
	at.Source, at.Start, at.Offset, at.Guess = Public, start, uint64(rva-start), verdict == unsure
	p, err := r.public(k)
	if err != nil {
		return true, err
	}
	at.Multiple, at.ParamSize = p.multiple, p.paramSize
	at.Frames = append(at.Frames, Frame{Function: p.name})
	return true, nil
}

// known sets at for an address in function i, if the function was read before, is smaller than 4
// GB and contains the address. It reports whether it did.
func (r *Resolver) known(i int, rva symfmt.RVA, at *Location) bool {
	c := r.cache.Load()
	s := c.slot(i)
	if s == nil {
		return false
	}
	ref := s.ref.Load()
	start := r.x.funcs.start(i)
	if ref == 0 || uint64(rva-start) >= uint64(s.size) {
		return false
	}
	at.Source, at.Start, at.Offset, at.Size, at.Multiple = Func, start, uint64(rva-start), uint64(s.size), s.shape&isMultiple != 0
	r.frames(c, s, ref, uint32(rva-start), at)
	return true
}

// inFunc sets at for an address in function i.
func (r *Resolver) inFunc(i int, rva symfmt.RVA, at *Location) error {
	v := r.x.funcs.span(i)
	at.Source, at.Start, at.Offset, at.Size = Func, v.rva, uint64(rva-v.rva), v.size
	c := r.cache.Load()
	s := c.slot(i)
	if s == nil || s.ref.Load() == 0 {
		var err error
		if c, s, err = r.read(i, v); err != nil {
			return err
		}
	}
	at.Multiple = s.shape&isMultiple != 0
	if off := uint64(rva - v.rva); off < 1<<32 {
		r.frames(c, s, s.ref.Load(), uint32(off), at)
		return nil
	}
	at.ParamSize = c.paramSize(s)
	at.Frames = append(at.Frames, Frame{Function: s.name})
	return nil
}

var parsers = sync.Pool{New: func() any { return new(functionParser) }}

// read reads function i into the cache, which it may replace.
func (r *Resolver) read(i int, v span) (*cache, *slot, error) {
	if err := r.refused(i); err != nil {
		return nil, nil, err
	}
	p := parsers.Get().(*functionParser)
	defer parsers.Put(p)
	f, err := p.parse(r.source, v, r)
	if err != nil {
		return nil, nil, r.refuse(i, r.errorf(v.offset, err))
	}
	r.noteDamage(v.offset, p)
	c, s, err := r.keep(i, v, f.name, p.packer.pack(&f))
	if err != nil {
		return nil, nil, r.errorf(v.offset, err)
	}
	return c, s, nil
}

// refusalCost is the approximate size in bytes of a cached error.
const refusalCost = 256

// refuse records why function i cannot be used, so that its text is not parsed
// again for every address. It returns the error.
func (r *Resolver) refuse(i int, why error) error {
	if !errors.Is(why, errTooDeep) {
		return why // a file that cannot be read now may be readable later
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.makeRoom(refusalCost)
	if c.refused == nil {
		c.refused = make(map[int]error)
	}
	c.refused[i] = why
	c.held += refusalCost
	return why
}

// refused returns the error recorded by refuse, or nil.
func (r *Resolver) refused(i int) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.cache.Load().refused[i]
}

// keep adds a function to the cache.
func (r *Resolver) keep(i int, v span, name string, f packed) (*cache, *slot, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.cache.Load()
	if s := c.slot(i); s != nil && s.ref.Load() != 0 {
		return c, s, nil
	}
	size := held(name, f)
	c = r.makeRoom(size)
	ref, err := c.arena.add(f)
	if err != nil {
		return nil, nil, err
	}
	s := c.newSlot(i)
	c.held += size
	s.name, s.rows, s.shape = name, f.rows, f.shape
	if v.size < 1<<32 {
		s.size = uint32(v.size)
	}
	s.ref.Store(ref)
	return c, s, nil
}

// makeRoom returns the cache, or a new one if it has no room for size bytes. Only one goroutine
// may call it at a time.
func (r *Resolver) makeRoom(size int64) *cache {
	c := r.cache.Load()
	if c.held > 0 && c.held+size > r.limit {
		c = newCache(r.x.funcs.len())
		r.cache.Store(c)
	}
	return c
}

func (r *Resolver) errorf(offset uint64, err error) error {
	if place := r.source.place(offset); place != "" {
		return fmt.Errorf("%s: %s: %w", r.path, place, err)
	}
	return fmt.Errorf("%s: %w", r.path, err)
}
