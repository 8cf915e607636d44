package symelf

import (
	"math"

	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// inlineTree holds the inlined functions of a FUNC as DWARF nests them. It gives
// the same answers as the records (package flatten).
type inlineTree struct {
	flatten.Tree
	flattener flatten.Flattener
	sizes     []uint64       // of the INLINEs' ranges, by INLINE
	clipped   []symfmt.Range // of the current INLINE
}

// build makes the tree of a FUNC, and reports whether it has any nodes.
func (t *inlineTree) build(f *symfmt.Func) bool {
	t.flattener.Reset(f.RVA)
	t.sizes, t.Nodes = t.sizes[:0], t.Nodes[:0]
	for r := f.InlineReader(); r.Next(); {
		t.add(f, r.Inline)
	}
	if len(t.sizes) > 0 {
		t.flattener.Tree(&t.Tree)
	}
	return len(t.Nodes) > 0
}

// add adds an INLINE, clipped to the FUNC.
func (t *inlineTree) add(f *symfmt.Func, in symfmt.Inline) {
	size, end := uint64(0), min(f.Size, math.MaxUint32)
	t.clipped = t.clipped[:0]
	for _, r := range in.Ranges {
		size += r.Size
		if off := uint64(r.RVA - f.RVA); r.RVA >= f.RVA && off < end {
			t.clipped = append(t.clipped, symfmt.Range{RVA: r.RVA, Size: min(r.Size, end-off)})
		}
	}
	in.Ranges = t.clipped
	t.sizes = append(t.sizes, size)
	t.flattener.AddInline(&in)
}

// lost returns the number of INLINEs whose code is not all in the tree.
func (t *inlineTree) lost() (n int) {
	for i := range t.Nodes {
		for _, r := range t.Nodes[i].Ranges {
			t.sizes[t.Nodes[i].Inline] -= uint64(r.End - r.Off)
		}
	}
	for _, missing := range t.sizes {
		if missing != 0 {
			n++
		}
	}
	return n
}
