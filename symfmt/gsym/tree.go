package gsym

import (
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// treeMaker replaces INLINEs that do not form a tree by a tree of those that
// package resolve would find for each address. At each level, that is the range
// that starts last, up to its end; a level without one ends the chain.
type treeMaker struct {
	ends   []uint32 // see isTree
	levels []int    // start of each level's ranges, and the end of the last
	next   []int    // next range of each level
	cuts   []uint32
	chain  []uint32 // nodes made, by level
	made   []madeNode
	limit  int // maximum number of nodes
	order  []uint32
}

// madePerRange is the maximum number of nodes made per range. The children of a
// node that changes are made again each time, so without a limit their number
// could be the product of two levels' ranges.
const madePerRange = 16

// madeNode is a node of the new tree.
type madeNode struct {
	from        uint32 // node it is made from
	outer       uint32 // made parent + 1
	depth       uint32
	first, last uint32 // first and last child + 1
	next        uint32 // next sibling + 1
	ranges      []codeRange
}

// make replaces the nodes of s.
func (t *treeMaker) make(s *scratch) {
	sorted := s.sortRanges()
	t.findLevels(sorted)
	t.made, t.chain = t.made[:0], t.chain[:0]
	t.made = append(t.made, madeNode{}) // the FUNC
	t.limit = madePerRange * (len(sorted) + madePerRange)
	for i, off := range t.cuts {
		end := s.size
		if i+1 < len(t.cuts) {
			end = t.cuts[i+1]
		}
		t.cover(s, sorted, off, end)
	}
	t.flatten(s)
}

// findLevels finds the levels, up to the first missing one, and the offsets
// where something begins or ends.
func (t *treeMaker) findLevels(sorted []depthRange) {
	t.levels, t.cuts = t.levels[:0], t.cuts[:0]
	end := len(sorted)
	for i, r := range sorted {
		if int(r.depth) > len(t.levels) || r.depth >= symfmt.MaxInlineDepth {
			end = i
			break
		}
		if int(r.depth) == len(t.levels) {
			t.levels = append(t.levels, i)
		}
		t.cuts = append(t.cuts, r.off, r.end)
	}
	t.next = append(t.next[:0], t.levels...)
	t.levels = append(t.levels, end)
	slices.Sort(t.cuts)
	t.cuts = slices.Compact(t.cuts)
}

// cover finds the chain at [off, end), inside which nothing begins or ends.
func (t *treeMaker) cover(s *scratch, sorted []depthRange, off, end uint32) {
	outer := uint32(0) // made node
	for level := 0; level+1 < len(t.levels); level++ {
		k := t.next[level]
		for k < t.levels[level+1] && sorted[k].off <= off {
			k++
		}
		t.next[level] = k
		if k == t.levels[level] || off >= sorted[k-1].end {
			t.chain = t.chain[:level]
			return
		}
		next, ok := t.extend(level, outer, sorted[k-1].node, codeRange{off, end})
		if !ok {
			t.chain = t.chain[:level]
			return
		}
		outer = next
	}
}

// extend adds code to the made node of a level, or makes a node. A chain that
// continues from the code before keeps its nodes.
func (t *treeMaker) extend(level int, outer, from uint32, r codeRange) (made uint32, ok bool) {
	if level < len(t.chain) {
		if m := &t.made[t.chain[level]]; m.from == from && m.outer == outer+1 {
			if last := &m.ranges[len(m.ranges)-1]; last.end == r.off {
				last.end = r.end
			} else {
				m.ranges = append(m.ranges, r)
			}
			return t.chain[level], true
		}
	}
	i := t.child(outer, from)
	if i == 0 {
		if len(t.made) >= t.limit {
			return 0, false
		}
		i = uint32(len(t.made))
		t.made = append(t.made, madeNode{from: from, outer: outer + 1, depth: uint32(level)})
		o := &t.made[outer]
		if o.last == 0 {
			o.first = i + 1
		} else {
			t.made[o.last-1].next = i + 1
		}
		o.last = i + 1
	}
	t.chain = append(t.chain[:level], i)
	m := &t.made[i]
	if n := len(m.ranges); n > 0 && m.ranges[n-1].end == r.off {
		m.ranges[n-1].end = r.end
	} else {
		m.ranges = append(m.ranges, r)
	}
	return i, true
}

// recent is how many of a node's last children are searched for one to
// continue. If it is not among them, there will be two of the same name.
const recent = 16

// child finds the node made from from in outer; 0 if there is none.
func (t *treeMaker) child(outer, from uint32) uint32 {
	for i, n := len(t.made)-1, 0; i > 0 && n < recent; i, n = i-1, n+1 {
		if m := &t.made[i]; m.from == from && m.outer == outer+1 {
			return uint32(i)
		}
	}
	return 0
}

// flatten stores the made nodes in s, each before its children.
func (t *treeMaker) flatten(s *scratch) {
	old := append([]node(nil), s.nodes...)
	s.nodes, s.ranges = s.nodes[:0], s.ranges[:0]
	t.order = t.order[:0]
	if first := t.made[0].first; first > 0 {
		t.order = append(t.order, first-1)
	}
	for len(t.order) > 0 {
		i := t.order[len(t.order)-1]
		t.order = t.order[:len(t.order)-1]
		m := &t.made[i]
		n := old[m.from]
		n.depth, n.ranges = m.depth, span{uint32(len(s.ranges)), uint32(len(m.ranges))}
		s.ranges = append(s.ranges, m.ranges...)
		s.nodes = append(s.nodes, n)
		if m.next > 0 {
			t.order = append(t.order, m.next-1)
		}
		if m.first > 0 {
			t.order = append(t.order, m.first-1)
		}
	}
}
