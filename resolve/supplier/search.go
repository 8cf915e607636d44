// Package supplier finds the symbols of modules: NewSymbols searches symbol files and stores,
// NewBinaries searches binaries and their debug files, and NewChain asks several suppliers in
// turn.
//
// Suppliers that ask servers are in package remote, so that programs that use only files link no
// HTTP.
package supplier

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// Opener opens a symbol file for a Supplier; nil means Open. The error names the file.
type Opener func(ctx context.Context, path string) (resolve.Symbols, error)

func (o Opener) open(ctx context.Context, path string) (resolve.Symbols, error) {
	if o != nil {
		return o(ctx, path)
	}
	return resolve.Open(ctx, path, resolve.OpenOptions{})
}

// unknown reports whether the module has neither a name nor an id.
func unknown(m *resolve.Module) bool {
	return m.DebugID == "" && len(m.BuildID) == 0 && len(m.Names()) == 0
}

// called reports whether one of the names is the module's. Windows ignores case.
func called(m *resolve.Module, names ...string) bool {
	return slices.ContainsFunc(m.Names(), func(n string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(n, name) })
	})
}

// Places returns the places of the module's symbols in a store; without an id, all folders of its
// name. The error joins the errors of invalid names and ids.
func Places(m *resolve.Module) (places []store.Place, err error) {
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

// Refused returns the Tried of symbols that cannot be used because of err, whose message names the
// place.
func Refused(err error) symfmt.Tried {
	t := symfmt.Tried{Why: err.Error()}
	var other *resolve.OtherIDError
	if errors.As(err, &other) || errors.Is(err, object.ErrOtherBuild) {
		t.Kind = symfmt.OtherID
	}
	return t
}

// search is one search of a Supplier.
type search struct {
	m     resolve.Module
	with  Opener
	tried []symfmt.Tried
	errs  []error
}

// miss records a place without the symbols.
func (s *search) miss(place, format string, args ...any) {
	s.note(symfmt.Absent, place, format, args...)
}

func (s *search) note(kind symfmt.TriedKind, place, format string, args ...any) {
	s.tried = append(s.tried, symfmt.Tried{Place: place, Why: fmt.Sprintf(format, args...), Kind: kind})
}

// refuse records a place whose symbols cannot be used. err names it.
func (s *search) refuse(err error) {
	s.tried = append(s.tried, Refused(err))
	s.errs = append(s.errs, err)
}

// several records a place with symbols of several builds for a module without an id.
func (s *search) several(place string, builds []string) {
	s.note(symfmt.SeveralIDs, place, "several builds, and the module has no id: %s", strings.Join(builds, ", "))
}

func (s *search) done(r resolve.Symbols) (resolve.Symbols, []symfmt.Tried, error) {
	return r, s.tried, errors.Join(s.errs...)
}

// open opens the symbol file at path, if it exists and is the module's.
func (s *search) open(ctx context.Context, path string) resolve.Symbols {
	if err := regular(path); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			s.miss(path, "%v", bin.WithoutPath(err))
		} else {
			s.refuse(fmt.Errorf("%s: %w", path, bin.WithoutPath(err)))
		}
		return nil
	}
	r, err := OpenFor(ctx, path, s.m, s.with)
	if err != nil {
		s.refuse(err)
		return nil
	}
	return r
}

// OpenFor opens the symbol file at path for a module. The error is an *OtherIDError if the file has
// a different id. open may be nil.
func OpenFor(ctx context.Context, path string, m resolve.Module, open Opener) (resolve.Symbols, error) {
	r, err := open.open(ctx, path)
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
func otherID(path, name, id string, m resolve.Module) error {
	return fmt.Errorf("%s: %w", path, &resolve.OtherIDError{What: "it", Name: name, ID: id, Want: m})
}

// regular refuses anything but a regular file, as opening a named pipe would block.
func regular(path string) error {
	_, err := regularSize(path)
	return err
}

// regularSize returns the size of a file that regular accepts.
func regularSize(path string) (int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	if !st.Mode().IsRegular() {
		return 0, errors.New("not a regular file")
	}
	return st.Size(), nil
}
