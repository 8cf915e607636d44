package resolve

import (
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/symfmt"
)

// nameTable holds the names of the FILE or INLINE_ORIGIN records of an index,
// after an empty one: index i + 1 holds the name of record i. A name is written
// once, under mu, before any function that refers to it becomes visible, so
// that reading the names of such a function takes no lock.
type nameTable struct {
	mu    sync.Mutex
	known []bool
	names []string
	files []uint32 // for INLINE_ORIGINs of the old form: the indices of their files
}

func newNameTable(n int, files bool) *nameTable {
	t := &nameTable{known: make([]bool, n), names: make([]string, n+1)}
	if files {
		t.files = make([]uint32, n+1)
	}
	return t
}

// file implements names.
func (r *Resolver) file(id symfmt.FileID) (uint32, error) {
	i := r.x.files.numbered(uint32(id))
	if i < 0 {
		return 0, nil
	}
	t := r.files
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known[i] {
		return uint32(i + 1), nil
	}
	offset := r.x.files.offsetOf(i)
	name, err := r.source.file(offset, id)
	if err != nil {
		return 0, r.errorf(offset, err)
	}
	t.known[i], t.names[i+1] = true, name
	return uint32(i + 1), nil
}

// origin implements names.
func (r *Resolver) origin(id symfmt.OriginID) (place, file uint32, err error) {
	i := r.x.origins.numbered(uint32(id))
	if i < 0 {
		return 0, 0, nil
	}
	t := r.origins
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.known[i] {
		offset := r.x.origins.offsetOf(i)
		name, number, err := r.source.origin(offset, id, t.files != nil)
		if err != nil {
			return 0, 0, r.errorf(offset, err)
		}
		if number >= 0 {
			if t.files[i+1], err = r.file(symfmt.FileID(number)); err != nil {
				return 0, 0, err
			}
		}
		t.known[i], t.names[i+1] = true, name
	}
	if t.files != nil {
		file = t.files[i+1]
	}
	return uint32(i + 1), file, nil
}

// publicSymbol is a PUBLIC.
type publicSymbol struct {
	name      string
	multiple  bool
	paramSize uint64
}

// public returns PUBLIC number i of the index.
func (r *Resolver) public(i int) (*publicSymbol, error) {
	if p := r.publics[i].Load(); p != nil {
		return p, nil
	}
	offset := r.x.publics.offsetOf(i)
	p, err := r.source.public(offset, symfmt.RVA(r.x.publics.u64(i, 0)))
	if err != nil {
		return nil, r.errorf(offset, err)
	}
	r.publics[i].Store(p)
	return p, nil
}

type publicSlots []atomic.Pointer[publicSymbol]
