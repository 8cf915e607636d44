package funcs

import (
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/srcread"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

// A Worker is the host of the readers of variables and of source positions (varread.Host, srcread.Host).

// Scopes appends "ns::Class::" for the scopes around the DIE at off of u.
func (w *Worker) Scopes(b []byte, u *units.Unit, off uint64) []byte {
	at := &w.u
	if u.D != w.u.D || u.Off != w.u.Off {
		f := w.opener.UnitAt(u.D, off)
		if f == nil {
			return b
		}
		at = &f.Unit
	}
	return w.appendScopes(b, at, off)
}

// Path returns the path of a file of the current unit's line table.
func (w *Worker) Path(file uint64) string {
	w.needLines()
	id, _ := w.fileID(file)
	return w.Files.At(id)
}

// Problem records damage at off of .debug_info.
func (w *Worker) Problem(off uint64, lost string, err error) { w.problem(off, lost, err) }

// funcDIEs returns the offsets of the DIEs of the current unit's functions, in order. They are valid until
// the next call.
func (w *Worker) funcDIEs() []uint64 {
	dies := w.dies[:0]
	for i := range w.Funcs[w.unitFuncs:] {
		f := &w.Funcs[w.unitFuncs+i]
		if w.skeleton == nil {
			dies = append(dies, f.Key)
		} else {
			dies = append(dies, f.Sub)
		}
	}
	slices.Sort(dies)
	w.dies = slices.Compact(dies)
	return w.dies
}

// Begin makes a unit of d current without reading its functions. It reports false if the unit cannot be read.
func (w *Worker) Begin(d *units.Data, h *dwarf.Header, data []byte) bool {
	w.opener.Close()
	w.tables.Reset()
	w.d, w.namesOnly = d, true
	w.damage().Next()
	err := d.ReadAbbrevs(h.Abbrev, func(section []byte) error {
		_, err := w.first.ParseFirst(section, h, data)
		return err
	})
	if err != nil || w.u.Open(d, h, data, &w.first, w.Meter) != nil {
		return false
	}
	w.scopes, w.fileIDs, w.haveLines = w.scopes[:0], w.fileIDs[:0], false
	if !w.u.Scoped() {
		return true
	}
	t, _, err := w.tables.Get(&d.Sections, h)
	if err != nil || w.u.Open(d, h, data, t, w.Meter) != nil {
		return false
	}
	w.scanBriefly()
	return true
}

// ReadSource makes the worker read the source information for an address into an index.
func (w *Worker) ReadSource(x *srcread.Index, addr uint64) {
	if w.sources == nil {
		w.sources = srcread.New(w, w.code, w.lineWin, dwarf.NewWindow(w.d.Line), w.Meter)
	}
	w.Source = w.sources.Into(x, addr)
}

// ReadData makes the worker read only the declarations of variables.
func (w *Worker) ReadData() {
	w.Source = srcread.New(w, w.code, w.lineWin, dwarf.NewWindow(w.d.Line), w.Meter).Into(&srcread.Index{}, 0)
	w.Source.Data = true
}
