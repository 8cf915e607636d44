package machobj

import (
	"bytes"

	"github.com/symtool/symtool/internal/object"
)

// exportsTrie is a decoded exports trie: the names that a binary exports, one after the other.
type exportsTrie struct {
	names []byte
	all   []export
	err   error // damage
}

type export struct {
	name, length uint32 // position of the name in names
	addr         uint64 // relative to the header
}

// Flags of an export.
const (
	exportKind     = 3
	exportRegular  = 0
	exportReexport = 8
)

// loadExports reads the exports trie, as far as it goes.
func (f *File) loadExports() (*exportsTrie, error) {
	t := &f.symbols
	if t.trie != nil {
		return t.trie, nil
	}
	if !f.in.Held.Take(int64(f.exports.size)) {
		return nil, f.errorf(int64(f.exports.off), "exports of %d bytes would exceed the limit of memory for a file of %d bytes", f.exports.size, f.in.Size)
	}
	t.held += int64(f.exports.size)
	data, err := f.readPart(f.exports)
	if err != nil {
		return nil, err
	}
	w := trieWalk{data: data, room: maxShared*len(data) + minNames, seen: make([]bool, len(data))}
	w.walk()
	if w.bad != "" {
		w.out.err = f.errorf(int64(f.exports.off)+int64(w.at), "exports trie: %s", w.bad)
	}
	t.trie = &w.out
	return t.trie, nil
}

// trieWalk walks an exports trie. A node consists of the length of its export, the export, and its
// children: for each, the text of the edge and the child's offset. Each node is visited once: that is
// enough for a trie, and a trie with loops or shared nodes is an error.
type trieWalk struct {
	data []byte
	seen []bool // visited nodes, by offset
	room int    // bytes that names may still take
	out  exportsTrie

	bad string // the first damage
	at  int    // its offset
}

// trieNode is a node to visit, with the name that the path to it spells.
type trieNode struct {
	at   int
	name []byte
}

func (w *trieWalk) fail(at int, what string) {
	if w.bad == "" {
		w.bad, w.at = what, at
	}
}

func (w *trieWalk) walk() {
	todo := []trieNode{{}}
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if n.at >= len(w.data) || w.seen[n.at] {
			w.fail(min(n.at, len(w.data)), "an edge leads beyond the end, or to a node that another one leads to")
			continue
		}
		w.seen[n.at] = true
		children := w.node(n)
		for i := len(children) - 1; i >= 0; i-- {
			todo = append(todo, children[i])
		}
		if w.room < 0 {
			w.fail(n.at, "names are too long; those from here on are left out")
			return
		}
	}
}

// node reads a node and returns its children.
func (w *trieWalk) node(n trieNode) (children []trieNode) {
	rest := w.data[n.at:]
	size, rest, ok := uleb(rest)
	if !ok || size >= uint64(len(rest)) {
		w.fail(n.at, "a node extends past the end")
		return nil
	}
	w.export(rest[:size], n)
	rest = rest[size:]
	count := rest[0]
	rest = rest[1:]
	for range count {
		end := bytes.IndexByte(rest, 0)
		if end < 0 {
			w.fail(n.at, "an edge has no end")
			return children
		}
		edge := rest[:end]
		var at uint64
		if at, rest, ok = uleb(rest[end+1:]); !ok {
			w.fail(n.at, "the offset of a node extends past the end")
			return children
		}
		name := append(n.name[:len(n.name):len(n.name)], edge...)
		if w.room -= len(name); w.room < 0 || len(name) > maxSymbolName {
			w.room = -1
			return children
		}
		children = append(children, trieNode{int(min(at, uint64(len(w.data)))), name})
	}
	return children
}

// export records the export of a node: flags, and an address.
func (w *trieWalk) export(info []byte, n trieNode) {
	flags, info, ok := uleb(info)
	if !ok || flags&exportKind != exportRegular || flags&exportReexport != 0 {
		return
	}
	addr, _, ok := uleb(info)
	if !ok {
		w.fail(n.at, "the address of an export extends past its node")
		return
	}
	w.out.all = append(w.out.all, export{uint32(len(w.out.names)), uint32(len(n.name)), addr})
	w.out.names = append(w.out.names, n.name...)
}

// uleb decodes an unsigned LEB128 number of up to 10 bytes.
func uleb(data []byte) (value uint64, rest []byte, ok bool) {
	for i, b := range data[:min(len(data), 10)] {
		value |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			return value, data[i+1:], true
		}
	}
	return 0, nil, false
}

// eachExport calls fn with each export.
func (f *File) eachExport(fn func(*object.Symbol)) error {
	f.symbols.mu.Lock()
	var trie *exportsTrie
	var err error
	if f.HasSymbols(object.Dynamic) {
		trie, err = f.loadExports()
	}
	f.symbols.mu.Unlock()
	if trie == nil {
		return err
	}
	var o object.Symbol
	for _, e := range trie.all {
		o = object.Symbol{Addr: f.base + e.addr, Name: trie.names[e.name:][:e.length:e.length], NameOff: e.name}
		if o.Section = f.sectionAt(o.Addr); o.Section != nil && o.Section.Exec {
			o.Kind = object.Function
		} else {
			o.Kind = object.Data
		}
		o.Name = unprefixed(o.Name, &o.NameOff)
		fn(&o)
	}
	return trie.err
}

// sectionAt returns the section that contains an address, or nil.
func (f *File) sectionAt(addr uint64) *object.Section {
	for _, s := range f.sections {
		if s.Alloc && addr-s.Addr < s.MemSize {
			return &s.Section
		}
	}
	return nil
}
