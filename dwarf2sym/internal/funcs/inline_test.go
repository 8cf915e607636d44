package funcs

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// Whatever inlined functions a function has, the records nest, as in a simple model that examines
// each address. If only some addresses are needed, the result there is the same.
func TestPaintModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7)).IntN
	for round := range 400 {
		fn := &openFunc{}
		n := 1 + rng(12)
		for i := range n {
			in := inlineDIE{parent: int32(rng(i+1)) - 1, first: int32(len(fn.inlineSpans))}
			var spans []dwarf.Span
			for range 1 + rng(3) {
				lo := uint64(rng(40))
				spans = append(spans, dwarf.Span{Lo: lo, Hi: lo + 1 + uint64(rng(20))})
			}
			fn.inlineSpans = append(fn.inlineSpans, dwarf.Tidy(spans)...)
			in.last = int32(len(fn.inlineSpans))
			fn.inlines = append(fn.inlines, in)
		}
		piece := dwarf.Span{Lo: uint64(rng(10)), Hi: uint64(20 + rng(40))}
		var all, some []uint64 // addresses
		for a := piece.Lo; a < piece.Hi; a++ {
			if all = append(all, a); rng(8) == 0 {
				some = append(some, a)
			}
		}
		var tree inlineTree
		if !tree.clip(fn, piece) {
			continue
		}
		for _, asked := range [][]uint64{all, some} {
			tree.clip(fn, piece)
			if len(asked) < len(all) {
				tree.keepAt(asked)
				checkNeeded(t, &tree, asked)
			}
			if !tree.nested() {
				tree.paint(1 << 30)
			}
			if !tree.nested() {
				t.Fatalf("round %d: not nested after painting", round)
			}
			checkPainted(t, &tree, fn, asked)
		}
	}
}

// checkNeeded fails if a node has code although neither it nor one below it has code at any of
// addrs.
func checkNeeded(t *testing.T, tree *inlineTree, addrs []uint64) {
	t.Helper()
	needed := make([]bool, len(tree.nodes))
	for i := range slices.Backward(tree.nodes) {
		n := &tree.nodes[i]
		for _, s := range tree.of(n) {
			needed[i] = needed[i] || len(addrsIn(addrs, s)) > 0
		}
		if needed[i] && n.parent >= 0 {
			needed[n.parent] = true
		}
		if !needed[i] && n.last > n.first {
			t.Fatalf("inline %d has code, and nothing at %v", i, addrs)
		}
	}
}

// checkPainted compares, at each address, the chain of inlines with that of the
// last DIE that claims it.
func checkPainted(t *testing.T, tree *inlineTree, fn *openFunc, addrs []uint64) {
	t.Helper()
	holds := func(spans []dwarf.Span, a uint64) bool {
		for _, s := range spans {
			if s.Lo <= a && a < s.Hi {
				return true
			}
		}
		return false
	}
	for _, a := range addrs {
		want := make([]bool, len(fn.inlines))
		last := -1
		for i, in := range fn.inlines {
			if holds(fn.inlineSpans[in.first:in.last], a) {
				last = i
			}
		}
		for ; last >= 0; last = int(fn.inlines[last].parent) {
			want[last] = true
		}
		for i := range tree.nodes {
			if got := holds(tree.of(&tree.nodes[i]), a); got != want[i] {
				t.Fatalf("address %d, inline %d: %v, want %v", a, i, got, want[i])
			}
		}
	}
}
