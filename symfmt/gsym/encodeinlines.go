package gsym

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// covers reports whether an inlined function has code from an offset on.
func (s *scratch) covers(from uint32) bool {
	for i := range s.nodes {
		if s.endOf(&s.nodes[i]) > from {
			return true
		}
	}
	return false
}

// endOf returns the end of a node's last range.
func (s *scratch) endOf(n *node) uint32 { return s.ranges[n.ranges.first+n.ranges.count-1].end }

// inlineTree appends the tree for code from an offset on. Its root is the
// function itself.
func (e *encoder) inlineTree(name uint64, from uint32) {
	s := &e.s
	e.uleb(1)
	e.uleb(0)
	e.uleb(uint64(s.size - from))
	e.buf = append(e.buf, 1)
	e.str(name)
	e.uleb(0)
	e.uleb(0)
	bases := append(s.starts[:0], from) // base of the ranges at each depth
	e.outer = e.outer[:0]
	level := uint32(0) // of the open list
	for i := range s.nodes {
		n := &s.nodes[i]
		if s.endOf(n) <= from {
			continue // and skip the nodes in it as well
		}
		for ; level > n.depth; level-- {
			e.uleb(0)
		}
		children := s.hasChildren(i, from)
		first := e.nodeRanges(n, bases[n.depth], from)
		e.outer = append(e.outer[:n.depth], n.origin)
		e.nodeCall(n, children)
		if children {
			bases = append(bases[:n.depth+1], first)
			level = n.depth + 1
		}
	}
	for range level + 1 {
		e.uleb(0)
	}
	s.starts = bases
}

// hasChildren reports whether a child of node i has code from an offset on.
func (s *scratch) hasChildren(i int, from uint32) bool {
	depth := s.nodes[i].depth
	for i++; i < len(s.nodes) && s.nodes[i].depth > depth; i++ {
		if s.endOf(&s.nodes[i]) > from {
			return true
		}
	}
	return false
}

// nodeRanges appends the ranges of a node, relative to base, and returns where
// the first begins.
func (e *encoder) nodeRanges(n *node, base, from uint32) (first uint32) {
	ranges := e.s.rangesOf(n)
	for ranges[0].end <= from {
		ranges = ranges[1:]
	}
	first = max(ranges[0].off, from)
	e.uleb(uint64(len(ranges)))
	for _, r := range ranges {
		r.off = max(r.off, from)
		e.uleb(uint64(r.off - base))
		e.uleb(uint64(r.end - r.off))
	}
	return first
}

// nodeCall appends a node's name and call.
func (e *encoder) nodeCall(n *node, children bool) {
	flag := byte(0)
	if children {
		flag = 1
	}
	e.buf = append(e.buf, flag)
	e.str(e.w.originName(n.origin))
	e.uleb(uint64(e.callFile(n)))
	e.uleb(uint64(n.callLine))
}

// callFile returns the file of a call. If it is unknown, as in the old form of
// INLINE, it is the file of the calling function: that of the INLINE_ORIGIN or of
// the FUNC's own lines.
func (e *encoder) callFile(n *node) uint32 {
	if !n.noFile {
		return e.w.file(n.callFile)
	}
	if n.depth == 0 {
		if e.have {
			return e.w.file(e.own)
		}
		return e.w.noFile
	}
	return e.w.originFile(e.outer[n.depth-1])
}

// findOwnFile finds the file of the first line that is not in an inlined function.
func (e *encoder) findOwnFile() {
	s := &e.s
	e.have = false
	if len(s.nodes) == 0 || s.counts.noFile == 0 {
		return
	}
	var outermost []codeRange
	for i := range s.nodes {
		if s.nodes[i].depth == 0 {
			outermost = append(outermost, s.rangesOf(&s.nodes[i])...)
		}
	}
	sortRanges(outermost)
	next := 0
	for _, l := range s.lines {
		for next < len(outermost) && outermost[next].off <= l.off {
			next++
		}
		if next == 0 || l.off >= outermost[next-1].end {
			e.own, e.have = l.file, true
			return
		}
	}
}

func sortRanges(r []codeRange) {
	slices.SortFunc(r, func(a, b codeRange) int { return cmp.Compare(a.off, b.off) })
}

func sortCode(r []symfmt.Range) {
	slices.SortFunc(r, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
}
