package resolve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/store"
)

// NewSymbols returns the Supplier of a symbol file, for its module and for one
// of which nothing is known, or of the symbol files in a folder of the layout
// NAME/ID/STEM.sym (see symfmt/store). Symbol files may be compressed.
func NewSymbols(path string, open Opener) (Supplier, error) {
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return &folderSupplier{path, open}, nil
	}
	if err == nil {
		err = regular(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bare(err))
	}
	f := &fileSupplier{path: path, open: sync.OnceValues(func() (*Resolver, error) { return open.open(path) })}
	if f.name, f.id, err = fileModule(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

type fileSupplier struct {
	path     string
	name, id string // of its MODULE
	open     func() (*Resolver, error)
}

func (f *fileSupplier) Symbols(_ context.Context, m Module) (*Resolver, []string, error) {
	s := search{m: m}
	named := m.called(f.name)
	switch {
	case m.DebugID != "" && !m.is(f.id) && named:
		s.refuse(otherID(f.path, f.name, f.id, &m))
	case m.DebugID != "" && !m.is(f.id), m.DebugID == "" && len(m.names()) > 0 && !named:
		s.miss(f.path, "has the symbols of %q %s", f.name, f.id)
	default:
		r, err := f.open()
		if err != nil {
			s.refuse(err)
		}
		return s.done(r)
	}
	return s.done(nil)
}

// Names is Lister's.
func (f *fileSupplier) Names(context.Context) []string { return []string{f.name} }

// maxHead is how much of a symbol file may stand in front of its MODULE record,
// with it.
const maxHead = 64 << 10

// fileModule returns name and id of a symbol file's MODULE record.
func fileModule(path string) (name, id string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", bare(err)
	}
	defer f.Close()
	text, _, err := symfmt.NewText(f)
	if err != nil {
		return "", "", err
	}
	_, name, id, err = readModule(text)
	return name, id, err
}

// readModule reads the beginning of a symbol file, up to somewhere behind its
// MODULE record.
func readModule(text io.Reader) (head []byte, name, id string, err error) {
	head = make([]byte, maxHead)
	n, err := io.ReadFull(text, head)
	if head = head[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return head, "", "", err
	}
	first, _, _ := strings.Cut(strings.TrimLeft(string(head), "\r\n"), "\n")
	var p symfmt.LineParser
	rec, err := p.Parse(trim([]byte(first)), "", 1)
	if rec == nil || rec.Kind != symfmt.KindModule || err != nil {
		return head, "", "", fmt.Errorf("no symbol file: it begins with %.20q", first)
	}
	return head, string(rec.Name), string(rec.DebugID), nil
}

// folderSupplier is a folder with a store's layout.
type folderSupplier struct {
	dir  string
	open Opener
}

// extensions are what the names of symbol files end with.
var extensions = []string{".sym", ".sym.gz", ".sym.zst"}

func (f *folderSupplier) Symbols(_ context.Context, m Module) (*Resolver, []string, error) {
	s := search{m: m, with: f.open}
	places, err := m.places()
	if err != nil {
		s.refuse(err)
	}
	for _, p := range places {
		if r := f.at(&s, p); r != nil {
			return s.done(r)
		}
		// Names on Windows differ in case from one dump to the next.
		low := store.Place{Name: strings.ToLower(p.Name), ID: p.ID, Stem: strings.ToLower(p.Stem)}
		if p.Stem == p.Name || low == p {
			continue
		}
		if r := f.at(&s, low); r != nil {
			return s.done(r)
		}
	}
	for _, p := range append(f.versions(&m, places), f.unnamed(&s)...) {
		if r := f.at(&s, p); r != nil {
			return s.done(r)
		}
	}
	return s.done(nil)
}

// unnamed are the places with the id of a module whose name is not known, by any
// name: some cores hold no names, but a build-id in memory.
func (f *folderSupplier) unnamed(s *search) (places []store.Place) {
	if len(s.m.names()) > 0 || s.m.DebugID == "" {
		return nil
	}
	for _, name := range f.Names(context.Background()) {
		p, err := store.NewPlace(name, strings.ToUpper(s.m.DebugID))
		if err == nil && f.hasID(p) {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		s.miss(f.dir, "no module has the id %s", s.m.DebugID)
	}
	return places
}

// hasID reports whether there is a folder for an id, which may be in either case.
func (f *folderSupplier) hasID(p store.Place) bool {
	return slices.ContainsFunc([]string{p.ID, strings.ToLower(p.ID)}, func(id string) bool {
		_, err := os.Stat(filepath.Join(f.dir, p.Name, id))
		return err == nil
	})
}

// versions are the places of a shared library with the module's id by another
// name: cores tell the name of its file, libstdc++.so.6.0.30, whereas symbol files
// are mostly made by its link's, libstdc++.so.6, as is asked for by minidumps.
func (f *folderSupplier) versions(m *Module, known []store.Place) (places []store.Place) {
	for _, k := range known {
		i := strings.Index(k.Name+".", ".so.")
		if i < 0 || m.DebugID == "" {
			continue
		}
		stem := k.Name[:i] + ".so"
		for _, name := range f.Names(context.Background()) {
			p, err := store.NewPlace(name, k.ID)
			if err != nil || name == k.Name || name != stem && !strings.HasPrefix(name, stem+".") {
				continue
			}
			if _, err := os.Stat(filepath.Join(f.dir, name, k.ID)); err == nil {
				places = append(places, p)
			}
		}
	}
	return places
}

// Names is Lister's: the names of the folders.
func (f *folderSupplier) Names(context.Context) (names []string) {
	entries, _ := os.ReadDir(f.dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// at looks at one place, where ids are written in either case.
func (f *folderSupplier) at(s *search, p store.Place) *Resolver {
	folder := filepath.Join(f.dir, p.Name)
	if p.ID == "" {
		if p.ID = onlyID(s, folder); p.ID == "" {
			return nil
		}
	}
	for _, id := range slices.Compact([]string{p.ID, strings.ToUpper(p.ID), strings.ToLower(p.ID)}) {
		p.ID = id
		if _, err := os.Stat(filepath.Join(folder, id)); err != nil {
			continue
		}
		for _, ext := range extensions {
			if r := s.open(filepath.Join(f.dir, p.Path(ext))); r != nil {
				return r
			}
		}
		return nil
	}
	ids, err := listIDs(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.miss(folder, "%v", bare(err))
	case err != nil:
		s.refuse(fmt.Errorf("%s: %w", folder, bare(err)))
	default:
		s.miss(folder, "no folder %s; there is %s", strings.ToUpper(p.ID), orNothing(ids))
	}
	return nil
}

// onlyID returns the id of the only symbol file of a name, or "".
func onlyID(s *search, folder string) string {
	ids, err := listIDs(folder)
	switch {
	case err != nil:
		s.miss(folder, "%v", bare(err))
	case len(ids) > 1:
		s.several(folder, ids)
	case len(ids) == 0:
		s.miss(folder, "the folder is empty")
	default:
		return ids[0]
	}
	return ""
}

// listedIDs is how many other ids a message names: enough to see what they are
// like, since a store may have thousands.
const listedIDs = 4

func listIDs(folder string) ([]string, error) {
	f, err := os.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	ids, err := f.Readdirnames(listedIDs)
	if err != nil && err != io.EOF {
		return nil, err
	}
	slices.Sort(ids)
	if len(ids) == listedIDs {
		ids[listedIDs-1] = "..."
	}
	return ids, nil
}

func orNothing(ids []string) string {
	if len(ids) == 0 {
		return "nothing"
	}
	return strings.Join(ids, ", ")
}
