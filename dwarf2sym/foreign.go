package dwarf2sym

import "cmp"

// Names may be in other units: after LTO and dwz most are, else hardly any.
// A unit that others refer to is opened once a batch: its header, bases and
// abbreviations are kept, its DIEs are read one by one where they are needed.

// foreignUnits is how many units a worker keeps open for references.
const foreignUnits = 256

// peekSize is how much of a unit is read for one DIE at first, peekMost what a
// DIE may take: beyond it the reference is to no DIE.
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
	sizes   formSizes
}

func newTableKey(section []byte, h *header) tableKey {
	key := tableKey{offset: h.abbrev, sizes: h.sizes()}
	if len(section) > 0 {
		key.section = &section[0]
	}
	return key
}

// locate returns the debugData and the offset there of the DIE that u refers to.
func (w *worker) locate(u *fileUnit, ref value) (*debugData, uint64, bool) {
	switch ref.kind {
	case vRef:
		return u.d, ref.u, true
	case vRefSup:
		return u.d.sup, ref.u, u.d.sup != nil
	case vRefSig:
		if d, off, ok := u.d.typeOf(ref.u); ok || u.d.packed == nil {
			return d, off, ok
		}
		return w.packedType(u.d, ref.u)
	}
	return nil, 0, false
}

// peek reads the attributes that name the DIE that u refers to into a. It returns its
// unit and its offset there; the unit's strings are good until the next peek.
func (w *worker) peek(u *fileUnit, ref value, a *nameAttrs) (*fileUnit, uint64, bool) {
	d, off, ok := w.locate(u, ref)
	if !ok {
		return nil, 0, false
	}
	if u := &w.u; d == u.d && off >= u.off+uint64(u.headSize) && off < u.off+u.size {
		pos := int(off - u.off)
		n := u.takeAt(pos, a) - pos
		return u, off, n > 0 && w.spend(uint64(n))
	}
	f := w.openForeign(d, off)
	if f == nil {
		return nil, 0, false
	}
	rest := f.off + f.size - off
	for _, size := range []uint64{peekSize, peekMost} {
		size = min(size, rest)
		b, err := d.info.Bytes(int64(off), int64(size), f.buf)
		if err != nil || !w.spend(size) {
			return nil, 0, false
		}
		if cap(b) > cap(f.buf) {
			f.buf = b[:0]
		}
		next := f.takeFrom(b, a)
		if w.exhausted {
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

// openForeign returns the unit of d that holds off, or nil.
func (w *worker) openForeign(d *debugData, off uint64) *foreign {
	if w.exhausted {
		return nil
	}
	i, ok := d.unitAt(off)
	if !ok || off < d.units[i].off+uint64(d.units[i].headSize) {
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
	if w.beginForeign(f, d, &d.units[i].header) != nil {
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
func (w *worker) sharedTable(d *debugData, h *header) (*abbrevs, error) {
	key := newTableKey(d.abbrev, h)
	if t, ok := w.shared[key]; ok {
		return t, nil
	}
	if w.exhausted {
		return nil, errExhausted
	}
	t := &abbrevs{}
	err := t.parse(d.abbrev, key.offset, key.sizes)
	if !w.spend(t.cost()) || err != nil {
		return nil, cmp.Or(err, errExhausted)
	}
	w.shared[key] = t
	return t, nil
}

// beginForeign reads the unit's own DIE, from as few bytes as hold it.
func (w *worker) beginForeign(f *foreign, d *debugData, h *header) error {
	t, err := w.sharedTable(d, h)
	if err != nil {
		return err
	}
	for size := uint64(peekSize); ; size *= 16 {
		size = min(size, h.size)
		b, err := d.info.Bytes(int64(h.off), int64(size), nil)
		if err != nil || !w.spend(size) {
			return cmp.Or(err, errExhausted)
		}
		err = f.open(d, h, b, t, w.meter)
		f.owner = f
		if err == nil || size == h.size {
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
	data, err := f.d.info.Bytes(int64(f.off), int64(f.size), nil)
	if err != nil || !w.spend(f.size) {
		return nil
	}
	// A second worker, for the scopes only: without code there is nothing else
	// that it could produce.
	scan := worker{d: f.d, namesOnly: true, meter: w.meter}
	if scan.u.open(f.d, &f.header, data, f.abbrevs, w.meter) == nil {
		scan.scan() // what it found before any damage is what can be had
		for i := range scan.scopes {
			if s := &scan.scopes[i]; s.name.kind == vInline {
				s.text, s.name = scan.u.str(s.name), value{}
			}
		}
		f.scopes = scan.scopes
	}
	return f.scopes
}
