package resolve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/store"
)

// Module is what is known of a module whose symbols are wanted; what is not is
// empty. All of it may come from a dump that somebody made up.
type Module struct {
	Name      string // of its file; folders in front of it do not count, here and in DebugFile
	DebugFile string // the name of its debug information, "test_app.pdb"; on other systems mostly as Name
	DebugID   string // as in MODULE records
	CodeID    string // build-id, or time and size, in hexadecimal
	Path      string // of its file, in the process
	BuildID   []byte // ELF
}

// Supplier finds the symbols of modules. Its methods may be called by several
// goroutines.
type Supplier interface {
	// Symbols returns a module's symbols, or nil. tried has a line for each place
	// where they are not: path or URL, and why. The error tells of symbols that
	// were there and could not be used, being damaged or another module's, and of
	// names that are refused; there may be one even when others were found.
	//
	// A module without an id gets what goes by its name, if that is one thing.
	//
	// Resolvers belong to the Supplier: they are not to be closed.
	Symbols(ctx context.Context, m Module) (r *Resolver, tried []string, err error)
}

// Lister is a Supplier that can tell the names of the modules whose symbols are
// at hand, in any order. A folder that cannot be read has none: what is wrong with
// it is told when a module is looked for there.
type Lister interface {
	Names(ctx context.Context) []string
}

// Opener opens a symbol file for a Supplier, as Open does; nil is Open. An error
// names the file.
type Opener func(path string) (*Resolver, error)

func (o Opener) open(path string) (*Resolver, error) {
	if o == nil {
		return Open(path)
	}
	return o(path)
}

// names are the names by which a module's symbols may go, without folders.
func (m *Module) names() (names []string) {
	for _, name := range []string{m.DebugFile, m.Name, m.Path} {
		name = name[strings.LastIndexAny(name, `/\`)+1:]
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// unknown tells whether nothing is known of the module.
func (m *Module) unknown() bool {
	return m.DebugID == "" && len(m.BuildID) == 0 && len(m.names()) == 0
}

// called tells whether name is one of the module's. Windows does not look at case.
func (m *Module) called(name string) bool {
	return slices.ContainsFunc(m.names(), func(n string) bool { return strings.EqualFold(n, name) })
}

// is tells whether id is the module's, or may be since that is not known.
func (m *Module) is(id string) bool { return m.DebugID == "" || strings.EqualFold(m.DebugID, id) }

// String names the module in messages.
func (m *Module) String() string {
	name := "module"
	if names := m.names(); len(names) > 0 {
		name = names[0]
	}
	return strings.TrimSpace(name + " " + m.DebugID)
}

// places are where a store has the module's symbols, without an id the folders
// with all of that name. The error is about a name or an id that is refused.
func (m *Module) places() (places []store.Place, err error) {
	var refused []error
	for _, name := range m.names() {
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
	tried []string
	errs  []error
}

// miss notes a place where the symbols are not.
func (s *search) miss(place, format string, args ...any) {
	s.tried = append(s.tried, place+": "+fmt.Sprintf(format, args...))
}

// refuse notes a place whose symbols cannot be used. err names it.
func (s *search) refuse(err error) {
	s.tried = append(s.tried, err.Error())
	s.errs = append(s.errs, err)
}

// several notes a place with symbols of the module's name for more than one build, of
// which the module does not say which it is.
func (s *search) several(place string, builds []string) {
	s.miss(place, "several builds, and no id that says which: %s", strings.Join(builds, ", "))
}

func (s *search) done(r *Resolver) (*Resolver, []string, error) {
	return r, s.tried, errors.Join(s.errs...)
}

// open opens the symbol file at path, if it is there and the module's.
func (s *search) open(path string) *Resolver {
	if err := regular(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			s.miss(path, "%v", bare(err))
		} else {
			s.refuse(fmt.Errorf("%s: %w", path, bare(err)))
		}
		return nil
	}
	r, err := s.with.open(path)
	if err != nil {
		s.refuse(err)
		return nil
	}
	if x := r.Index(); !s.m.is(x.ID) {
		r.Close()
		s.refuse(otherID(path, x.Name, x.ID, &s.m))
		return nil
	}
	return r
}

// otherID is the error of a file that has not the id that it should.
func otherID(path, name, id string, m *Module) error {
	return fmt.Errorf("%s: not used: it has the symbols of %q %s, want %s", path, name, id, m)
}

// otherModule is the form of the lines of tried that tell of another id, as
// otherID, checkCame, the folders and the binaries write them.
var otherModule = regexp.MustCompile(`not used: (it|what came) has|(: build-id| id) \S+, want |: no folder \S+; there is [^n]`)

// OtherModules returns the lines of what Supplier.Symbols has tried that tell of
// symbols that are there by the module's name, but are those of another id.
func OtherModules(tried []string) (lines []string) {
	for _, line := range tried {
		if otherModule.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// severalBuilds is the form of the lines of tried that search.several writes.
var severalBuilds = regexp.MustCompile(`: several builds, and no id that says which: `)

// SeveralBuilds returns the lines of what Supplier.Symbols has tried that name symbols
// of more than one build of a module that has no id.
func SeveralBuilds(tried []string) (lines []string) {
	for _, line := range tried {
		if severalBuilds.MatchString(line) {
			lines = append(lines, line)
		}
	}
	return lines
}

// regular refuses what is no file: a named pipe would block.
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
