package symelf

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// inlineTree holds the inlined functions of a FUNC as DWARF nests them. It gives
// the same answers as the records (package resolve): where INLINEs of the same
// depth overlap, the one that starts last counts, up to its end, and an INLINE
// counts only inside one of the depth before.
type inlineTree struct {
	start symfmt.RVA
	size  uint64

	records []record
	rows    []inlineRow
	nodes   []node
	outer   []piece // of the depth before
	level   []piece
}

// record is an INLINE.
type record struct {
	callLine uint32
	callFile symfmt.FileID
	origin   symfmt.OriginID
	noFile   bool
	size     uint64 // of its ranges
	kept     uint64 // bytes that are in nodes
	node     int32  // last node made of it, or -1
}

// inlineRow is a range of an INLINE, from the FUNC's start.
type inlineRow struct {
	start, end uint64
	depth      uint32
	record     int32
}

// node is an inlined subroutine: the part of a record inside one parent.
type node struct {
	record      int32
	parent      int32 // -1 if none
	first, last int32 // indices of the first and last child, or -1
	next        int32 // next child of the same parent, or -1
	pieces      []region
}

// piece is code of a node.
type piece struct {
	start, end uint64
	node       int32
}

// build makes the tree of a FUNC, and reports whether it has any nodes.
func (t *inlineTree) build(f *symfmt.Func) bool {
	t.start, t.size = f.RVA, f.Size
	t.records, t.rows, t.nodes = t.records[:0], t.rows[:0], t.nodes[:0]
	for r := f.InlineReader(); r.Next(); {
		t.record(&r.Inline)
	}
	if len(t.rows) == 0 {
		return false
	}
	order := func(a, b inlineRow) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.start, b.start))
	}
	if !slices.IsSortedFunc(t.rows, order) {
		slices.SortStableFunc(t.rows, order)
	}
	t.outer = append(t.outer[:0], piece{0, f.Size, -1})
	rows := t.rows
	for depth := uint32(0); len(rows) > 0 && rows[0].depth == depth; depth++ {
		n := 1
		for n < len(rows) && rows[n].depth == depth {
			n++
		}
		t.depth(rows[:n])
		rows = rows[n:]
	}
	return len(t.nodes) > 0
}

// record adds an INLINE, clipped to the FUNC. It drops an INLINE at
// symfmt.MaxInlineDepth or deeper, as writing a tree takes stack space for each
// level.
func (t *inlineTree) record(in *symfmt.Inline) {
	n := int32(len(t.records))
	rec := record{callLine: in.CallLine, callFile: in.CallFile, origin: in.Origin, noFile: in.NoFile, node: -1}
	for _, r := range in.Ranges {
		rec.size += r.Size
		off := uint64(r.RVA - t.start)
		if r.RVA < t.start || off >= t.size || r.Size == 0 || in.Depth >= symfmt.MaxInlineDepth {
			continue
		}
		t.rows = append(t.rows, inlineRow{off, off + min(r.Size, t.size-off), in.Depth, n})
	}
	t.records = append(t.records, rec)
}

// depth makes the nodes of the same depth from its rows, which are sorted by start.
func (t *inlineTree) depth(rows []inlineRow) {
	t.level = t.level[:0]
	k := 0
	for i, r := range rows {
		end := r.end
		if i+1 < len(rows) {
			end = min(end, rows[i+1].start)
		}
		for k < len(t.outer) && t.outer[k].end <= r.start {
			k++
		}
		for j := k; j < len(t.outer) && t.outer[j].start < end; j++ {
			o := t.outer[j]
			t.add(r.record, o.node, max(r.start, o.start), min(end, o.end))
		}
	}
	t.outer, t.level = t.level, t.outer
}

// add adds [start, end) of a record to its node in parent.
func (t *inlineTree) add(rec, parent int32, start, end uint64) {
	r := &t.records[rec]
	if r.node < 0 || t.nodes[r.node].parent != parent {
		r.node = t.node(rec, parent)
	}
	n := &t.nodes[r.node]
	r.kept += end - start
	t.level = append(t.level, piece{start, end, r.node})
	if k := len(n.pieces); k > 0 && n.pieces[k-1].end == start {
		n.pieces[k-1].end = end
		return
	}
	n.pieces = append(n.pieces, region{start, end})
}

// node appends a child to parent.
func (t *inlineTree) node(rec, parent int32) int32 {
	i := int32(len(t.nodes))
	n := node{record: rec, parent: parent, first: -1, last: -1, next: -1}
	if cap(t.nodes) > len(t.nodes) {
		n.pieces = t.nodes[:i+1][i].pieces[:0]
	}
	t.nodes = append(t.nodes, n)
	if parent < 0 {
		return i
	}
	p := &t.nodes[parent]
	if p.last < 0 {
		p.first = i
	} else {
		t.nodes[p.last].next = i
	}
	p.last = i
	return i
}

// lost returns the number of records whose code is not all in nodes.
func (t *inlineTree) lost() (n int) {
	for i := range t.records {
		if t.records[i].kept != t.records[i].size {
			n++
		}
	}
	return n
}
