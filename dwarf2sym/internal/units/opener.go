package units

import (
	"cmp"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
)

// Opener opens the units that a unit refers to. After LTO and dwz most names are in other units, otherwise hardly
// any are. A unit that others refer to is opened once per batch: its header, bases and abbreviations are kept, and
// its DIEs are read one by one on demand.
type Opener struct {
	*dwarf.Meter
	own     *Unit // the unit that refers to others: it needs no opening
	Whole   bool  // open units with all of their bytes and declarations with all attributes
	All     bool  // declarations have all attributes, for PeekDIE
	problem func(off uint64, lost string, err error)

	open   map[foreignKey]*Foreign // nil if the unit cannot be opened
	held   uint64                  // bytes that open units may take
	shared map[tableKey]*dwarf.Abbrevs
}

// NewOpener returns an opener that spends what m allows. It calls problem to report damage in type units.
func NewOpener(m *dwarf.Meter, own *Unit, problem func(off uint64, lost string, err error)) *Opener {
	return &Opener{Meter: m, own: own, problem: problem, open: make(map[foreignKey]*Foreign), shared: make(map[tableKey]*dwarf.Abbrevs)}
}

// maxHeld bounds the bytes that open units hold. ForeignUnits bounds the number of units that are open for single
// DIEs, and the number of abbreviation tables kept between calls of First.
const (
	maxHeld      = 64 << 20
	ForeignUnits = 256
)

// PeekSize is the number of bytes of a unit that are first read for one DIE. PeekMost is the number that a DIE may
// take: a reference to a longer one is invalid.
const (
	PeekSize = 512
	PeekMost = 64 << 10
)

// MaxChain bounds the length of the chain of DIEs in which a name is looked for, each referring to the next:
// concrete instance -> abstract instance -> declaration is 3. Cycles occur in shipped files.
const MaxChain = 16

// Foreign is a unit opened for references into it.
type Foreign struct {
	Unit
	buf     []byte
	Scopes  []Scope
	Scanned bool // scopes are filled in
}

// foreignKey is units[index] of d.
type foreignKey struct {
	d     *Data
	index int
}

// tableKey identifies an abbreviation table. Type units of a package may share the table of their .dwo file.
type tableKey struct {
	section *byte        // its first byte; the bytes live as long as the key
	late    dwarf.Source // or what is inflated on demand
	offset  uint64
	sizes   dwarf.FormSizes
}

func newTableKey(s *dwarf.Sections, h *dwarf.Header) tableKey {
	key := tableKey{late: s.LateAbbrev, offset: h.Abbrev, sizes: h.Sizes()}
	if len(s.Abbrev) > 0 {
		key.section = &s.Abbrev[0]
	}
	return key
}

// Locate returns the Data with the DIE that u refers to, and the DIE's offset there.
func (o *Opener) Locate(u *Unit, ref dwarf.Value) (*Data, uint64, bool) {
	switch ref.Kind {
	case dwarf.Ref:
		return u.D, ref.U, true
	case dwarf.RefSup:
		return u.D.Sup, ref.U, u.D.Sup != nil
	case dwarf.RefSig:
		if d, off, ok := u.D.typeOf(ref.U); ok || u.D.packed == nil {
			return d, off, ok
		}
		return o.packedType(u.D, ref.U)
	}
	return nil, 0, false
}

// Peek reads into a the attributes that name the DIE that u refers to. It returns the DIE's unit
// and its offset there; strings of the unit are valid until the next peek.
func (o *Opener) Peek(u *Unit, ref dwarf.Value, a *dwarf.NameAttrs) (*Unit, uint64, bool) {
	return o.peek(u, ref, func(u *dwarf.Unit, pos int) int { return u.TakeAt(pos, a) })
}

// PeekFunc is like Peek, but only for DIEs of functions: what a function may be the definition or an instance of.
func (o *Opener) PeekFunc(u *Unit, ref dwarf.Value, a *dwarf.NameAttrs) (*Unit, uint64, bool) {
	return o.peek(u, ref, func(u *dwarf.Unit, pos int) int {
		switch u.TagAt(pos) {
		case dw.TagSubprogram, dw.TagInlinedSubroutine, dw.TagEntryPoint:
			return u.TakeAt(pos, a)
		}
		return -1
	})
}

// PeekDIE is like Peek, for a whole DIE. The opener's All must be set.
func (o *Opener) PeekDIE(u *Unit, ref dwarf.Value, die *dwarf.DIE) (*Unit, uint64, bool) {
	return o.peek(u, ref, func(u *dwarf.Unit, pos int) int {
		if u.Head(pos, die) != nil || die.Tag == 0 {
			return -1
		}
		next, err := u.Take(die)
		if err != nil {
			return -1
		}
		return next
	})
}

// peek calls take with the unit of the DIE that u refers to, and the DIE's position in the bytes that this unit
// then holds. take returns where the DIE ends, or -1.
func (o *Opener) peek(u *Unit, ref dwarf.Value, take func(*dwarf.Unit, int) int) (*Unit, uint64, bool) {
	d, off, ok := o.Locate(u, ref)
	if !ok {
		return nil, 0, false
	}
	if u := o.own; u.holds(d, off) {
		pos := int(off - u.Off)
		if !u.Begins(pos) {
			return nil, 0, false
		}
		n := take(&u.Unit, pos) - pos
		return u, off, n > 0 && o.Spend(uint64(n))
	}
	f := o.UnitAt(d, off)
	if f == nil {
		return nil, 0, false
	}
	rest := f.Off + f.Size - off
	for _, size := range []uint64{PeekSize, PeekMost} {
		size = min(size, rest)
		b, err := d.Bytes(off, size, &f.buf)
		if err != nil || !o.Spend(size) {
			return nil, 0, false
		}
		f.Look(b)
		next := take(&f.Unit.Unit, 0)
		if o.Exhausted {
			return nil, 0, false
		}
		if next >= 0 {
			return &f.Unit, off, true
		}
		if size == rest {
			break
		}
	}
	return nil, 0, false
}

// Unit returns the unit of d that contains off, or nil. It may be the opener's own unit.
func (o *Opener) Unit(d *Data, off uint64) *Unit {
	if o.own.holds(d, off) {
		return o.own
	}
	if f := o.UnitAt(d, off); f != nil {
		return &f.Unit
	}
	return nil
}

// UnitAt returns the unit of d that contains off, which is not the opener's own, or nil.
func (o *Opener) UnitAt(d *Data, off uint64) *Foreign {
	if o.Exhausted {
		return nil
	}
	i, h, ok := d.UnitAt(off)
	if !ok || off < h.Off+uint64(h.HeadSize) {
		return nil
	}
	key := foreignKey{d, i}
	if f, ok := o.open[key]; ok {
		return f
	}
	if o.held >= maxHeld {
		o.Close()
	}
	f, err := o.openUnit(d, h)
	if err != nil {
		f = nil
	}
	o.open[key] = f
	if o.Whole {
		o.held += h.Size
	} else {
		o.held += maxHeld / ForeignUnits
	}
	return f
}

// Close drops the open units.
func (o *Opener) Close() {
	clear(o.open)
	clear(o.shared)
	o.held = 0
}

// tableOf returns the abbreviations of a unit.
func (o *Opener) tableOf(d *Data, h *dwarf.Header) (*dwarf.Abbrevs, error) {
	key := newTableKey(&d.Sections, h)
	if t, ok := o.shared[key]; ok {
		return t, nil
	}
	if o.Exhausted {
		return nil, dwarf.ErrExhausted
	}
	t := &dwarf.Abbrevs{All: o.Whole || o.All}
	err := d.ReadAbbrevs(key.offset, func(section []byte) error { return t.Parse(section, key.offset, key.sizes) })
	if !o.Spend(t.Cost()) || err != nil {
		return nil, cmp.Or(err, dwarf.ErrExhausted)
	}
	o.shared[key] = t
	return t, nil
}

// openUnit reads a unit's own DIE, reading as few bytes as possible unless Whole is set.
func (o *Opener) openUnit(d *Data, h *dwarf.Header) (*Foreign, error) {
	t, err := o.tableOf(d, h)
	if err != nil {
		return nil, err
	}
	f := &Foreign{}
	size := uint64(PeekSize)
	read := func() ([]byte, error) { return d.Info.Bytes(int64(h.Off), int64(size), nil) } // for First, whose callers do not recover
	if o.Whole {
		size = h.Size
		read = func() ([]byte, error) { return d.Bytes(h.Off, size, new([]byte)) }
	}
	for ; ; size *= 16 {
		size = min(size, h.Size)
		b, err := read()
		if err != nil || !o.Spend(size) {
			return nil, cmp.Or(err, dwarf.ErrExhausted)
		}
		err = f.Open(d, h, b, t, o.Meter)
		f.Owner = f
		if err == nil || size == h.Size {
			return f, err
		}
	}
}

// First reads the own DIE of a unit without keeping the unit open.
func (o *Opener) First(d *Data, h *dwarf.Header) (*Unit, bool) {
	f, err := o.openUnit(d, h)
	if err != nil {
		return nil, false
	}
	if len(o.shared) > ForeignUnits {
		clear(o.shared)
	}
	return &f.Unit, true
}

// Scope is a namespace or type with DIEs below it.
type Scope struct {
	Start, End uint64 // offsets in .debug_info: of the DIE, and of the end of its children
	Parent     int32  // index of the enclosing scope, or -1
	Outer      int32  // position of the enclosing function inside parent; 0 if there is none
	Tag        uint16
	Name       dwarf.Value
	Text       string      // the name, if it is not in the unit's bytes
	Next       dwarf.Value // the DIE that it completes or that completes it, if any
}

// SearchScopes returns the index of the last scope that starts before off, or -1.
func SearchScopes(scopes []Scope, off uint64) int {
	lo, hi := 0, len(scopes)
	for lo < hi {
		if mid := (lo + hi) / 2; scopes[mid].Start < off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}
