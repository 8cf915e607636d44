package dwarf2sym

import (
	"bytes"

	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/object"
)

// Calls refer to functions that are called by name: debug information has the declaration. What the name leads to, the
// symbols say if the function is in the module, or else the dynamic relocations: the loader stores its address in a word.

// imports returns the words with the addresses of functions of other files.
func (r *reader) imports(seeds *varjoin.Seeds) map[varjoin.Target]uint64 {
	if len(r.companions) == 0 { // tests have debug information alone
		return nil
	}
	c := r.companions[0]
	in, ok := c.Container.(object.Importer)
	if !ok {
		return nil
	}
	all := map[varjoin.Target]uint64{}
	// Damage is reported where functions are read from the same symbols, and other relocations count.
	_ = in.Imports(func(word uint64, name []byte) {
		if t := seeds.Named(name); all[t] == 0 || word < all[t] {
			all[t] = word
		}
	})
	c.ReleaseSymbols()
	return all
}

// addSymbols adds the functions that symbols name.
func (r *reader) addSymbols(to *varjoin.Records) {
	if len(r.companions) == 0 {
		return
	}
	c := r.described()
	table := object.Symtab
	if !c.HasSymbols(table) {
		table = object.Dynamic
	}
	// Damage is reported where functions are read from the same symbols.
	_ = c.Symbols(table, func(s *object.Symbol) {
		if s.Undefined || s.Absolute || s.Kind != object.Function {
			return
		}
		if name, ok := unversioned(s.Name); ok {
			to.AddSymbol(name, s.Addr&^c.ISABit)
		}
	})
	c.ReleaseSymbols()
}

// unversioned returns the name by which others call a symbol; false if it is that of an older version.
func unversioned(name []byte) ([]byte, bool) {
	name, version, found := bytes.Cut(name, []byte("@"))
	return name, len(name) > 0 && (!found || bytes.HasPrefix(version, []byte("@")))
}
