package resolve

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/symtool/symtool/symfmt"
)

// errChanged says that the text is not that of the index.
var errChanged = errors.New("the symbol file has changed")

// nameTable holds the names of the FILE or INLINE_ORIGIN records of an index,
// behind an empty one: place i + 1 has that of record i. A name is written once,
// under mu, before a function that refers to it can be seen: to read the names
// of such a function takes no lock.
type nameTable struct {
	mu    sync.Mutex
	known []bool
	names []string
	files []uint32 // INLINE_ORIGINs of the old form: the places of their files
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
	rec, err := r.record(r.x.files.offsetOf(i), symfmt.KindFile, uint64(id))
	if err != nil {
		return 0, err
	}
	t.known[i], t.names[i+1] = true, string(rec.Name)
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
		rec, err := r.record(r.x.origins.offsetOf(i), symfmt.KindInlineOrigin, uint64(id))
		if err != nil {
			return 0, 0, err
		}
		name := rec.Name
		if number, rest, ok := rec.OldOrigin(); ok && t.files != nil {
			name = slices.Clone(rest)
			if number >= 0 {
				if t.files[i+1], err = r.file(symfmt.FileID(number)); err != nil {
					return 0, 0, err
				}
			}
		}
		t.known[i], t.names[i+1] = true, string(name)
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
	rec, err := r.record(r.x.publics.offsetOf(i), symfmt.KindPublic, r.x.publics.u64(i, 0))
	if err != nil {
		return nil, err
	}
	p := &publicSymbol{string(rec.Name), rec.Multiple, rec.ParamSize}
	r.publics[i].Store(p)
	return p, nil
}

type publicSlots []atomic.Pointer[publicSymbol]

// firstRead is how much is read of a record at first: most are shorter.
const firstRead = 256

// record reads the record at an offset of the text, which has a number or an
// address.
func (r *Resolver) record(offset uint64, kind symfmt.Kind, number uint64) (*symfmt.Record, error) {
	data, err := r.line(offset)
	if err != nil {
		return nil, r.errorf(offset, err)
	}
	var parser symfmt.LineParser
	rec, err := parser.Parse(trim(data), "", 1)
	if rec == nil || rec.Kind != kind || rec.RVA != symfmt.RVA(number) && kind == symfmt.KindPublic ||
		uint64(rec.ID) != number && kind != symfmt.KindPublic {
		err = fmt.Errorf("no %s where the index has one: %w", kind, cmp.Or(err, errChanged))
		return nil, r.errorf(offset, err)
	}
	return rec, nil
}

// line reads the line at an offset of the text, without its end.
func (r *Resolver) line(offset uint64) ([]byte, error) {
	for size := firstRead; ; size *= 4 {
		data := make([]byte, size)
		n, err := r.text.ReadAt(data, int64(offset))
		if err != nil && err != io.EOF {
			return nil, err
		}
		if end := bytes.IndexByte(data[:n], '\n'); end >= 0 {
			return data[:end], nil
		}
		if err == io.EOF && offset+uint64(n) != r.x.size {
			return nil, errChanged
		}
		if err == io.EOF || size > symfmt.MaxLine {
			return data[:n], nil
		}
	}
}
