package dwarf2sym

import (
	"fmt"
	"sync"

	"github.com/symtool/symtool/internal/object"
)

// typeUnits finds types by their signatures: what DW_FORM_ref_sig8 refers to.
// Only names of scopes that a unit declares and does not name need them, so that
// the index is made when the first one is met.
type typeUnits struct {
	old  *debugData   // .debug_types (DWARF 4); nil without it
	more []*debugData // other sections of a .dwo file

	once     sync.Once
	places   map[uint64]typePlace
	problems problemList
}

// typePlace is the DIE of a type.
type typePlace struct {
	d   *debugData
	off uint64
}

// oldTypesData returns the debug information of .debug_types, which shares all other
// sections with .debug_info.
func (d *debugData) oldTypesData(info object.Source) *debugData {
	return &debugData{
		file: d.file, order: d.order, oldTypes: true, info: info, sup: d.sup,
		abbrev: d.abbrev, str: d.str, lineStr: d.lineStr, strOffsets: d.strOffsets,
	}
}

// typeOf returns the DIE of the type with the signature.
func (d *debugData) typeOf(signature uint64) (*debugData, uint64, bool) {
	t := &d.types
	t.once.Do(func() {
		t.places = make(map[uint64]typePlace)
		if t.old != nil {
			t.problems = t.old.readUnitHeaders()
			t.add(t.old)
		}
		for _, d := range t.more {
			if d.units == nil {
				d.readUnitHeaders()
			}
			t.add(d)
		}
		t.add(d)
	})
	p, ok := t.places[signature]
	return p.d, p.off, ok
}

// add indexes the type units of d. Of several with one signature, which are the
// same type, the first counts.
func (t *typeUnits) add(d *debugData) {
	var buf []byte
	for i := range d.units {
		h := &d.units[i]
		if !h.isType() {
			continue
		}
		b, err := d.info.Bytes(int64(h.off), int64(h.headSize), buf)
		if err != nil {
			t.problems.next()
			t.problems.add(h.off, fmt.Sprintf("type unit at %#x", h.off), err)
			continue
		}
		buf = b
		_, th, err := d.parseUnitHeader(b, h.off, h.off+h.size, false)
		if _, known := t.places[th.signature]; err == nil && !known {
			t.places[th.signature] = typePlace{d, h.off + th.offset}
		}
	}
}
