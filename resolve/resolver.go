// Package resolve maps addresses to functions, inlined functions, files and lines, using
// symbol files or binaries. Open opens a symbol file, and FromModule takes symbols in memory;
// both return a Resolver, whose Find looks up an address.
//
// A symbol file is not read into a model for this. One pass over its text builds an index of its
// FUNC, PUBLIC, FILE, INLINE_ORIGIN and STACK records, by address or id. The records of a
// function are read from the text, and cached, when an address in it is first looked up. An index
// can be written to a file beside the symbol file, which later processes map (indexfile.go).
//
// Its files, from the top: each uses only those below it, apart from types of a field or a parameter.
//
//   - lookup.go, supplier.go, variables.go: questions to several Symbols
//   - namesonly.go: the beginning of Symbols of other programs
//   - openfile.go, indexfile.go, textsource.go, modulesource.go: where a Resolver's records come from
//   - linestart.go, find.go, packed.go: looking up an address
//   - damage.go, text.go, build.go, records.go: making an index of a text
//   - stack.go, resolver.go, named.go, function.go, names.go, source.go: a Resolver, and its records
//   - index.go, spans.go, table.go, cache.go, users.go: its memory
//   - symbols.go, location.go: the questions, and the answer
package resolve

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/resolve/internal/extent"
	"github.com/symtool/symtool/symfmt"
)

// Resolver implements Symbols.
type Resolver struct {
	users

	path      string // of the symbol file; may be empty
	doubt     string // as ModuleOptions.Doubt
	debugPath string // as Identity.DebugPath

	x      *index
	source recordSource
	extent extent.Extent

	cache   atomic.Pointer[cache]
	limit   int64      // size of the cache in bytes
	mu      sync.Mutex // for writers of the cache
	files   *nameTable
	origins *nameTable
	publics publicSlots
	named   byName

	damage    []symfmt.Problem // records that were left out: those of the index come first
	indexed   int              // number of problems of the index
	varsRead  bool             // damage includes the problems of variables
	damagedAt map[uint64]bool

	unmap func() // releases the index file; nil if there is none
}

// newResolver returns the Resolver of an index and the records that it refers to. binary is nil
// for a symbol file.
func newResolver(path string, x *index, from recordSource, problems []symfmt.Problem, binary *symfmt.Extents) *Resolver {
	r := &Resolver{
		path: path, damage: slices.Clip(problems), indexed: len(problems), x: x, source: from, limit: heldFunctions,
		extent:  x.extent(binary),
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
func (r *Resolver) Detail(context.Context) Detail {
	switch {
	case r.x.files.len() > 0:
		return LineDetail
	case r.x.funcs.len() > 0:
		return FuncDetail
	}
	return PublicDetail
}

// HasRules implements Symbols.
func (r *Resolver) HasRules(context.Context) bool {
	return r.x.blocks.len()+r.x.wins.len()+r.x.fpos.len() > 0
}

// Identity implements Symbols.
func (r *Resolver) Identity() Identity {
	id := r.x.Identity
	id.Path, id.DebugPath = r.path, r.debugPath
	return id
}

func (r *Resolver) errorf(offset uint64, err error) error {
	if place := r.source.place(offset); place != "" {
		return fmt.Errorf("%s: %s: %w", r.path, place, err)
	}
	return fmt.Errorf("%s: %w", r.path, err)
}

// InCode reports whether there may be code at rva. With a binary, rva must be in a section with
// code; with a symbol file, rva must not be after the last record.
func (r *Resolver) InCode(rva symfmt.RVA) bool { return r.extent.InCode(rva) }

// Base returns the link-time address of RVA 0. known is false for a symbol file, which does not
// record it.
func (r *Resolver) Base() (base uint64, known bool) {
	if r.extent.Extents == nil {
		return 0, false
	}
	return r.extent.Base, true
}

// Last returns the last address of the records in the symbol file.
func (r *Resolver) Last(context.Context) symfmt.RVA { return r.extent.Last }

var _ Symbols = (*Resolver)(nil)

var _ NamedSymbols = (*Resolver)(nil)
