package resolve

import (
	"context"
	"errors"
	"sync"

	"github.com/symtool/symtool/resolve/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// Find is the function Find of r. It does not allocate for functions that were looked up before.
func (r *Resolver) Find(ctx context.Context, rva symfmt.RVA, at *Location) (bool, error) {
	return Find(ctx, r, rva, at)
}

// Nearest implements Symbols. Breakpad and rust-minidump also return the nearest PUBLIC.
// Package extent says how far one extends.
func (r *Resolver) Nearest(_ context.Context, rva symfmt.RVA, at *Location) (bool, error) {
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
	verdict := r.extent.Public(r.x, start, r.extent.SizeOf(start), rva)
	if verdict == extent.Outside {
		return false, nil
	}
	at.Source, at.Start, at.Offset, at.Guess = Public, start, uint64(rva-start), verdict == extent.Unsure
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
