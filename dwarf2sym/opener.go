package dwarf2sym

import (
	"cmp"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// opener opens the units that a unit refers to. After LTO and dwz most names are in other units,
// otherwise hardly any. A unit that others refer to is opened once per batch: its header, bases
// and abbreviations are kept, and its DIEs are read one by one on demand.
type opener struct {
	*dwarf.Meter
	own     *fileUnit // the unit that refers to others: it needs no opening
	whole   bool      // units are opened with all of their bytes, and declarations with all attributes
	problem func(off uint64, lost string, err error)

	open   map[foreignKey]*foreign // nil: it cannot be opened
	held   uint64                  // bytes that open units may take
	shared map[tableKey]*dwarf.Abbrevs
}

func newOpener(m *dwarf.Meter, own *fileUnit, problem func(off uint64, lost string, err error)) *opener {
	return &opener{Meter: m, own: own, problem: problem, open: make(map[foreignKey]*foreign), shared: make(map[tableKey]*dwarf.Abbrevs)}
}

// maxHeld is how many bytes of other units are held, and foreignUnits how many units may be open of
// which single DIEs are read, and how many tables of units that are opened in turn.
const (
	maxHeld      = 64 << 20
	foreignUnits = 256
)

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
func (o *opener) locate(u *fileUnit, ref dwarf.Value) (*debugData, uint64, bool) {
	switch ref.Kind {
	case dwarf.Ref:
		return u.d, ref.U, true
	case dwarf.RefSup:
		return u.d.sup, ref.U, u.d.sup != nil
	case dwarf.RefSig:
		if d, off, ok := u.d.typeOf(ref.U); ok || u.d.packed == nil {
			return d, off, ok
		}
		return o.packedType(u.d, ref.U)
	}
	return nil, 0, false
}

// peek reads into a the attributes that name the DIE that u refers to. It returns the DIE's unit
// and its offset there; strings of the unit are valid until the next peek.
func (o *opener) peek(u *fileUnit, ref dwarf.Value, a *dwarf.NameAttrs) (*fileUnit, uint64, bool) {
	d, off, ok := o.locate(u, ref)
	if !ok {
		return nil, 0, false
	}
	if u := o.own; u.holds(d, off) {
		pos := int(off - u.Off)
		n := u.TakeAt(pos, a) - pos
		return u, off, n > 0 && o.Spend(uint64(n))
	}
	f := o.unitAt(d, off)
	if f == nil {
		return nil, 0, false
	}
	rest := f.Off + f.Size - off
	for _, size := range []uint64{peekSize, peekMost} {
		size = min(size, rest)
		b, err := d.Info.Bytes(int64(off), int64(size), f.buf)
		if err != nil || !o.Spend(size) {
			return nil, 0, false
		}
		if cap(b) > cap(f.buf) {
			f.buf = b[:0]
		}
		next := f.TakeFrom(b, a)
		if o.Exhausted {
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

// unit returns the unit of d that contains off, or nil. It may be the own one.
func (o *opener) unit(d *debugData, off uint64) *fileUnit {
	if o.own.holds(d, off) {
		return o.own
	}
	if f := o.unitAt(d, off); f != nil {
		return &f.fileUnit
	}
	return nil
}

// unitAt returns another unit of d, the one that contains off, or nil.
func (o *opener) unitAt(d *debugData, off uint64) *foreign {
	if o.Exhausted {
		return nil
	}
	i, h, ok := d.unitAt(off)
	if !ok || off < h.Off+uint64(h.HeadSize) {
		return nil
	}
	key := foreignKey{d, i}
	if f, ok := o.open[key]; ok {
		return f
	}
	if o.held >= maxHeld {
		o.close()
	}
	f, err := o.openUnit(d, h)
	if err != nil {
		f = nil
	}
	o.open[key] = f
	if o.whole {
		o.held += h.Size
	} else {
		o.held += maxHeld / foreignUnits
	}
	return f
}

// close forgets the units that are open.
func (o *opener) close() {
	clear(o.open)
	clear(o.shared)
	o.held = 0
}

// tableOf returns the abbreviations of a unit.
func (o *opener) tableOf(d *debugData, h *dwarf.Header) (*dwarf.Abbrevs, error) {
	key := newTableKey(d.Abbrev, h)
	if t, ok := o.shared[key]; ok {
		return t, nil
	}
	if o.Exhausted {
		return nil, dwarf.ErrExhausted
	}
	t := &dwarf.Abbrevs{All: o.whole}
	err := t.Parse(d.Abbrev, key.offset, key.sizes)
	if !o.Spend(t.Cost()) || err != nil {
		return nil, cmp.Or(err, dwarf.ErrExhausted)
	}
	o.shared[key] = t
	return t, nil
}

// openUnit reads a unit's own DIE, from as few bytes as possible unless whole units are wanted.
func (o *opener) openUnit(d *debugData, h *dwarf.Header) (*foreign, error) {
	t, err := o.tableOf(d, h)
	if err != nil {
		return nil, err
	}
	f := &foreign{}
	size := uint64(peekSize)
	if o.whole {
		size = h.Size
	}
	for ; ; size *= 16 {
		size = min(size, h.Size)
		b, err := d.Info.Bytes(int64(h.Off), int64(size), nil)
		if err != nil || !o.Spend(size) {
			return nil, cmp.Or(err, dwarf.ErrExhausted)
		}
		err = f.open(d, h, b, t, o.Meter)
		f.owner = f
		if err == nil || size == h.Size {
			return f, err
		}
	}
}

// first reads the own DIE of a unit that is not kept open.
func (o *opener) first(d *debugData, h *dwarf.Header) (*foreign, bool) {
	f, err := o.openUnit(d, h)
	if err != nil {
		return nil, false
	}
	if len(o.shared) > foreignUnits {
		clear(o.shared)
	}
	return f, true
}

// scope is a namespace or type with DIEs below it.
type scope struct {
	start, end uint64 // offsets in .debug_info: of the DIE, and of the end of its children
	parent     int32  // index of the enclosing scope, or -1
	outer      int32  // position of the enclosing function, inside parent; 0 if there is none
	tag        uint16
	name       dwarf.Value
	text       string      // the name, if it is not in the unit's bytes
	next       dwarf.Value // the DIE that it completes, or that completes it, if any
}

// searchScopes returns the index of the last scope that starts before off, or -1.
func searchScopes(scopes []scope, off uint64) int {
	lo, hi := 0, len(scopes)
	for lo < hi {
		if mid := (lo + hi) / 2; scopes[mid].start < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}
