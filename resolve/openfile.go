package resolve

import (
	"cmp"
	"context"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// FileOptions configures OpenFile. The zero value has the limits of Open.
type FileOptions struct {
	Name string // used in messages; "" means the file's name
	// MaxMemory is roughly the number of bytes that the Resolver may hold: an index that takes more is
	// an error, and a quarter is for functions that have been read. 0 means no limit for the index, and
	// the same for functions as with Open.
	MaxMemory int64
}

// OpenFile is like Open for an open symbol file. The Resolver owns f, which is closed on an
// error. When ctx is done, the pass over the text ends.
func OpenFile(ctx context.Context, f *os.File, o FileOptions) (*Resolver, error) {
	name, most := cmp.Or(o.Name, f.Name()), o.MaxMemory
	x, t, problems, err := openTextFrom(f, bin.ContextReader(ctx, f), name, symfmt.MaxText, most)
	if err != nil || t != text(f) {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	from := &textSource{text: t, size: x.size, most: heldFunctions / 4, owns: t == text(f)}
	r := newResolver(name, x, from, problems, nil)
	if most > 0 {
		r.limit = max(most/4, 1<<20)
		from.most = max(r.limit/4, 1<<20)
	}
	return r, nil
}

// Memory returns the approximate number of bytes that the Resolver holds: the tables of its
// index, the functions and names read so far, and the text of a compressed file, whether in
// memory or in a temporary file.
func (r *Resolver) Memory() int64 {
	sum := int64(0)
	for _, t := range r.x.tables() {
		sum += int64(len(t.data))
	}
	sum += nameCost*int64(r.x.files.len()+r.x.origins.len()) + publicCost*int64(r.x.publics.len())
	sum += r.source.held()
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.cache.Load()
	pages := 0
	for i := range c.pages {
		if c.pages[i].Load() != nil {
			pages++
		}
	}
	return sum + c.held + int64(len(c.pages))*8 + int64(pages)*int64(len(slotPage{}))*32
}

// CodeFile returns the name of the binary in INFO CODE_ID, which symbol files of Windows programs
// have in addition to the name of the PDB file; or "".
func (r *Resolver) CodeFile() string { return r.source.codeFile() }

// OpenOptions configures Open. The zero value keeps the index in memory.
type OpenOptions struct {
	// Index says that the index is kept in a file, which is used if it fits the symbol file, and
	// otherwise written for the next time. Its path is the symbol file's with .idx appended or, with
	// IndexDir, a file in that folder whose name is derived from the path.
	//
	// The index file is mapped, so it must not be truncated while it is in use. This package never
	// does: a new index is renamed over the old one.
	Index    bool
	IndexDir string
	// Unwritten, if non-nil, is called with the reason if the index file cannot be written, which is not
	// an error.
	Unwritten func(error)
}

// Open indexes the symbol file at path, which may be compressed.
func Open(ctx context.Context, path string, o OpenOptions) (Symbols, error) {
	var r *Resolver
	var unwritten, err error
	if o.Index {
		r, unwritten, err = openIndexedPath(ctx, path, o.IndexDir)
	} else {
		r, err = openPath(ctx, path)
	}
	if err != nil {
		return nil, err
	}
	if unwritten != nil && o.Unwritten != nil {
		o.Unwritten(unwritten)
	}
	return r, nil
}

func openPath(ctx context.Context, path string) (*Resolver, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x, t, problems, err := openText(ctx, f, path)
	if err != nil || t != text(f) {
		f.Close()
	}
	if err != nil {
		return nil, err
	}
	return newTextResolver(path, x, t, problems), nil
}
