package flatten

import (
	"cmp"
	"slices"
)

// Tree has the inlined calls of a FUNC as a tree, for formats that nest them.
type Tree struct {
	Nodes []Node // each before its children, siblings in the order of their INLINEs

	nodes []treeNode // by index of the call
	flat  Flat
	calls []int32 // indices of calls, in the order of their INLINEs
	stack []int32
}

// Node is a call with its code.
type Node struct {
	*Call
	Depth  uint32
	Ranges []Range // ascending; they do not touch
}

// Range is code, [Off, End) in bytes from the FUNC's start.
type Range struct{ Off, End uint32 }

// treeNode links a call to others. Those of the FUNC itself are linked as siblings, too.
type treeNode struct {
	child, last, next int32 // first and last child, and next sibling; NoCall if none
	ranges            []Range
}

// Tree makes the tree of the INLINEs that were added. It reuses the memory of out.
func (p *Flattener) Tree(out *Tree) {
	p.Flatten(&out.flat)
	root := out.link()
	segments := out.flat.Segments
	for i := range segments {
		for c := segments[i].Call; c != NoCall; c = out.flat.Calls[c].Outer { // no call goes beyond the last segment
			out.nodes[c].add(Range{segments[i].Off, segments[i+1].Off})
		}
	}
	out.order(root)
}

// link makes the tree without its code, and returns the first call in the FUNC.
func (t *Tree) link() (root int32) {
	calls := t.flat.Calls
	for len(t.nodes) < len(calls) {
		t.nodes = append(t.nodes, treeNode{})
	}
	t.calls = t.calls[:0]
	for i := range calls {
		t.nodes[i] = treeNode{child: NoCall, last: NoCall, next: NoCall, ranges: t.nodes[i].ranges[:0]}
		t.calls = append(t.calls, int32(i))
	}
	byInline := func(a, b int32) int { return cmp.Compare(calls[a].Inline, calls[b].Inline) }
	if !slices.IsSortedFunc(t.calls, byInline) {
		slices.SortStableFunc(t.calls, byInline)
	}
	root, last := int32(NoCall), int32(NoCall)
	for _, i := range t.calls {
		first, end := &root, &last
		if o := calls[i].Outer; o != NoCall {
			first, end = &t.nodes[o].child, &t.nodes[o].last
		}
		if *end == NoCall {
			*first = i
		} else {
			t.nodes[*end].next = i
		}
		*end = i
	}
	return root
}

// add adds code, which follows all that was added before.
func (n *treeNode) add(r Range) {
	if k := len(n.ranges); k > 0 && n.ranges[k-1].End == r.Off {
		n.ranges[k-1].End = r.End
		return
	}
	n.ranges = append(n.ranges, r)
}

// order lists the calls, each before its children.
func (t *Tree) order(root int32) {
	t.Nodes, t.stack = t.Nodes[:0], t.stack[:0]
	for at := root; at != NoCall; {
		n := &t.nodes[at]
		t.Nodes = append(t.Nodes, Node{&t.flat.Calls[at], uint32(len(t.stack)), n.ranges})
		if n.child != NoCall {
			t.stack = append(t.stack, at)
			at = n.child
			continue
		}
		for at = n.next; at == NoCall && len(t.stack) > 0; {
			at = t.nodes[t.stack[len(t.stack)-1]].next
			t.stack = t.stack[:len(t.stack)-1]
		}
	}
}

// Leaf reports whether node i has no children.
func (t *Tree) Leaf(i int) bool {
	return i+1 == len(t.Nodes) || t.Nodes[i+1].Depth <= t.Nodes[i].Depth
}
