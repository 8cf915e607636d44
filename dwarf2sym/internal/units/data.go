// Package units opens the debug information of files and finds the units in it: those of a file,
// of its supplementary file, of .dwo files and packages, and type units. It knows which unit and
// DIE a reference leads to. It does not interpret DIEs.
package units

import (
	"fmt"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/object"
)

// Data is the debug information of one ELF file. .debug_info and .debug_line are mapped, or else read piece by piece,
// each piece once; sections with random access are held whole.
type Data struct {
	dwarf.Sections
	Tag  uint64       // SupTag in the supplementary file; for an object, its number above the bits of offsets
	Line dwarf.Source // nil if there is no .debug_line
	view []byte       // .debug_info, if it is mapped

	unitList

	Sup   *Data // the supplementary file, or nil
	Types typeUnits

	packed *packedTypes // of a unit in a package; else nil

	Effort *dwarf.Effort // shared by all files
	half   *half         // for a .dwo file or a package; nil in the file with the code

	random []*object.Section // sections that are held or mapped whole
	Done   int64             // atomic: number of bytes of .debug_info read so far
}

// SupTag distinguishes offsets in the sections of a supplementary file from offsets in the file's own sections: no
// section is that large.
const SupTag = 1 << 63

// Unit is a unit, with the debug information that contains it.
type Unit struct {
	dwarf.Unit
	D     *Data
	Owner *Foreign // for a unit opened only for references

	Starts *dwarf.Starts // where its DIEs begin, except those that a scan passed over; nil if not known
}

// Open prepares u for a unit of d whose bytes are data.
func (u *Unit) Open(d *Data, h *dwarf.Header, data []byte, t *dwarf.Abbrevs, m *dwarf.Meter) error {
	u.D, u.Starts = d, nil
	return u.Begin(&d.Sections, h, data, t, m)
}

// holds reports whether the DIE at off of d is in the unit.
func (u *Unit) holds(d *Data, off uint64) bool {
	return d == u.D && off >= u.Off+uint64(u.HeadSize) && off < u.Off+u.Size
}

// Begins reports whether a DIE begins at pos, or may begin there as far as is known. u must have all of its bytes.
func (u *Unit) Begins(pos int) bool {
	if u.Starts == nil || u.Starts.Has(pos) {
		return true
	}
	if !u.Starts.Known(pos) {
		u.Unit.Starts(u.Starts, pos)
	}
	return u.Starts.Has(pos) || !u.Starts.Known(pos)
}

// OwnName returns the unit's name for messages.
func (u *Unit) OwnName() string {
	if u.Name == "" {
		return fmt.Sprintf("unit at %#x", u.Off)
	}
	return fmt.Sprintf("unit at %#x, %s", u.Off, u.Name)
}

// Scoped reports whether the language has named scopes that are part of functions' names. Names in Go, Ada and C are
// complete as they are. Units made by dwz have no language.
func (u *Unit) Scoped() bool {
	switch u.Lang {
	case 0:
		return u.Partial
	case dw.LangCPlus, dw.LangCPP03, dw.LangCPP11, dw.LangCPP14, dw.LangCPP17, dw.LangCPP20, dw.LangCPP23, dw.LangObjCPP,
		dw.LangRust, dw.LangDLang, dw.LangSwift, dw.LangZig, dw.LangPascal83:
		return true
	}
	return false
}

// Flat reports whether no function can be below a type, so that types may be skipped. Functions without code may not
// be skipped: a function nested in a GNU C function that was inlined everywhere has its own code.
func (u *Unit) Flat() bool {
	switch u.Lang {
	case dw.LangC89, dw.LangC, dw.LangC99, dw.LangC11, dw.LangC17, dw.LangC23:
		return true
	}
	return false
}

// FlatBehind is like Flat, for a unit that another unit refers to. from is the result of Flat for the other unit,
// which counts because units made by dwz have no language.
func (u *Unit) FlatBehind(from bool) bool { return u.Flat() || from && u.Lang == 0 && u.Partial }

// Assembly reports whether the unit was written in assembly. Several labels at the same address then belong to one
// function, not to functions that were folded.
func (u *Unit) Assembly() bool {
	return u.Lang == dw.LangMipsAsm || u.Lang == dw.LangAssembly
}

// Bytes returns n bytes at off of .debug_info, which must not be changed. If the section is mapped, they are neither
// copied nor in Go's memory, but access faults if the file shrinks, as in other sections: callers recover. Otherwise,
// the bytes are in buf, which grows as needed, or in memory that Info holds.
func (d *Data) Bytes(off, n uint64, buf *[]byte) ([]byte, error) {
	if size := uint64(len(d.view)); off <= size && n <= size-off {
		return d.view[off : off+n : off+n], nil
	}
	b, err := d.Info.Bytes(int64(off), int64(n), *buf)
	if cap(b) > cap(*buf) {
		*buf = b[:0]
	}
	return b, err
}

// dropStep is the number of bytes of .debug_info after which the memory of mapped sections is released: units mostly
// refer to nearby places in them.
const dropStep = 2 << 20

// Passed records that n more bytes of .debug_info have been read.
func (d *Data) Passed(n int64, scratch *object.Scratch) {
	if sum := atomic.AddInt64(&d.Done, n); sum/dropStep != (sum-n)/dropStep {
		d.Drop()
		if scratch != nil {
			scratch.Drop()
		}
	}
}

// Drop releases the memory of mapped sections, which remain usable.
func (d *Data) Drop() {
	for _, s := range d.random {
		s.Drop()
	}
}

// ReleaseUnits releases all sections except .debug_str: units must not be read any more.
func (d *Data) ReleaseUnits() {
	for _, s := range d.random {
		if s.Called() != ".debug_str" {
			s.Release()
		}
	}
	d.Sections = dwarf.Sections{File: d.File, Order: d.Order, Str: d.Str}
	d.Info, d.Line, d.view, d.LateAbbrev = nil, nil, nil, nil
}

// Release releases the sections; d must not be used any more.
func (d *Data) Release() {
	if d.Sup != nil {
		d.Sup.Release()
	}
	for _, s := range d.random {
		s.Release()
	}
}

// Forget releases the sections of a file that will be closed while references to its DIEs are kept. Again finds the
// DIEs once the file is reopened.
func (d *Data) Forget() {
	d.Release()
	for _, of := range []*Data{d, d.Types.old} {
		if of != nil {
			of.Sections = dwarf.Sections{OldTypes: of.OldTypes}
			of.unitList, of.view, of.random, of.Line = unitList{}, nil, nil, nil
		}
	}
}

// Again returns the part of d, the reopened file, that corresponds to old, on which Forget was called. It returns nil
// if there is none.
func (d *Data) Again(old *Data) *Data {
	switch {
	case old.Tag != d.Tag: // a supplementary file stays open
		return old
	case old.OldTypes:
		return d.Types.old
	}
	return d
}
