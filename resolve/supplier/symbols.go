package supplier

import (
	"cmp"
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

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
)

// NewSymbols returns a Supplier of the symbol file at path, for its module and for a module
// about which nothing is known. If path is a folder, it supplies the symbol files in the
// layout NAME/ID/STEM.sym (see resolve/store). Symbol files may be compressed.
func NewSymbols(path string, open Opener) (resolve.Supplier, error) {
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return &folderSupplier{path, open}, nil
	}
	if err == nil {
		err = regular(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, bin.WithoutPath(err))
	}
	f := &fileSupplier{path: path, open: open}
	if f.name, f.id, err = FileModule(path); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

type fileSupplier struct {
	path     string
	name, id string // of its MODULE
	open     Opener

	mu      sync.Mutex
	symbols resolve.Symbols // nil unless it was opened
	err     error
}

// opened opens the file, unless somebody still uses it. An error of a context that has ended is not kept.
func (f *fileSupplier) opened(ctx context.Context) (resolve.Symbols, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil || f.symbols != nil && f.symbols.Share() {
		return f.symbols, f.err
	}
	r, err := f.open.open(ctx, f.path)
	if err == nil {
		f.symbols = r
	} else if ctx.Err() == nil {
		f.symbols, f.err = nil, err
	}
	return r, err
}

func (f *fileSupplier) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	s := search{m: m}
	named := called(&m, f.name)
	switch {
	case m.DebugID != "" && !m.Is(f.id) && named:
		s.refuse(otherID(f.path, f.name, f.id, m))
	case m.DebugID != "" && !m.Is(f.id), m.DebugID == "" && len(m.Names()) > 0 && !named:
		s.miss(f.path, "has the symbols of %q %s", f.name, f.id)
	default:
		r, err := f.opened(ctx)
		if err != nil {
			s.refuse(err)
		}
		return s.done(r)
	}
	return s.done(nil)
}

// Names implements Lister.
func (f *fileSupplier) Names(context.Context) []string { return []string{f.name} }

// maxHead is the length of the beginning of a symbol file that is searched for its MODULE record.
const maxHead = 64 << 10

// FileModule returns name and id of a symbol file's MODULE record. The error is a *NotSymbolsError
// if the file is not a symbol file.
func FileModule(path string) (name, id string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return "", "", bin.WithoutPath(err)
	}
	defer f.Close()
	text, _, err := symfmt.NewText(f)
	if err != nil {
		return "", "", err
	}
	_, name, id, err = ReadModule(text)
	return name, id, err
}

// NotSymbolsError is the error for a text that is not a symbol file.
type NotSymbolsError struct{ Line string } // the first line, which may be long

func (e *NotSymbolsError) Error() string {
	return fmt.Sprintf("not a symbol file: it begins with %.20q", e.Line)
}

// ReadModule reads the beginning of a symbol file, at least to the end of its MODULE record, and
// returns what it read, with the module's name and id.
func ReadModule(text io.Reader) (head []byte, name, id string, err error) {
	head = make([]byte, maxHead)
	n, err := io.ReadFull(text, head)
	if head = head[:n]; err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return head, "", "", err
	}
	rd := symfmt.NewReader(nil, symfmt.ReadOptions{})
	rd.ResetText(head)
	rec, err := rd.Next()
	if err != nil || rec.Kind != symfmt.KindModule {
		first, _, _ := strings.Cut(strings.TrimLeft(string(head), "\r\n"), "\n")
		return head, "", "", &NotSymbolsError{first}
	}
	return head, string(rec.Name), string(rec.DebugID), nil
}

// folderSupplier is a folder in a store's layout.
type folderSupplier struct {
	dir  string
	open Opener
}

// extensions are the extensions of symbol files.
var extensions = []string{".sym", ".sym.gz", ".sym.zst"}

func (f *folderSupplier) Symbols(ctx context.Context, m resolve.Module) (resolve.Symbols, []symfmt.Tried, error) {
	s := search{m: m, with: f.open}
	places, err := Places(&m)
	if err != nil {
		s.refuse(err)
	}
	for _, p := range places {
		if r := f.at(ctx, &s, p); r != nil {
			return s.done(r)
		}
		// Names on Windows differ in case from one dump to the next.
		low := store.Place{Name: strings.ToLower(p.Name), ID: p.ID, Stem: strings.ToLower(p.Stem)}
		if p.Stem == p.Name || low == p {
			continue
		}
		if r := f.at(ctx, &s, low); r != nil {
			return s.done(r)
		}
	}
	for _, p := range f.byID(&s, places) {
		if r := f.at(ctx, &s, p); r != nil {
			return s.done(r)
		}
	}
	return s.done(nil)
}

// byID returns the places of symbols with the module's id under other names: libraries
// have the name of their file, libstdc++.so.6.0.30, and their own, DT_SONAME,
// libstdc++.so.6, which need not be similar. Similar names come first. Some cores have no
// names at all, but a build-id in memory. An id of zeros stands for none.
func (f *folderSupplier) byID(s *search, known []store.Place) (places []store.Place) {
	id := strings.ToUpper(s.m.DebugID)
	if strings.Trim(id, "0") == "" {
		return nil
	}
	for _, name := range f.Names(context.Background()) {
		p, err := store.NewPlace(name, id)
		if err == nil && p.Name == name && !slices.Contains(known, p) && f.hasID(p) {
			places = append(places, p)
		}
	}
	if len(places) == 0 && len(s.m.Names()) == 0 {
		s.miss(f.dir, "no module has the id %s", id)
	}
	slices.SortStableFunc(places, func(a, b store.Place) int {
		return cmp.Compare(likeness(b.Name, known), likeness(a.Name, known))
	})
	return places
}

// hasID reports whether there is a folder for an id, which may be in either case.
func (f *folderSupplier) hasID(p store.Place) bool {
	return slices.ContainsFunc([]string{p.ID, strings.ToLower(p.ID)}, func(id string) bool {
		_, err := os.Stat(filepath.Join(f.dir, p.Name, id))
		return err == nil
	})
}

// likeness returns 1 if a name is a known shared library's, with another version or without one,
// otherwise 0.
func likeness(name string, known []store.Place) int {
	stem := func(name string) string {
		stem, _, _ := strings.Cut(name+".", ".so.")
		return stem
	}
	if slices.ContainsFunc(known, func(k store.Place) bool { return stem(k.Name) != k.Name+"." && stem(k.Name) == stem(name) }) {
		return 1
	}
	return 0
}

// Names implements Lister with the names of the folders.
func (f *folderSupplier) Names(context.Context) (names []string) {
	entries, _ := os.ReadDir(f.dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// at tries one place, with ids in either case.
func (f *folderSupplier) at(ctx context.Context, s *search, p store.Place) resolve.Symbols {
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
			if r := s.open(ctx, filepath.Join(f.dir, p.Path(ext))); r != nil {
				return r
			}
		}
		return nil
	}
	ids, err := listIDs(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.miss(folder, "%v", bin.WithoutPath(err))
	case err != nil:
		s.refuse(fmt.Errorf("%s: %w", folder, bin.WithoutPath(err)))
	case len(ids) == 0:
		s.miss(folder, "no folder %s; there are no others", strings.ToUpper(p.ID))
	default:
		s.note(symfmt.OtherID, folder, "no folder %s; there is %s", strings.ToUpper(p.ID), strings.Join(ids, ", "))
	}
	return nil
}

// onlyID returns the id of the only symbol file of a name, or "".
func onlyID(s *search, folder string) string {
	ids, err := listIDs(folder)
	switch {
	case err != nil:
		s.miss(folder, "%v", bin.WithoutPath(err))
	case len(ids) > 1:
		s.several(folder, ids)
	case len(ids) == 0:
		s.miss(folder, "the folder is empty")
	default:
		return ids[0]
	}
	return ""
}

// listedIDs limits the other ids in a message, as a store may have thousands: these are enough to
// recognise their form.
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
