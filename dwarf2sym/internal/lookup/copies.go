package lookup

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

// Func is what an index needs to know about a function.
type Func struct {
	Extent
	id funcs.ComdatKey
}

// Funcs returns what an exact index needs to know about the functions that w has read from a portion. code returns the
// code that a function depends on. If the portion is damaged, its functions may be described anywhere in it: it is then
// read again as a whole, which reports the damage.
func Funcs(w *funcs.Worker, portion int32, at *Portion, code func(*funcs.Func) dwarf.Span) (found []Func) {
	for i := range w.Funcs {
		f := Func{Extent: Extent{code(&w.Funcs[i]), Ref{Portion: portion}}}
		if at.Job < 0 && !w.Funcs[i].Tail && !w.Problems.Any() {
			f.DIE, f.id = w.Funcs[i].Key, w.ComdatKey(i)
		}
		found = append(found, f)
	}
	markOverlaps(found)
	return found
}

// Builder makes an exact index: it collects functions, without those that are copies of others.
type Builder struct {
	portions    []Portion
	synthesized map[int32][]dwarf.Span // code of functions made from symbols, by portion

	funcs  []Func
	index  intern.Index // of functions that may have copies
	places []int32      // by number in index: the index in funcs
	seed   maphash.Seed
}

// NewBuilder returns a Builder for functions of portions.
func NewBuilder(portions []Portion) *Builder {
	return &Builder{portions: portions, synthesized: make(map[int32][]dwarf.Span), seed: maphash.MakeSeed()}
}

// Add adds a function. Of several copies, it keeps the one whose DIE comes first, as package
// merge does.
func (b *Builder) Add(f Func) {
	if f.DIE != 0 && f.DIE == b.portions[f.Portion].Off {
		b.synthesized[f.Portion] = append(b.synthesized[f.Portion], f.Span)
	}
	if !f.id.Known {
		b.funcs = append(b.funcs, f)
		return
	}
	type what struct {
		dwarf.Span
		funcs.ComdatKey
	}
	hash := uint32(maphash.Comparable(b.seed, what{f.Span, f.id}))
	n, ok := b.index.Find(hash, func(n uint32) bool {
		o := &b.funcs[b.places[n]]
		return o.Span == f.Span && o.id == f.id
	})
	if !ok {
		b.index.Add(hash)
		b.places = append(b.places, int32(len(b.funcs)))
		b.funcs = append(b.funcs, f)
	} else if first := &b.funcs[b.places[n]]; f.DIE < first.DIE {
		*first = f
	}
}

// Index returns the index of the functions.
func (b *Builder) Index() *Index {
	x := New(Exact, b.portions, b.extents())
	x.synthesized = b.synthesized
	return x
}

// extents returns the code of the functions.
func (b *Builder) extents() []Extent {
	all := make([]Extent, len(b.funcs))
	for i := range b.funcs {
		all[i] = b.funcs[i].Extent
	}
	return all
}

// markOverlaps removes the ComdatKeys of overlapping functions of one portion, which are not copies.
func markOverlaps(all []Func) {
	slices.SortFunc(all, func(a, b Func) int { return cmp.Compare(a.Lo, b.Lo) })
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
