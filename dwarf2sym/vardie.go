package dwarf2sym

import (
	"cmp"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// die returns a DIE to read into. It belongs to the caller until top is what it was before.
func (v *varReader) die() *dwarf.DIE {
	if v.top == len(v.dies) {
		v.dies = append(v.dies, &dwarf.DIE{})
	}
	v.top++
	return v.dies[v.top-1]
}

// release gives back the DIEs from top on.
func (v *varReader) release(top int) { v.top = top }

// dieAt reads the DIE that u refers to. It is given back by release; its unit is valid until the end of a batch.
func (v *varReader) dieAt(u *fileUnit, ref dwarf.Value) (*fileUnit, *dwarf.DIE, bool) {
	if !ref.IsRef() {
		return nil, nil, false
	}
	d, off, ok := v.w.locate(u, ref)
	if !ok {
		return nil, nil, false
	}
	return v.dieIn(d, off)
}

// dieIn reads the DIE at an offset of d.
func (v *varReader) dieIn(d *debugData, off uint64) (*fileUnit, *dwarf.DIE, bool) {
	u := v.unitAt(d, off)
	if u == nil {
		return nil, nil, false
	}
	die := v.die()
	if u.Head(int(off-u.Off), die) != nil || die.Tag == 0 {
		return nil, nil, false
	}
	if _, err := u.Take(die); err != nil {
		return nil, nil, false
	}
	return u, die, true
}

func (v *varReader) closeForeign() {
	clear(v.foreign)
	clear(v.shared)
	v.held = 0
}

// maxHeld is how many bytes of other units are held.
const maxHeld = 64 << 20

// unitAt returns the unit of d that holds off, with all attributes, or nil.
func (v *varReader) unitAt(d *debugData, off uint64) *fileUnit {
	if u := &v.main; d == u.d && off >= u.Off+uint64(u.HeadSize) && off < u.Off+u.Size {
		return u
	}
	i, h, ok := d.unitAt(off)
	if !ok || v.meter.Exhausted || off < h.Off+uint64(h.HeadSize) {
		return nil
	}
	key := foreignKey{d, i}
	if u, ok := v.foreign[key]; ok {
		return u
	}
	if v.held > maxHeld {
		v.closeForeign()
	}
	u := &fileUnit{}
	if v.openUnit(u, d, h) != nil {
		u = nil
	}
	v.foreign[key] = u
	v.held += int(h.Size)
	return u
}

func (v *varReader) openUnit(u *fileUnit, d *debugData, h *dwarf.Header) error {
	key := newTableKey(d.Abbrev, h)
	t, ok := v.shared[key]
	if !ok {
		t = &dwarf.Abbrevs{All: true}
		err := t.Parse(d.Abbrev, key.offset, key.sizes)
		v.meter.Spend(t.Cost())
		if err != nil {
			return err
		}
		v.shared[key] = t
	}
	data, err := d.Info.Bytes(int64(h.Off), int64(h.Size), nil)
	if err != nil || !v.meter.Spend(h.Size) {
		return cmp.Or(err, dwarf.ErrExhausted)
	}
	return u.open(d, h, data, t, v.meter)
}

// children calls fn with each child of a DIE.
func (v *varReader) children(u *fileUnit, d *dwarf.DIE, fn func(c *dwarf.DIE)) {
	if !d.Children {
		return
	}
	if pos, err := u.Over(d); err == nil {
		v.childrenAt(u, pos, fn)
	}
}

// childrenAt calls fn with each DIE from pos to the end of its siblings.
func (v *varReader) childrenAt(u *fileUnit, pos int, fn func(c *dwarf.DIE)) {
	defer v.release(v.top)
	c := v.die()
	top := v.top
	for pos < u.Len() {
		v.release(top)
		if u.Head(pos, c) != nil || c.Tag == 0 {
			return
		}
		next, err := u.Take(c)
		if err != nil {
			return
		}
		fn(c)
		if next, err = u.SkipTree(c, next); err != nil {
			return
		}
		pos = next
	}
}
