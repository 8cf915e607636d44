// Package names interns the names of functions and other DIEs, each worker's in a Table of its own, and joins the
// tables.
//
// While all units of a file are read, names in .debug_str are not examined: that section may be larger than
// .debug_info, and the names of a unit are all over it. Tables note their offsets, and Join reads each name once, in
// the order of the section, when the units are done.
package names

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/intern"
)

// ID is the number of a name in a Table.
type ID uint32

// Table interns names as they appear in the debug information. A name at a known offset of .debug_str is found
// without examining its bytes.
type Table struct {
	// Places maps offsets in .debug_str, with the tag of its Data, to numbers of names. It is valid for one file.
	Places *intern.Offsets

	texts intern.Table
	pools map[*units.Package]*intern.Offsets // like Places, by offset in the .debug_str.dwo of a package

	main  *units.Data // names in its .debug_str are read later; may be nil
	later []uint64    // the offsets of these names
	most  int         // how many there may be
}

// New returns an empty Table.
func New() Table { return Table{Places: &intern.Offsets{}} }

// Intern returns the number of a name.
func (t *Table) Intern(name []byte) ID { return ID(t.texts.Intern(name)) }

// At returns the number of the name at an offset of d's .debug_str. It reports false if there is none or it is
// empty.
func (t *Table) At(d *units.Data, off uint64) (ID, bool) {
	place := d.Tag | off
	if id, ok := t.Places.Get(place); ok {
		return ID(id), true
	}
	id, ok := t.readLater(d, off)
	if !ok {
		name, ok := dwarf.CString(d.Str, off)
		if !ok || len(name) == 0 {
			return 0, false
		}
		id = t.Intern(name)
	}
	t.Places.Put(place, uint32(id))
	return id, true
}

// Size returns the length of a name, or 0 if it is read later.
func (t *Table) Size(id ID) int {
	if id&laterName != 0 {
		return 0
	}
	return len(t.texts.At(uint32(id)))
}

// Pool returns the Places for names in a package.
func (t *Table) Pool(p *units.Package) *intern.Offsets {
	if t.pools == nil {
		t.pools = make(map[*units.Package]*intern.Offsets)
	}
	if t.pools[p] == nil {
		t.pools[p] = &intern.Offsets{}
	}
	return t.pools[p]
}

// Finish releases what is needed only to find names.
func (t *Table) Finish() { t.Places, t.pools = nil, nil }
