package funcs

import (
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

// DeclaredAt returns the code that the unit at off declares, or nil if there is no such unit.
func (w *Worker) DeclaredAt(off uint64) (out []dwarf.Span) {
	only := w.d.Only(off)
	if len(only) == 0 {
		return nil
	}
	h, u := &only[0].Header, units.Unit{}
	for size := uint64(units.PeekSize); ; size *= 16 {
		size = min(size, h.Size)
		data, err := w.d.Info.Bytes(int64(h.Off), int64(size), w.info)
		if err != nil {
			return out // this is reported when the unit is read
		}
		if cap(data) > cap(w.info) {
			w.info = data[:0]
		}
		t := &w.first
		var cost uint64
		err = w.d.ReadAbbrevs(h.Abbrev, func(section []byte) (err error) {
			cost, err = t.ParseFirst(section, h, data)
			return err
		})
		if !w.Spend(cost) {
			return out
		}
		if err == nil {
			err = u.Open(w.d, h, data, t, w.Meter)
		}
		if err == nil {
			break
		}
		if size == h.Size {
			return out
		}
	}
	out, _ = u.Declared(nil)
	return out
}
