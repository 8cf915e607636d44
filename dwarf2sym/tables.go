package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// EachSymbol calls found with the defined symbols of the tables from which the PUBLICs are chosen, in the order of
// the tables: a .symtab, or .dynsym and what .gnu_debugdata adds to it. If own is set, it uses the tables in the
// binary itself, not those in its debug file.
func (l *Lookup) EachSymbol(own bool, found func(*symfmt.TableSymbol)) { l.entries.Each(own, found) }

// Tables are the symbol tables of a binary.
type Tables struct{ entries *publics.Entries }

// OpenTables returns the symbol tables of an open file, which must stay open until they are no longer used.
func OpenTables(binary symfmt.Binary) (*Tables, error) {
	f, err := object.Of(binary)
	if err != nil {
		return nil, err
	}
	entries, _, err := publics.OpenEntries(f, nil)
	return &Tables{entries}, err
}

// EachSymbol is like Lookup.EachSymbol.
func (t *Tables) EachSymbol(own bool, found func(*symfmt.TableSymbol)) { t.entries.Each(own, found) }
