package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/resolve/store"
)

// Module is what is known of a module whose symbols are wanted; unknown fields are empty. All of it
// may come from a dump that was forged.
type Module struct {
	Name      string // of its file; folders in front of it do not count, here and in DebugFile
	DebugFile string // the name of its debug information, "test_app.pdb"; on other systems mostly as Name
	DebugID   string // as in MODULE records
	CodeID    string // build-id, or time and size, in hexadecimal
	Path      string // of its file, in the process
	BuildID   []byte // ELF
}

// Supplier finds the symbols of modules. Its methods may be called concurrently.
type Supplier interface {
	// Symbols returns a module's symbols, or nil. tried lists the places where they were not found.
	// The error joins those of symbols that were found and could not be used, because they are
	// damaged or another module's, and of names that are refused. It may be non-nil even when r is.
	//
	// A module without an id gets the symbols of its name, if these are unambiguous.
	//
	// Symbols belong to the Supplier: the caller must not close them.
	Symbols(ctx context.Context, m Module) (r Symbols, tried []Tried, err error)
}

// Lister is a Supplier that can list the names of the modules whose symbols are at hand, in any
// order. A folder that cannot be read lists none; the error is returned when a module is looked for
// there.
type Lister interface {
	Names(ctx context.Context) []string
}

// Opener opens a symbol file for a Supplier; nil means Open. The error names the file.
type Opener func(path string) (Symbols, error)

func (o Opener) open(path string) (Symbols, error) {
	if o != nil {
		return o(path)
	}
	return Open(path)
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

// unknown reports whether nothing is known of the module.
func (m *Module) unknown() bool {
	return m.DebugID == "" && len(m.BuildID) == 0 && len(m.Names()) == 0
}

// called reports whether name is one of the module's. Windows ignores case.
func (m *Module) called(name string) bool {
	return slices.ContainsFunc(m.Names(), func(n string) bool { return strings.EqualFold(n, name) })
}

// Is reports whether id is the module's, or may be, since one of the two is not known.
func (m *Module) Is(id string) bool { return m.DebugID == "" || strings.EqualFold(m.DebugID, id) }

// String returns the module's name and id for messages.
func (m *Module) String() string {
	name := "module"
	if names := m.Names(); len(names) > 0 {
		name = names[0]
	}
	return strings.TrimSpace(name + " " + m.DebugID)
}

// Places returns where a store has the module's symbols; without an id, all folders of that name.
// The error is that of a name or an id that is refused.
func (m *Module) Places() (places []store.Place, err error) {
	var refused []error
	for _, name := range m.Names() {
		p, err := store.NewFolder(name)
		if err == nil && m.DebugID != "" {
			p, err = store.NewPlace(name, strings.ToUpper(m.DebugID))
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("module %w: not looked for", err))
			continue
		}
		places = append(places, p)
	}
	return places, errors.Join(refused...)
}

// search is one search of a Supplier.
type search struct {
	m     Module
	with  Opener
	tried []Tried
	errs  []error
}

// miss notes a place without the symbols.
func (s *search) miss(place, format string, args ...any) {
	s.note(Absent, place, format, args...)
}

func (s *search) note(kind TriedKind, place, format string, args ...any) {
	s.tried = append(s.tried, Tried{place, fmt.Sprintf(format, args...), kind})
}

// refuse notes a place whose symbols cannot be used. err names it.
func (s *search) refuse(err error) {
	s.tried = append(s.tried, Refused(err))
	s.errs = append(s.errs, err)
}

// several notes a place with symbols of several builds for a module without an id.
func (s *search) several(place string, builds []string) {
	s.note(SeveralIDs, place, "several builds, and no id that says which: %s", strings.Join(builds, ", "))
}

func (s *search) done(r Symbols) (Symbols, []Tried, error) {
	return r, s.tried, errors.Join(s.errs...)
}

// open opens the symbol file at path, if it exists and is the module's.
func (s *search) open(path string) Symbols {
	if err := regular(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			s.miss(path, "%v", bare(err))
		} else {
			s.refuse(fmt.Errorf("%s: %w", path, bare(err)))
		}
		return nil
	}
	r, err := OpenFor(path, s.m, s.with)
	if err != nil {
		s.refuse(err)
		return nil
	}
	return r
}

// OpenFor opens the symbol file at path for a module. The error is an *OtherIDError if the file has
// another id. open may be nil.
func OpenFor(path string, m Module, open Opener) (Symbols, error) {
	r, err := open.open(path)
	if err != nil {
		return nil, err
	}
	if id := r.Identity(); !m.Is(id.ID) {
		r.Close()
		return nil, otherID(path, id.Name, id.ID, m)
	}
	return r, nil
}

// otherID returns the error for a file with another id.
func otherID(path, name, id string, m Module) error {
	return fmt.Errorf("%s: %w", path, &OtherIDError{"it", name, id, m})
}

// regular refuses anything but a regular file: a named pipe would block.
func regular(path string) error {
	st, err := os.Stat(path)
	if err == nil && !st.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	return err
}

// bare drops the path of a file system error.
func bare(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
