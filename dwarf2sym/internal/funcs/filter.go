package funcs

import (
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/symfmt"
)

// Filter selects what is read. The zero value selects everything.
type Filter struct {
	// Wants reports whether a function with the given code is wanted; nil means that all are.
	// Other functions get no names, inlines and lines.
	Wants func(dwarf.Span) bool

	Only *Described // the DIEs and symbols from which functions of the unit are wanted; nil means all

	OnlyAddrs []uint64 // sorted addresses at which lines and inlined functions are wanted; nil means all

	Indexing bool // keep ComdatKeys, for functions that are not wanted
}

// Described lists what describes the functions of a unit.
type Described struct {
	DIEs        []uint64     // offsets of DIEs, sorted
	Synthesized []dwarf.Span // code of functions made from symbols
}

// With Filter.OnlyAddrs, only the lines and inlined functions at some addresses are kept. They do not depend on the
// others: a line covers only its own code, and an address claimed by several inlined functions belongs to the
// last one and its ancestors, whether they are nested (inlineTree.nested) or not (inlineTree.paint).

// addrsIn returns the addresses in s. addrs must be sorted.
func addrsIn(addrs []uint64, s dwarf.Span) []uint64 {
	first := sort.Search(len(addrs), func(i int) bool { return addrs[i] >= s.Lo })
	addrs = addrs[first:]
	return addrs[:sort.Search(len(addrs), func(i int) bool { return addrs[i] >= s.Hi })]
}

// anyIn reports whether any of addrs, which must be sorted, lies in s.
func anyIn(addrs []uint64, s dwarf.Span) bool {
	i := sort.Search(len(addrs), func(i int) bool { return addrs[i] >= s.Lo })
	return i < len(addrs) && addrs[i] < s.Hi
}

// keepAt removes the code of the nodes that no address depends on. It returns the work done.
func (t *inlineTree) keepAt(addrs []uint64) (work uint64) {
	owners := t.owners[:0]
	for range addrs {
		owners = append(owners, -1)
	}
	t.owners = owners
	for i := range t.nodes {
		for _, r := range t.of(&t.nodes[i]) {
			for k := sort.Search(len(addrs), func(k int) bool { return addrs[k] >= r.Lo }); k < len(addrs) && addrs[k] < r.Hi; k++ {
				owners[k] = int32(i)
				work++
			}
		}
	}
	kept := make([]bool, len(t.nodes))
	for _, n := range owners {
		for ; n >= 0 && !kept[n]; n = t.nodes[n].parent {
			kept[n] = true
		}
	}
	for i := range t.nodes {
		if n := &t.nodes[i]; !kept[i] {
			n.last = n.first
		}
	}
	return work
}

// originAt returns the number of the inlined function whose DIE is at off in .debug_info, in the current unit.
func (w *Worker) originAt(off uint64) uint32 {
	var a dwarf.NameAttrs
	w.u.TakeAt(int(off-w.u.Off), &a)
	return w.originOf(&a, off)
}

// addLine adds a line unless it is not needed.
func (w *Worker) addLine(l symfmt.Line) {
	if w.OnlyAddrs != nil {
		lo := w.code.Addr(l.RVA)
		if !anyIn(w.OnlyAddrs, dwarf.Span{Lo: lo, Hi: lo + l.Size}) {
			return
		}
	}
	w.builder.AddLine(l)
}
