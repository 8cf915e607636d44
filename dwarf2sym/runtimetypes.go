package dwarf2sym

import (
	"bytes"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// A Go interface value refers to the descriptor of its dynamic type if the interface has no methods, and otherwise to
// a table of methods, which the linker names "go:itab." with the type, a comma and the interface (before Go 1.20,
// "go.itab."). DWARF has the offsets of the descriptors from the symbol runtime.types.

// placeRuntimeTypes turns the offsets in in.RuntimeTypes into RVAs, and adds the tables of methods. Without symbols
// it removes them all.
func (r *reader) placeRuntimeTypes(in *vars.Info) {
	if len(in.RuntimeTypes) == 0 {
		return
	}
	byName := map[string]vars.TypeID{}
	for _, t := range in.RuntimeTypes {
		name := in.Types[t.Type].Name
		if other, ok := byName[name]; ok && other != t.Type {
			byName[name] = 0 // ambiguous
		} else {
			byName[name] = t.Type
		}
	}
	for _, c := range r.files {
		if c.File == nil {
			continue
		}
		base, found := uint64(0), false
		var tables []vars.RuntimeType
		err := c.Symbols(object.Symtab, func(s *object.Symbol) {
			if s.Undefined {
				return
			}
			if string(s.Name) == "runtime.types" {
				base, found = s.Addr-r.file.Base, true
			} else if id := typeOfTable(s.Name, byName); id != 0 {
				tables = append(tables, vars.RuntimeType{RVA: symfmt.RVA(s.Addr - r.file.Base), Type: id})
			}
		})
		c.ReleaseSymbols()
		if err != nil || !found { // damage is reported where functions are read from the same symbols
			continue
		}
		for i := range in.RuntimeTypes {
			in.RuntimeTypes[i].RVA += symfmt.RVA(base)
		}
		in.RuntimeTypes = append(in.RuntimeTypes, tables...)
		in.SortRuntimeTypes()
		return
	}
	in.RuntimeTypes = nil
}

// maxTableName limits the length of names of method tables, as both names in them may contain commas.
const maxTableName = 4096

// typeOfTable returns the type whose method table the symbol names, or 0.
func typeOfTable(symbol []byte, byName map[string]vars.TypeID) vars.TypeID {
	if len(symbol) > maxTableName || !bytes.HasPrefix(symbol, []byte("go:itab.")) && !bytes.HasPrefix(symbol, []byte("go.itab.")) {
		return 0
	}
	name := symbol[len("go:itab."):]
	for i, c := range name {
		if c == ',' {
			if id := byName[string(name[:i])]; id != 0 {
				return id
			}
		}
	}
	return 0
}
