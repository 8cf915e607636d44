package dwarf2sym

import (
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/symfmt"
)

// With worker.onlyAddrs, only the lines and inlined functions at some addresses are kept. They do not depend on the
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

// containsAddr reports whether addr is one of addrs.
func containsAddr(addrs []uint64, addr uint64) bool {
	return anyIn(addrs, dwarf.Span{Lo: addr, Hi: addr + 1})
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
func (w *worker) originAt(off uint64) uint32 {
	var a dwarf.NameAttrs
	w.u.TakeAt(int(off-w.u.Off), &a)
	return w.originOf(&a, off)
}

// addLine adds a line unless it is not needed.
func (w *worker) addLine(l symfmt.Line) {
	if w.onlyAddrs != nil {
		lo := w.code.Addr(l.RVA)
		if !anyIn(w.onlyAddrs, dwarf.Span{Lo: lo, Hi: lo + l.Size}) {
			return
		}
	}
	w.builder.AddLine(l)
}
