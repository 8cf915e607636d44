package show

import (
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
	"github.com/symtool/symtool/walk/eval"
)

// chain shows elements in nodes, each of which leads to the next. The last node leads nowhere, or back to the object
// itself.
func (s *showing) chain(r *rule, parts map[string]part, v eval.Value, id vars.TypeID, depth int) string {
	next := s.word(parts["data"])
	total, sized := s.word(parts["size"]), r.paths["size"] != nil
	nodes := func(yield func(uint64) bool) {
		for n := uint64(0); next != 0 && (!sized || n < total) && !(v.InMemory && next-v.Address < uint64(len(v.Bytes))); n++ {
			if !yield(next) {
				return
			}
			next = s.link(next)
		}
	}
	return s.nodes(r, nodes, total, r.skip, id, depth)
}

// A node of a red-black tree has a colour and three pointers before its element. These are offsets in words.
const (
	parentAt  = 1
	leftAt    = 2
	rightAt   = 3
	treeWords = 4
)

// tree shows the elements of a red-black tree in order.
func (s *showing) tree(r *rule, parts map[string]part, id vars.TypeID, depth int) string {
	total, end := s.word(parts["size"]), uint64(0)
	if first := parts["data"].value; first.InMemory {
		end = first.Address - leftAt*uint64(s.f.Arch.PtrSize) // the last node leads to the header, which has the pointer to the first
	}
	nodes := func(yield func(uint64) bool) {
		for n, at := uint64(0), s.word(parts["data"]); at != 0 && at != end && n < total; n++ {
			if !yield(at) {
				return
			}
			at = s.successor(at)
		}
	}
	return s.nodes(r, nodes, total, treeWords, id, depth)
}

// maxHeight limits the height of a tree: a red-black tree's height is at most twice the logarithm of its size.
const maxHeight = 128

// successor returns the next node of a tree, or 0 if there is none or the tree is damaged.
func (s *showing) successor(at uint64) uint64 {
	word := func(node, i uint64) uint64 { return s.link(node + i*uint64(s.f.Arch.PtrSize)) }
	if next := word(at, rightAt); next != 0 {
		for range maxHeight {
			down := word(next, leftAt)
			if down == 0 {
				return next
			}
			next = down
		}
		return 0
	}
	for range maxHeight {
		up := word(at, parentAt)
		if up == 0 || word(up, rightAt) != at {
			return up
		}
		at = up
	}
	return 0
}

// nodes shows the elements of nodes; an element follows skip words. total is the number of elements, or 0 if it is
// unknown.
func (s *showing) nodes(r *rule, nodes func(func(uint64) bool), total uint64, skip int, id vars.TypeID, depth int) string {
	elem := s.elementOf(r, id)
	size, ok := s.sizeOf(elem)
	title := ""
	if total > uint64(s.o.Length) {
		title = strconv.FormatUint(total, 10) + " elements "
	}
	if elem == 0 || !ok || size > eval.MaxValue || depth >= s.o.Depth || skip > 0 && s.isWide(elem, maxNested) {
		if r.paths["size"] == nil {
			return "{...}"
		}
		return "{" + count(total) + "}"
	}
	var texts []string
	defer func(lost bool) { s.lost = lost }(s.lost)
	s.lost = false
	for at := range nodes {
		if len(texts) == s.o.Length || s.left <= 0 {
			texts = append(texts, "...")
			break
		}
		v := s.f.Read(at+uint64(skip*s.f.Arch.PtrSize), int(size))
		texts = append(texts, s.element(r, v, elem, depth+1))
	}
	if n := uint64(len(texts)); n < total && n < uint64(s.o.Length) && s.left > 0 {
		texts = append(texts, s.incomplete(total))
	}
	return title + "{" + strings.Join(texts, ", ") + "}"
}

// link returns the word at an address that leads from one node to another, or 0 if the dump lacks it.
func (s *showing) link(addr uint64) uint64 {
	to, ok := s.f.Word(addr)
	if !ok {
		s.lost = true
		return 0
	}
	return to
}

// incomplete replaces elements to which no node leads.
func (s *showing) incomplete(total uint64) string {
	if s.lost {
		return "<unavailable: it has " + count(total) + ">"
	}
	return "<damaged: it has " + count(total) + ">"
}

// element shows an element: a key and its value as [key] = value, or in Rust's style.
func (s *showing) element(r *rule, v eval.Value, id vars.TypeID, depth int) string {
	first, rest := r.paths["first"], r.paths["rest"]
	if first == nil || s.isRedacted(s.in, "", id) || s.isRedacted(s.in, first[0], 0) || rest != nil && s.isRedacted(s.in, rest[0], 0) {
		return s.text(v, id, depth)
	}
	element := part{value: v, id: id}
	key, ok := s.follow(element, first)
	if !ok {
		return s.text(v, id, depth)
	}
	if rest == nil {
		return s.text(key.value, key.id, depth)
	}
	value, ok := s.follow(element, rest)
	if !ok {
		return s.text(v, id, depth)
	}
	keyed := s.text(key.value, key.id, depth+1)
	texts := [2]string{keyed, s.valueOf(keyed, value, depth+1)}
	if s.language(id) == langRust {
		return texts[0] + ": " + texts[1]
	}
	return "[" + texts[0] + "] = " + texts[1]
}

// maxNested limits how many nested structures are searched for the member that decides their alignment: a std::variant
// alone has eight levels.
const maxNested = 64

// isWide reports whether a type may need alignment to more than a word, so that it does not directly follow the words
// of a node.
func (s *showing) isWide(id vars.TypeID, depth int) bool {
	t, _ := s.in.Plain(id)
	switch {
	case t == nil || depth == 0 || !s.look(t):
		return true
	case t.Kind == vars.Base || t.Kind == vars.Vector:
		return t.Size > uint64(s.f.Arch.PtrSize)
	case t.Kind == vars.Array:
		return s.isWide(t.Elem, depth-1)
	}
	return slices.ContainsFunc(t.Members, func(m vars.Member) bool {
		if m.Base && s.isEmpty(m.Type) {
			return false
		}
		return s.isWide(m.Type, depth-1)
	})
}

// bits shows the bits of std::vector<bool>.
func (s *showing) bits(parts map[string]part) string {
	from, to, rest := s.word(parts["data"]), s.word(parts["end"]), s.word(parts["size"])
	if to < from || to-from > 1<<56 || rest > 64 {
		return damaged
	}
	n := (to-from)*8 + rest
	most := min(n, uint64(s.o.Length))
	v := s.f.Read(from, int((most+7)/8))
	if most > 0 && v.Status() != eval.HasValue {
		return missing(&v)
	}
	var texts []string
	for i := range most {
		texts = append(texts, strconv.FormatBool(v.Bytes[i/8]>>(i%8)&1 != 0))
	}
	if n > most {
		return strconv.FormatUint(n, 10) + " elements {" + strings.Join(append(texts, "..."), ", ") + "}"
	}
	return "{" + strings.Join(texts, ", ") + "}"
}
