package varread

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/dwarf2sym/internal/varjoin"
	"github.com/symtool/symtool/internal/dw"
)

// Globals reads the wanted variables of a unit that are outside functions. It records them as variables of
// a function at address base. It reports whether there are any.
func (v *Reader) Globals(d *units.Data, h *dwarf.Header, data []byte, wanted func(name string) bool, base uint64, id varjoin.FuncID) (found bool) {
	v.Reset()
	defer v.Meter.Flush()
	v.firstFn = v.Funcs()
	defer v.leave(d, h)
	if err := v.open(d, h, data); err != nil {
		v.host.Problem(h.Off, fmt.Sprintf("variables of the unit at %#x", h.Off), err)
		return false
	}
	v.rawSize = h.AddrSize
	v.raw.clear()
	v.fn.Reset(base, true)
	v.childrenAt(&v.main, v.main.Children(), func(c *dwarf.DIE) {
		if c.Tag != dw.TagVariable {
			return
		}
		if name, ok := v.main.Text(c.Value(dw.AtName)); ok && wanted(string(name)) {
			found = true
			v.variable(c, 0)
		}
	})
	if found = found && v.host.Begin(d, h, data); found {
		v.AddFunc(id, &v.fn)
		v.endUnit()
	}
	return found
}
