package dwarf2sym

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/intern"
)

// Each C++ unit that uses an inline function has a copy of it. The linker keeps one; GNU ld gives the
// DIEs of all copies its address. Of two copies at one address that have the same size and name, and
// that both have or both lack inlined functions, merger.fold keeps the one that comes first. The
// other has no effect, so an index holds only the first: an address in it then needs one unit, not
// hundreds.

// comdatKey holds what such copies have in common besides their code.
type comdatKey struct {
	name    uint64 // offset in .debug_str, with the tag of its Data
	known   bool   // the other fields are known: the function may be a copy
	inlined bool   // something is inlined into it
	label   bool   // funcRecord.label
}

// identified is the number of pieces of a function that have a comdatKey: the number of bits in
// openFunc.inlined.
const identified = 64

// identify records the comdatKeys of the pieces of fn, which are funcs[first:].
func (w *worker) identify(fn *openFunc, first int) {
	for len(w.comdatKeys) < first {
		w.comdatKeys = append(w.comdatKeys, comdatKey{}) // placeholders for functions made from symbols
	}
	if w.job != nil {
		return // the offsets are in another file
	}
	d, off, known := w.namePlace(&w.u, &fn.attrs)
	known = known && off < uint64(len(d.Str)) && d.Str[off] != 0
	for i := range min(len(w.funcs)-first, identified) {
		id := comdatKey{known: known, inlined: fn.inlined>>i&1 != 0, label: w.funcs[first+i].label}
		if known {
			id.name = d.Tag | off
		}
		w.comdatKeys = append(w.comdatKeys, id)
	}
}

// comdatKeyOf returns the comdatKey of funcs[i].
func (w *worker) comdatKeyOf(i int) (id comdatKey) {
	if i < len(w.comdatKeys) {
		id = w.comdatKeys[i]
	}
	return id
}

// identified returns the pieces of the function that have a comdatKey.
func (fn *openFunc) identified() []dwarf.Span { return fn.spans[:min(len(fn.spans), identified)] }

// allInlined reports whether something is inlined into every identified piece.
func (fn *openFunc) allInlined() bool { return fn.inlined == 1<<len(fn.identified())-1 }

// noteInlined records which pieces of fn contain code of the inlined function at die, whose
// attributes are a.
func (w *worker) noteInlined(a *dwarf.Attrs, die uint64, fn *openFunc) {
	pieces := fn.identified()
	spans := w.spansOf(a, "inlined function", die)
	if !w.Spend(uint64(len(spans)*len(pieces)) * dwarf.SpanCost) {
		return
	}
	for _, in := range spans {
		for i, s := range pieces {
			if max(in.Lo, s.Lo) < min(in.Hi, s.Hi) {
				fn.inlined |= 1 << i
			}
		}
	}
}

// indexedFunc is what an index needs to know about a function.
type indexedFunc struct {
	extent
	id comdatKey
}

// dedup collects functions, without those that are copies of others.
type dedup struct {
	funcs  []indexedFunc
	index  intern.Index // of functions that may have copies
	places []int32      // by number in index: the index in funcs
	seed   maphash.Seed
}

func newDedup() *dedup { return &dedup{seed: maphash.MakeSeed()} }

// add adds a function. Of several copies, it keeps the one whose DIE comes first, as merger.fold
// does.
func (c *dedup) add(f indexedFunc) {
	if !f.id.known {
		c.funcs = append(c.funcs, f)
		return
	}
	type what struct {
		dwarf.Span
		comdatKey
	}
	hash := uint32(maphash.Comparable(c.seed, what{f.Span, f.id}))
	n, ok := c.index.Find(hash, func(n uint32) bool {
		o := &c.funcs[c.places[n]]
		return o.Span == f.Span && o.id == f.id
	})
	if !ok {
		c.index.Add(hash)
		c.places = append(c.places, int32(len(c.funcs)))
		c.funcs = append(c.funcs, f)
	} else if first := &c.funcs[c.places[n]]; f.die < first.die {
		*first = f
	}
}

// extents returns the code of the functions.
func (c *dedup) extents() []extent {
	all := make([]extent, len(c.funcs))
	for i := range c.funcs {
		all[i] = c.funcs[i].extent
	}
	return all
}

// markOverlaps removes the comdatKeys of overlapping functions of one portion, which are not copies.
func markOverlaps(all []indexedFunc) {
	slices.SortFunc(all, func(a, b indexedFunc) int { return cmp.Compare(a.Lo, b.Lo) })
	first, end := 0, uint64(0) // of a run of overlapping functions
	for i := range all {
		f := &all[i]
		if i > first && f.Lo < end {
			all[first].id, f.id = comdatKey{}, comdatKey{}
		} else {
			first, end = i, 0
		}
		end = max(end, f.Hi)
	}
}
