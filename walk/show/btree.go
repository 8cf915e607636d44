package show

import (
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// maxBTreeHeight and maxBTreeNodes limit what is read of a tree whose nodes have 6 to 12 children.
const (
	maxBTreeHeight = 24
	maxBTreeNodes  = 4096
)

// bTree collects the elements of a tree of alloc::collections::btree (node.rs there) in order.
type bTree struct {
	*showing
	rule        *rule
	leaf, inner vars.TypeID // types of nodes
	depth       int
	nodes       int
	texts       []string
	full        bool // no more elements are shown
}

// btree shows a BTreeMap or a BTreeSet.
func (s *showing) btree(r *rule, parts map[string]part, depth int) string {
	total, height := s.word(parts["size"]), s.word(parts["most"])
	leaf := parts["data"].plain.Elem
	t, _ := s.in.Plain(leaf)
	m := bTree{showing: s, rule: r, leaf: leaf, inner: s.typeNamed(strings.Replace(t.Name, "::LeafNode<", "::InternalNode<", 1)), depth: depth + 1}
	switch {
	case total == 0:
		return "{}"
	case depth >= s.o.Depth || height > maxBTreeHeight || height > 0 && (m.inner == 0 || m.inner == leaf):
		return "{" + count(total) + "}"
	}
	title := ""
	if total > uint64(s.o.Length) {
		title = count(total) + " "
	}
	defer func(lost bool) { s.lost = lost }(s.lost)
	s.lost = false
	ok := m.node(s.word(parts["data"]), int(height))
	if n := uint64(len(m.texts)); !m.full && (!ok || n != total) {
		m.texts = append(m.texts, s.incomplete(total))
	}
	return title + "{" + strings.Join(m.texts, ", ") + "}"
}

// node adds the elements of a node and those below it, and reports whether all are known.
func (m *bTree) node(addr uint64, height int) bool {
	if m.nodes++; m.nodes > maxBTreeNodes {
		return false
	}
	id, path := m.leaf, []string(nil)
	if height > 0 {
		id, path = m.inner, []string{"data"}
	}
	size, ok := m.sizeOf(id)
	if !ok || size == 0 || size > 1<<16 {
		return false
	}
	whole := part{value: m.f.Read(addr, int(size)), id: id}
	m.lost = m.lost || whole.value.Status() == eval.NotInDump
	node, ok := m.follow(whole, path)
	used, found := m.follow(node, []string{"len"})
	if !ok || !found || !used.value.Whole() {
		return false
	}
	for i := 0; i <= int(m.word(used)) && !m.full; i++ {
		if height > 0 {
			edge, ok := m.follow(whole, []string{"edges"})
			if !ok || !m.child(edge, i, height) {
				return false
			}
		}
		if i < int(m.word(used)) && !m.full && !m.element(node, i) {
			return false
		}
	}
	return true
}

// child adds the elements below a node.
func (m *bTree) child(edges part, i, height int) bool {
	word := m.f.Arch.PtrSize
	if edges.plain == nil || (i+1)*word > len(edges.value.Bytes) {
		return false
	}
	edge := edges.value.Part(i*word, word)
	to, _ := m.number(edge.Bytes, &vars.Type{})
	return edge.Whole() && m.node(to, height-1)
}

// element adds an element of a node.
func (m *bTree) element(node part, i int) bool {
	if len(m.texts) == m.o.Length || m.left <= 0 {
		m.texts, m.full = append(m.texts, "..."), true
		return true
	}
	text := ""
	for n, name := range []string{"first", "rest"} {
		path := m.rule.paths[name]
		if path == nil {
			continue
		}
		p, ok := m.slot(node, path, i)
		if !ok {
			return false
		}
		if n == 0 {
			text = m.text(p.value, p.id, m.depth)
		} else {
			text += ": " + m.valueOf(text, p, m.depth+1)
		}
	}
	m.texts = append(m.texts, text)
	return true
}

// slot returns a value in an array of a node. The value is wrapped because it may be uninitialized.
func (m *bTree) slot(node part, path []string, i int) (part, bool) {
	slots, ok := m.follow(node, path)
	if !ok || slots.plain == nil || slots.plain.Kind != vars.Array {
		return part{}, false
	}
	size, ok := m.sizeOf(slots.plain.Elem)
	if !ok || (i+1)*int(size) > len(slots.value.Bytes) {
		return part{}, false
	}
	p := part{value: slots.value.Part(i*int(size), int(size)), id: slots.plain.Elem}
	return m.follow(p, []string{"value", "value"})
}
