package resolve

import (
	"context"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// Module is what is known about a module whose symbols are wanted. Unknown fields are empty. All
// of it may come from a forged dump.
type Module struct {
	Name      string // of its file; leading folders are ignored, here and in DebugFile
	DebugFile string // the name of its debug information, "test_app.pdb"; on other systems usually the same as Name
	DebugID   string // as in MODULE records
	CodeID    string // build-id, or time and size, in hexadecimal
	Path      string // of its file, as the process saw it
	BuildID   []byte // ELF
}

// Supplier finds the symbols of modules. Its methods may be called concurrently.
type Supplier interface {
	// Symbols returns a module's symbols, or nil. tried lists the places where they were not found.
	// The error joins the errors of symbols that were found but could not be used, because they are
	// damaged or another module's, and of invalid names. It may be non-nil even if r is non-nil.
	//
	// A module without an id gets the symbols stored under its name, if they are unambiguous.
	//
	// Each call makes the caller a user of r, who must close it once: see Symbols.Share.
	Symbols(ctx context.Context, m Module) (r Symbols, tried []symfmt.Tried, err error)
}

// Lister is a Supplier that can list the names of the modules whose symbols are at hand, in any
// order. A folder that cannot be read has none; looking for a module there returns the error.
type Lister interface {
	Names(ctx context.Context) []string
}

// Names returns the names under which the module's symbols may be stored, without folders.
func (m *Module) Names() (names []string) {
	for _, name := range []string{m.DebugFile, m.Name, m.Path} {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Is reports whether id is the module's, or may be because the module's id is unknown. Symbols without an id are not
// those of a module with one: they may be another build's.
func (m *Module) Is(id string) bool { return m.DebugID == "" || strings.EqualFold(m.DebugID, id) }

// String returns the module's name and id for messages.
func (m *Module) String() string {
	name := "module"
	if names := m.Names(); len(names) > 0 {
		name = names[0]
	}
	return strings.TrimSpace(name + " " + m.DebugID)
}
