package dwarf2sym

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// Names may be in other units: after LTO and dwz most are, otherwise hardly
// any. A unit that others refer to is opened once per batch: its header, bases
// and abbreviations are kept, and its DIEs are read one by one on demand.

// foreignUnits is the number of units that a worker keeps open for references.
const foreignUnits = 256

// peekSize is the number of bytes of a unit that are first read for one DIE,
// and peekMost the number that a DIE may take: a reference to a longer one is
// invalid.
const (
	peekSize = 512
	peekMost = 64 << 10
)

// foreign is a unit opened for references into it.
type foreign struct {
	fileUnit
	buf     []byte
	scopes  []scope
	scanned bool // scopes are filled in
}

// foreignKey is units[index] of d.
type foreignKey struct {
	d     *debugData
	index int
}

// tableKey identifies an abbreviation table. Type units of a package may share
// the table of their .dwo file.
type tableKey struct {
	section *byte // the first of its bytes, which are kept as long as the key
	offset  uint64
	sizes   dwarf.FormSizes
}

func newTableKey(section []byte, h *dwarf.Header) tableKey {
	key := tableKey{offset: h.Abbrev, sizes: h.Sizes()}
	if len(section) > 0 {
		key.section = &section[0]
	}
	return key
}

// locate returns the debugData, and the offset in it, of the DIE that u refers
// to.
func (w *worker) locate(u *fileUnit, ref dwarf.Value) (*debugData, uint64, bool) {
	switch ref.Kind {
	case dwarf.Ref:
		return u.d, ref.U, true
	case dwarf.RefSup:
		return u.d.sup, ref.U, u.d.sup != nil
	case dwarf.RefSig:
		if d, off, ok := u.d.typeOf(ref.U); ok || u.d.packed == nil {
			return d, off, ok
		}
		return w.packedType(u.d, ref.U)
	}
	return nil, 0, false
}

// peek reads into a the attributes that name the DIE that u refers to. It returns the DIE's unit
// and its offset there; strings of the unit are valid until the next peek.
func (w *worker) peek(u *fileUnit, ref dwarf.Value, a *dwarf.NameAttrs) (*fileUnit, uint64, bool) {
	d, off, ok := w.locate(u, ref)
	if !ok {
		return nil, 0, false
	}
	if u := &w.u; d == u.d && off >= u.Off+uint64(u.HeadSize) && off < u.Off+u.Size {
		pos := int(off - u.Off)
		n := u.TakeAt(pos, a) - pos
		return u, off, n > 0 && w.Spend(uint64(n))
	}
	f := w.openForeign(d, off)
	if f == nil {
		return nil, 0, false
	}
	rest := f.Off + f.Size - off
	for _, size := range []uint64{peekSize, peekMost} {
		size = min(size, rest)
		b, err := d.Info.Bytes(int64(off), int64(size), f.buf)
		if err != nil || !w.Spend(size) {
			return nil, 0, false
		}
		if cap(b) > cap(f.buf) {
			f.buf = b[:0]
		}
		next := f.TakeFrom(b, a)
		if w.Exhausted {
			return nil, 0, false
		}
		if next >= 0 {
			return &f.fileUnit, off, true
		}
		if size == rest {
			break
		}
	}
	return nil, 0, false
}

// openForeign returns the unit of d that contains off, or nil.
func (w *worker) openForeign(d *debugData, off uint64) *foreign {
	if w.Exhausted {
		return nil
	}
	i, h, ok := d.unitAt(off)
	if !ok || off < h.Off+uint64(h.HeadSize) {
		return nil
	}
	key := foreignKey{d, i}
	if f, ok := w.foreign[key]; ok {
		return f
	}
	if len(w.foreign) >= foreignUnits {
		w.closeForeign()
	}
	f := &foreign{}
	if w.beginForeign(f, d, h) != nil {
		f = nil
	}
	w.foreign[key] = f
	return f
}

// closeForeign forgets the units that are open for references.
func (w *worker) closeForeign() {
	clear(w.foreign)
	clear(w.shared)
}

// sharedTable returns a foreign unit's abbreviations, or nil.
func (w *worker) sharedTable(d *debugData, h *dwarf.Header) (*dwarf.Abbrevs, error) {
	key := newTableKey(d.Abbrev, h)
	if t, ok := w.shared[key]; ok {
		return t, nil
	}
	if w.Exhausted {
		return nil, dwarf.ErrExhausted
	}
	t := &dwarf.Abbrevs{}
	err := t.Parse(d.Abbrev, key.offset, key.sizes)
	if !w.Spend(t.Cost()) || err != nil {
		return nil, cmp.Or(err, dwarf.ErrExhausted)
	}
	w.shared[key] = t
	return t, nil
}

// beginForeign reads the unit's own DIE, from as few bytes as possible.
func (w *worker) beginForeign(f *foreign, d *debugData, h *dwarf.Header) error {
	t, err := w.sharedTable(d, h)
	if err != nil {
		return err
	}
	for size := uint64(peekSize); ; size *= 16 {
		size = min(size, h.Size)
		b, err := d.Info.Bytes(int64(h.Off), int64(size), nil)
		if err != nil || !w.Spend(size) {
			return cmp.Or(err, dwarf.ErrExhausted)
		}
		err = f.open(d, h, b, t, w.Meter)
		f.owner = f
		if err == nil || size == h.Size {
			return err
		}
	}
}

// foreignScopes returns the scopes of a unit that is not the current one.
func (w *worker) foreignScopes(u *fileUnit) []scope {
	f := u.owner
	if f.scanned {
		return f.scopes
	}
	f.scanned = true
	data, err := f.d.Info.Bytes(int64(f.Off), int64(f.Size), nil)
	if err != nil {
		return nil
	}
	f.scopes = w.scopesIn(f.d, &f.Header, data, f.Abbrevs, nil)
	return f.scopes
}

// ownScopes returns the scopes of the current unit around the DIE at off. Where only some functions of the
// unit were read, those around the names that wait are looked for at once.
func (w *worker) ownScopes(off uint64) []scope {
	u := &w.u
	if w.scoped == allScopes {
		return w.scopes
	}
	pos := int(off - u.Off)
	if w.scoped == noScopes {
		w.scoped, w.named = someScopes, append(w.named[:0], pos)
		for i := range w.pending {
			p := &w.pending[i]
			if found := w.chase(u, p.die, &p.attrs); found.u == u && len(found.linkage) == 0 {
				w.named = append(w.named, int(found.die-u.Off))
			}
		}
		slices.Sort(w.named)
		w.scopes = w.scopesIn(u.d, &u.Header, u.Data(), u.Abbrevs, w.named)
	}
	if _, ok := slices.BinarySearch(w.named, pos); !ok {
		w.scoped = allScopes
		w.scopes = w.scopesIn(u.d, &u.Header, u.Data(), u.Abbrevs, nil)
	}
	return w.scopes
}

// scopesIn returns the scopes of a unit whose bytes are data: all of them, or those around the DIEs at
// positions.
func (w *worker) scopesIn(d *debugData, h *dwarf.Header, data []byte, t *dwarf.Abbrevs, positions []int) []scope {
	if !w.Spend(h.Size) {
		return nil
	}
	// A second worker, for the scopes only: without code there is nothing else
	// that it could produce.
	scan := worker{d: d, namesOnly: true, Meter: w.Meter}
	if scan.u.open(d, h, data, t, w.Meter) != nil {
		return nil
	}
	scan.scanOnly(positions) // what it found before any damage is what can be had
	for i := range scan.scopes {
		if s := &scan.scopes[i]; s.name.Kind == dwarf.Inline {
			s.text, s.name = scan.u.Str(s.name), dwarf.Value{}
		}
	}
	return scan.scopes
}
