package symcache

import (
	"github.com/symtool/symtool/internal/flatten"
	"github.com/symtool/symtool/symfmt"
)

// openFunc is a FUNC to which ranges are still added.
type openFunc struct {
	function uint32 // index in the symcache
	index    int    // in the module
	start    symfmt.RVA
	end      symfmt.RVA

	lines   []symfmt.Line
	nodes   []node
	known   map[inlineKey]int32
	current []int32 // nodes of the previous range, by depth
}

// node is an INLINE in the tree of its FUNC.
type node struct {
	inline            symfmt.Inline
	key               inlineKey
	child, last, next int32 // first and last child, and next sibling; flatten.NoCall if none
}

// inlineKey identifies an INLINE: those of one FUNC with equal calls are joined.
type inlineKey struct {
	parent         int32
	callee         uint32
	callFile, line uint32
}

func (f *openFunc) reset(function uint32, start symfmt.RVA, index int) {
	f.function, f.start, f.index = function, start, index
	f.lines, f.nodes, f.current = f.lines[:0], f.nodes[:0], f.current[:0]
	if len(f.known) > maxKnown {
		f.known = nil
	}
	clear(f.known)
}

// addLine adds a line record or extends the last one.
func (f *openFunc) addLine(code symfmt.Range, line uint32, file symfmt.FileID) {
	if n := len(f.lines); n > 0 {
		l := &f.lines[n-1]
		if l.RVA+symfmt.RVA(l.Size) == code.RVA && l.Num == line && l.File == file {
			l.Size += code.Size
			return
		}
	}
	f.lines = append(f.lines, symfmt.Line{RVA: code.RVA, Size: code.Size, Num: line, File: file})
}

// inline returns the node of an INLINE at a depth.
func (f *openFunc) inline(depth int, key inlineKey) (n int32, isNew bool) {
	if depth < len(f.current) && f.nodes[f.current[depth]].key == key {
		return f.current[depth], false
	}
	n, ok := f.known[key]
	if !ok {
		n = f.newNode(key)
	}
	f.current = append(f.current[:depth], n)
	return n, !ok
}

func (f *openFunc) newNode(key inlineKey) int32 {
	n := int32(len(f.nodes))
	if len(f.nodes) < cap(f.nodes) { // from an earlier FUNC, to reuse its memory for ranges
		f.nodes = f.nodes[:n+1]
	} else {
		f.nodes = append(f.nodes, node{})
	}
	ranges := f.nodes[n].inline.Ranges[:0]
	f.nodes[n] = node{key: key, child: flatten.NoCall, last: flatten.NoCall, next: flatten.NoCall}
	f.nodes[n].inline.Ranges = ranges
	if f.known == nil {
		f.known = make(map[inlineKey]int32)
	}
	f.known[key] = n
	if key.parent == flatten.NoCall {
		return n
	}
	p := &f.nodes[key.parent]
	if p.last == flatten.NoCall {
		p.child = n
	} else {
		f.nodes[p.last].next = n
	}
	p.last = n
	return n
}

// extend adds a range, and reports whether it is new or extends the last one.
func (n *node) extend(code symfmt.Range) bool {
	ranges := n.inline.Ranges
	if k := len(ranges); k > 0 && ranges[k-1].RVA+symfmt.RVA(ranges[k-1].Size) == code.RVA {
		ranges[k-1].Size += code.Size
		return false
	}
	n.inline.Ranges = append(ranges, code)
	return true
}

// body packs the records, each INLINE before its children.
func (f *openFunc) body(b *symfmt.BodyBuilder, a *symfmt.Arena) symfmt.Body {
	b.Reset(f.start)
	for n := range f.nodes {
		if f.nodes[n].key.parent == flatten.NoCall {
			f.addTree(b, int32(n))
		}
	}
	for _, l := range f.lines {
		b.AddLine(l)
	}
	return b.Finish(a)
}

// addTree adds a node and its descendants, at most symfmt.MaxInlineDepth levels.
func (f *openFunc) addTree(b *symfmt.BodyBuilder, n int32) {
	b.AddInline(&f.nodes[n].inline)
	for child := f.nodes[n].child; child != flatten.NoCall; child = f.nodes[child].next {
		f.addTree(b, child)
	}
}
