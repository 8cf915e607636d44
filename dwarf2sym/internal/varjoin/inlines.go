package varjoin

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// inlineIndex finds the INLINEs of a FUNC by depth and start: those of the same depth do not overlap.
type inlineIndex struct {
	byDepth [][]inlineStart // each in order of their starts
}

// inlineStart is an INLINE: its number in the FUNC, and the range from its first start to its last
// end.
type inlineStart struct {
	start  symfmt.RVA
	size   uint64
	number int
}

// fill replaces the index by one of the INLINEs of f.
func (x *inlineIndex) fill(f *symfmt.Func) {
	for i := range x.byDepth {
		x.byDepth[i] = x.byDepth[i][:0]
	}
	n := 0
	for in := range f.Inlines() {
		for int(in.Depth) >= len(x.byDepth) {
			x.byDepth = append(x.byDepth, nil)
		}
		hull := in.Hull()
		x.byDepth[in.Depth] = append(x.byDepth[in.Depth], inlineStart{hull.RVA, hull.Size, n})
		n++
	}
	order := func(a, b inlineStart) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.number, b.number))
	}
	for _, list := range x.byDepth {
		if !slices.IsSortedFunc(list, order) {
			slices.SortFunc(list, order)
		}
	}
}

// find returns the first INLINE with this depth and start, or nil.
func (x *inlineIndex) find(depth uint32, start symfmt.RVA) *inlineStart {
	if int(depth) >= len(x.byDepth) {
		return nil
	}
	list := x.byDepth[depth]
	i, ok := slices.BinarySearchFunc(list, start, func(in inlineStart, start symfmt.RVA) int { return cmp.Compare(in.start, start) })
	if !ok {
		return nil
	}
	return &list[i]
}
