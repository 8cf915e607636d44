package dwarf2sym

import (
	"cmp"
	"hash/maphash"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/internal/intern"
)

// Each C++ unit that uses an inline function has a copy of it. The linker keeps one; GNU ld gives the
// DIEs of all copies its address. Of two copies at one address that have the same size and name, and
// that both have or both lack inlined functions, package merge keeps the one that comes first. The
// other has no effect, so an index holds only the first: an address in it then needs one unit, not
// hundreds.

// indexedFunc is what an index needs to know about a function.
type indexedFunc struct {
	extent
	id funcs.ComdatKey
}

// dedup collects functions, without those that are copies of others.
type dedup struct {
	funcs  []indexedFunc
	index  intern.Index // of functions that may have copies
	places []int32      // by number in index: the index in funcs
	seed   maphash.Seed
}

func newDedup() *dedup { return &dedup{seed: maphash.MakeSeed()} }

// add adds a function. Of several copies, it keeps the one whose DIE comes first, as package
// merge does.
func (c *dedup) add(f indexedFunc) {
	if !f.id.Known {
		c.funcs = append(c.funcs, f)
		return
	}
	type what struct {
		dwarf.Span
		funcs.ComdatKey
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

// markOverlaps removes the ComdatKeys of overlapping functions of one portion, which are not copies.
func markOverlaps(all []indexedFunc) {
	slices.SortFunc(all, func(a, b indexedFunc) int { return cmp.Compare(a.Lo, b.Lo) })
	first, end := 0, uint64(0) // of a run of overlapping functions
	for i := range all {
		f := &all[i]
		if i > first && f.Lo < end {
			all[first].id, f.id = funcs.ComdatKey{}, funcs.ComdatKey{}
		} else {
			first, end = i, 0
		}
		end = max(end, f.Hi)
	}
}
