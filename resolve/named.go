package resolve

import (
	"cmp"
	"slices"
	"sync"

	"github.com/symtool/symtool/symfmt"
)

// NamedSymbols is implemented by Symbols that can look up code by name.
type NamedSymbols interface {
	// Named returns the functions and PUBLICs with a name, in order of address: the name in a record of a symbol
	// file, or the mangled name of a symbol of a binary. It may be called concurrently; the first call reads all
	// names.
	Named(name string) []Code
}

// Code is where a function or a PUBLIC is.
type Code struct {
	Start symfmt.RVA
	Size  uint64 // in bytes; 0 if it is unknown
}

// byName holds the code of a module by name.
type byName struct {
	once sync.Once
	code map[string][]Code
}

func (n *byName) add(name string, c Code) {
	if name != "" {
		n.code[name] = append(n.code[name], c)
	}
}

// find returns the code with a name. The first call uses read to add all the code of the module.
func (n *byName) find(name string, read func()) []Code {
	n.once.Do(func() {
		n.code = make(map[string][]Code)
		read()
		for _, list := range n.code {
			slices.SortStableFunc(list, func(a, b Code) int { return cmp.Compare(a.Start, b.Start) })
		}
	})
	return n.code[name]
}

// Named implements NamedSymbols. Records that cannot be read have no names.
func (r *Resolver) Named(name string) []Code {
	return r.named.find(name, func() {
		for i := range r.x.funcs.len() {
			v := r.x.funcs.span(i)
			if text, err := r.source.funcName(v); err == nil {
				r.named.add(text, Code{v.rva, v.size})
			}
		}
		for i := range r.x.publics.len() {
			if p, err := r.public(i); err == nil {
				r.named.add(p.name, Code{Start: symfmt.RVA(r.x.publics.u64(i, 0))})
			}
		}
	})
}

// MappedSymbols is implemented by Symbols of binaries, which know where in memory the bytes of the
// file are.
type MappedSymbols interface {
	// AtOffset returns the address of the byte at an offset in the file, if it is loaded.
	AtOffset(offset uint64) (symfmt.RVA, bool)
	// CodeOffset returns where the first mapping of the file with code begins in it.
	CodeOffset() (offset uint64, ok bool)
}
