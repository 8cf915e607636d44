package funcs

import (
	"slices"
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
)

// inlineTree clips the inlined subroutines of a function to one piece of it.
//
// The format requires that the ranges of an INLINE are inside those of its parent, and that siblings do
// not overlap; otherwise readers disagree. Compilers usually comply. Where they do not, the DIE that comes
// last owns the code, as in LLVM's DWARFUnit::updateAddressDieMap, and all ancestors of the owner are
// extended to that code.
type inlineTree struct {
	spans  []dwarf.Span // clipped, node by node
	nodes  []node
	ends   []uint64 // by depth: end of the last span, as long as spans are sorted
	keys   []uint64 // sort keys of spans
	sweep  span.Sweep
	ranges []symfmt.Range
	owners []int32 // with Filter.OnlyAddrs
}

// node is an inlined subroutine with its clipped code, spans[first:last].
type node struct {
	parent      int32
	depth       uint32
	first, last int32
}

// clip fills the tree with the parts of fn's inlines that are in s. It reports whether there are any.
func (t *inlineTree) clip(fn *openFunc, s dwarf.Span) bool {
	t.spans, t.nodes = slices.Grow(t.spans[:0], len(fn.inlineSpans)), slices.Grow(t.nodes[:0], len(fn.inlines))
	for i := range fn.inlines {
		in := &fn.inlines[i]
		n := node{parent: in.parent, first: int32(len(t.spans))}
		if in.parent >= 0 {
			n.depth = t.nodes[in.parent].depth + 1
		}
		for _, r := range fn.inlineSpans[in.first:in.last] {
			if r.Lo, r.Hi = max(r.Lo, s.Lo), min(r.Hi, s.Hi); r.Lo < r.Hi {
				t.spans = append(t.spans, r)
			}
		}
		n.last = int32(len(t.spans))
		t.nodes = append(t.nodes, n)
	}
	return len(t.spans) > 0
}

func (t *inlineTree) of(n *node) []dwarf.Span { return t.spans[n.first:n.last] }

// nested reports whether each node is inside its parent and no two nodes of the same depth overlap.
func (t *inlineTree) nested() bool {
	inOrder := true
	t.ends = t.ends[:0]
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.parent >= 0 && !inside(t.of(n), t.of(&t.nodes[n.parent])) {
			return false
		}
		for int(n.depth) >= len(t.ends) {
			t.ends = append(t.ends, 0)
		}
		for _, r := range t.of(n) {
			inOrder = inOrder && r.Lo >= t.ends[n.depth]
			t.ends[n.depth] = r.Hi
		}
	}
	return inOrder || t.apart()
}

// inside reports whether each of the spans in is within one of the spans out. Both must be sorted.
func inside(in, out []dwarf.Span) bool {
	for _, r := range in {
		k := sort.Search(len(out), func(i int) bool { return out[i].Hi >= r.Hi })
		if k == len(out) || r.Lo < out[k].Lo {
			return false
		}
		out = out[k:]
	}
	return true
}

// apart reports whether no two spans of the same depth overlap. It sorts spans as integers made of depth,
// start and length, which is faster than comparing their fields. It reports false for a function larger
// than 64 MB.
func (t *inlineTree) apart() bool {
	const (
		shift  = 26 // 12 bits for the depth, up to MaxDepth
		length = 1<<shift - 1
	)
	keys, base := slices.Grow(t.keys[:0], len(t.spans)), t.spans[0].Lo
	for _, r := range t.spans {
		base = min(base, r.Lo)
	}
	for i := range t.nodes {
		depth := uint64(t.nodes[i].depth) << (2 * shift)
		for _, r := range t.of(&t.nodes[i]) {
			if r.Hi-base > length {
				return false
			}
			keys = append(keys, depth|(r.Lo-base)<<shift|(r.Hi-r.Lo))
		}
	}
	t.keys = keys
	slices.Sort(keys)
	for i := 1; i < len(keys); i++ {
		if end := keys[i-1]>>shift + keys[i-1]&length; keys[i]>>shift < end {
			return false
		}
	}
	return true
}

// paint assigns each piece of code to the last node that claims it, and to that node's ancestors. It
// returns the work done, and gives up beyond limit.
func (t *inlineTree) paint(limit uint64) (work uint64) {
	t.sweep.Reset(len(t.nodes))
	for i := range t.nodes {
		for _, r := range t.of(&t.nodes[i]) {
			t.sweep.Claim(i, r.Lo, r.Hi)
		}
	}
	owned := make([][]dwarf.Span, len(t.nodes))
	t.sweep.Each(func(owner int32, lo, hi uint64) bool {
		for n := owner; n >= 0; n = t.nodes[n].parent {
			owned[n] = appendSpan(owned[n], dwarf.Span{Lo: lo, Hi: hi})
			work += dwarf.SpanCost
		}
		return work <= limit
	})
	t.spans = t.spans[:0]
	for i, spans := range owned {
		t.nodes[i].first = int32(len(t.spans))
		t.spans = append(t.spans, spans...)
		t.nodes[i].last = int32(len(t.spans))
	}
	return work
}

// appendSpan appends s, joining it with the last span if they touch.
func appendSpan(spans []dwarf.Span, s dwarf.Span) []dwarf.Span {
	if n := len(spans) - 1; n >= 0 && spans[n].Hi == s.Lo {
		spans[n].Hi = s.Hi
		return spans
	}
	return append(spans, s)
}

// addInlines adds the INLINE records of fn in s, in the order of their DIEs, so that each follows its
// parent. It reports whether there are any in s, even if Filter.OnlyAddrs restricts which ones are added.
func (w *Worker) addInlines(fn *openFunc, s dwarf.Span) bool {
	t := &w.inlines
	if !w.Spend(uint64(len(fn.inlines)+len(fn.inlineSpans))*dwarf.SpanCost) || !t.clip(fn, s) {
		return false
	}
	if w.OnlyAddrs != nil {
		w.Spend(t.keepAt(addrsIn(w.OnlyAddrs, s)))
	}
	if !t.nested() {
		if !w.Spend(t.paint(w.Effort.Limit)) {
			return true
		}
		w.Stats.RepairedInlines++
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		if n.first == n.last {
			continue
		}
		t.ranges = t.ranges[:0]
		for _, r := range t.of(n) {
			t.ranges = append(t.ranges, symfmt.Range{RVA: w.code.RVA(r.Lo), Size: r.Hi - r.Lo})
		}
		in := &fn.inlines[i]
		if in.origin == lateOrigin {
			in.origin = w.originAt(in.die)
		}
		w.builder.AddInline(&symfmt.Inline{
			Depth: n.depth, CallLine: in.callLine, CallFile: symfmt.FileID(w.callFile(in.callFile)),
			Origin: symfmt.OriginID(in.origin), Ranges: t.ranges,
		})
	}
	return true
}
