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

// Approximate cost of a record whose name is known, in bytes.
const (
	nameCost   = 17 + 64
	publicCost = 8 + 64
)

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
