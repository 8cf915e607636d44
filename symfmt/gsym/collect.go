package gsym

import (
	"cmp"
	"slices"
	"sort"

	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// scratch holds the records of one FUNC in the form in which they are written.
// Its slices are reused.
type scratch struct {
	start symfmt.RVA
	size  uint32

	lines  []line
	rows   []row
	nodes  []node
	ranges []codeRange // of the nodes
	counts counts      // of all FUNCs collected so far

	sorted    []depthRange
	starts    []uint32
	ends      []uint32 // see isTree
	flattener flatten.Flattener
	tree      flatten.Tree
	deltas    deltaCounts
}

// line is a line record; offsets are from the FUNC's start.
type line struct {
	off, end uint32
	num      uint32
	file     symfmt.FileID
}

// row is a row of a line table: the line in force from off on. A row without a
// line only ends the previous row.
type row struct {
	off  uint32
	num  uint32
	file symfmt.FileID
	none bool
}

// node is an inlined function. Nodes are in tree order: each follows its parent,
// and depth is its level.
type node struct {
	depth    uint32
	callLine uint32
	callFile symfmt.FileID
	noFile   bool
	origin   symfmt.OriginID
	ranges   span
}

// codeRange is [off, end) from the FUNC's start; never empty.
type codeRange struct{ off, end uint32 }

// collect collects the records of f.
func (s *scratch) collect(f *symfmt.Func) {
	s.start, s.size = f.RVA, uint32(endOf(f)-f.RVA)
	s.collectLines(f)
	s.collectInlines(f)
	if len(s.rows) == 0 && len(s.nodes) > 0 {
		s.rows = append(s.rows, row{none: true}) // without a row, readers ignore the inlined functions
	}
}

// collectLines makes rows. Where lines overlap, the one that starts last wins, up
// to its end.
func (s *scratch) collectLines(f *symfmt.Func) {
	s.lines, s.rows = s.lines[:0], s.rows[:0]
	ascending := true
	last := uint32(0)
	for r := f.LineReader(); r.Next(); {
		off, end, ok := s.clip(r.Line.RVA, r.Line.Size, &s.counts.emptyLines, &s.counts.outsideLines, &s.counts.cutLines)
		if !ok {
			continue
		}
		ascending = ascending && off >= last
		last = off
		s.lines = append(s.lines, line{off, end, r.Line.Num, r.Line.File})
	}
	if !ascending {
		slices.SortStableFunc(s.lines, func(a, b line) int { return cmp.Compare(a.off, b.off) })
	}
	end := uint32(0) // of the previous row
	for i, l := range s.lines {
		if i+1 < len(s.lines) {
			if next := s.lines[i+1].off; next == l.off {
				s.counts.overlapLines++
				continue
			} else if next < l.end {
				s.counts.cutLines++
				l.end = next
			}
		}
		if l.off > end {
			s.rows = append(s.rows, row{off: end, none: true})
		}
		s.rows = append(s.rows, row{off: l.off, num: l.num, file: l.file})
		end = l.end
	}
	if len(s.rows) > 0 && end < s.size {
		s.rows = append(s.rows, row{off: end, none: true})
	}
}

// clip clips a piece of code to the FUNC.
func (s *scratch) clip(rva symfmt.RVA, size uint64, empty, outside, cut *int) (off, end uint32, ok bool) {
	d := uint64(rva - s.start)
	switch {
	case size == 0:
		*empty++
		return 0, 0, false
	case rva < s.start || d >= uint64(s.size):
		*outside++
		return 0, 0, false
	case size > uint64(s.size)-d:
		*cut++
		size = uint64(s.size) - d
	}
	return uint32(d), uint32(d + size), true
}

// collectInlines makes nodes.
func (s *scratch) collectInlines(f *symfmt.Func) {
	s.nodes, s.ranges = s.nodes[:0], s.ranges[:0]
	for r := f.InlineReader(); r.Next(); {
		in := &r.Inline
		first := uint32(len(s.ranges))
		for _, rng := range in.Ranges {
			off, end, ok := s.clip(rng.RVA, rng.Size, &s.counts.emptyRanges, &s.counts.outsideRanges, &s.counts.cutRanges)
			if ok {
				s.ranges = append(s.ranges, codeRange{off, end})
			}
		}
		ranges := s.ranges[first:]
		if len(ranges) == 0 {
			continue
		}
		if in.NoFile {
			s.counts.noFile++
		}
		sortRanges(ranges)
		s.nodes = append(s.nodes, node{
			depth: in.Depth, callLine: in.CallLine, callFile: in.CallFile, noFile: in.NoFile,
			origin: in.Origin, ranges: span{first, uint32(len(ranges))},
		})
	}
	if len(s.nodes) > 0 && !s.isTree() {
		s.counts.treeless++
		s.makeTree()
	}
}

// makeTree replaces nodes that do not form a tree by a tree of those that package
// resolve would find for each address.
func (s *scratch) makeTree() {
	s.flattener.Reset(s.start)
	for i := range s.nodes {
		n := &s.nodes[i]
		in := symfmt.Inline{Depth: n.depth}
		for _, r := range s.rangesOf(n) {
			in.Ranges = append(in.Ranges, symfmt.Range{RVA: s.start + symfmt.RVA(r.off), Size: uint64(r.end - r.off)})
		}
		s.flattener.AddInline(&in)
	}
	s.flattener.Tree(&s.tree)
	old := slices.Clone(s.nodes)
	s.nodes, s.ranges = s.nodes[:0], s.ranges[:0]
	for i := range s.tree.Nodes {
		made := &s.tree.Nodes[i]
		n := old[made.Inline]
		n.depth, n.ranges = made.Depth, span{uint32(len(s.ranges)), uint32(len(made.Ranges))}
		for _, r := range made.Ranges {
			s.ranges = append(s.ranges, codeRange{r.Off, r.End})
		}
		s.nodes = append(s.nodes, n)
	}
}

func (s *scratch) rangesOf(n *node) []codeRange {
	return s.ranges[n.ranges.first : n.ranges.first+n.ranges.count]
}

// isTree reports whether each node lies inside the last node before it that is one
// level less deep, and no two nodes of a level overlap.
func (s *scratch) isTree() bool {
	ascending := true
	s.starts = s.starts[:0] // the open node of each depth
	ends := s.ends[:0]      // end of the last range of each depth
	for i := range s.nodes {
		n := &s.nodes[i]
		if int(n.depth) > len(s.starts) {
			return false
		}
		s.starts = append(s.starts[:n.depth], uint32(i))
		if n.depth > 0 && !s.inside(n, &s.nodes[s.starts[n.depth-1]]) {
			return false
		}
		if int(n.depth) == len(ends) {
			ends = append(ends, 0)
		}
		for _, r := range s.rangesOf(n) {
			ascending = ascending && r.off >= ends[n.depth]
			ends[n.depth] = r.end
		}
	}
	s.ends = ends
	return ascending || s.disjoint()
}

// inside reports whether each range of n lies in the ranges of outer; both are in
// order. If ranges of outer overlap, the result is meaningless, but then isTree
// reports that there is no tree.
func (s *scratch) inside(n, outer *node) bool {
	around := s.rangesOf(outer)
	k, end := 0, uint32(0)
	for _, r := range s.rangesOf(n) {
		if r.off < end {
			return false // else each look at around would start from scratch
		}
		end = r.end
		// A binary search, since each of many nodes may lie in one of many ranges.
		k += sort.Search(len(around)-k, func(i int) bool { return around[k+i].end > r.off })
		for j := k; ; j++ {
			if j == len(around) || r.off < around[j].off {
				return false
			}
			if r.end <= around[j].end {
				break
			}
			if j+1 < len(around) && around[j+1].off == around[j].end {
				r.off = around[j+1].off // adjacent ranges
				continue
			}
			return false
		}
	}
	return true
}

// depthRange is a range of a node.
type depthRange struct {
	depth    uint32
	off, end uint32
	node     uint32
}

func compareDepthRanges(a, b depthRange) int {
	return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.off, b.off))
}

// sortRanges sorts all ranges by depth and offset; those at the same offset
// stay in the order of the records.
func (s *scratch) sortRanges() []depthRange {
	s.sorted = s.sorted[:0]
	for i := range s.nodes {
		for _, r := range s.rangesOf(&s.nodes[i]) {
			s.sorted = append(s.sorted, depthRange{s.nodes[i].depth, r.off, r.end, uint32(i)})
		}
	}
	slices.SortStableFunc(s.sorted, compareDepthRanges)
	return s.sorted
}

// disjoint reports whether no two ranges of a level overlap.
func (s *scratch) disjoint() bool {
	sorted := s.sortRanges()
	for i := 1; i < len(sorted); i++ {
		if a, b := sorted[i-1], sorted[i]; a.depth == b.depth && b.off < a.end {
			return false
		}
	}
	return true
}
