package dwarf2sym

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
)

// Columns of a package's indexes: the sections that units have a part of.
const (
	sectInfo = iota
	sectTypes
	sectAbbrev
	sectStrOffsets
	sectRnglists
	sectCount
)

// column returns the section that a number in an index's header stands for: GNU's
// version 2 and DWARF 5 number them differently (DWARF 5, 7.3.5.3; GCC wiki,
// "DebugFissionDWP").
func column(version uint32, id uint32) (sect int, known bool) {
	switch id {
	case 1:
		return sectInfo, true
	case 2:
		return sectTypes, version < 5 // version 5: reserved
	case 3:
		return sectAbbrev, true
	case 6:
		return sectStrOffsets, true
	case 8:
		return sectRnglists, version >= 5 // version 2: .debug_macro.dwo
	}
	return 0, false
}

// sectNames are the sections by column.
var sectNames = [sectCount]string{".debug_info.dwo", ".debug_types.dwo", ".debug_abbrev.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo"}

// part is a unit's part of a section.
type part struct{ off, size uint64 }

// The indexes of a package.
const (
	cuIndex = ".debug_cu_index"
	tuIndex = ".debug_tu_index"
)

// packIndex is an index of a package: where the parts of its units are.
type packIndex struct {
	name  string // of its section
	file  string
	order order

	rows    map[uint64]int // by dwo id, or by signature; from 0
	holds   int            // the section with the units
	columns [sectCount]int // in a row; -1: none
	width   int            // columns in all
	offsets []byte         // rows of width numbers of 4 bytes
	sizes   []byte
}

func (x *packIndex) errorf(off uint64, format string, args ...any) error {
	return &bin.Error{File: x.file, Section: x.name, Offset: off, Msg: fmt.Sprintf(format, args...)}
}

// read reads an index (DWARF 5, 7.3.5.3): a hash table of ids, and two tables,
// of offsets and sizes, with a row for each unit and a column for each section.
// The order of the hash table does not matter here: it is read from front to
// back, once.
func (x *packIndex) read(data []byte) error {
	c := bin.NewAt(x.name, data, 0, x.order.byteOrder())
	if len(data) < 16 {
		return x.errorf(0, "%d bytes are no index of a package", len(data))
	}
	version := c.U32()
	if v := x.order.u16(data); v == 5 {
		version = 5 // of 2 bytes, and 2 that mean nothing
	}
	if version != 2 && version != 5 {
		return x.errorf(0, "index version %d, want 2 or 5", version)
	}
	width, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	rest := uint64(len(data)) - 16
	// In this order no product overflows.
	if slots > rest/12 || width == 0 || width > 64 || units > rest/(8*width) ||
		12*slots+4*width+8*units*width > rest {
		return x.errorf(4, "index of %d columns, %d units and %d slots does not fit into %d bytes", width, units, slots, len(data))
	}
	ids, numbers := c.Bytes(8*slots), c.Bytes(4*slots)
	if err := x.readColumns(&c, version, int(width)); err != nil {
		return err
	}
	x.offsets, x.sizes = c.Bytes(4*units*width), c.Bytes(4*units*width)
	x.rows = make(map[uint64]int)
	for i := uint64(0); i < slots; i++ {
		row := uint64(x.order.u32(numbers[4*i:]))
		if row == 0 {
			continue
		}
		if row > units {
			return x.errorf(16+8*slots+4*i, "row %d of %d", row, units)
		}
		id := x.order.u64(ids[8*i:])
		if _, twice := x.rows[id]; twice {
			return x.errorf(16+8*i, "the id %#x is there twice", id)
		}
		x.rows[id] = int(row - 1)
	}
	return nil
}

// readColumns reads which section each column refers to.
func (x *packIndex) readColumns(c *bin.Cursor, version uint32, width int) error {
	x.width = width
	for sect := range x.columns {
		x.columns[sect] = -1
	}
	for i := range width {
		off := c.Offset()
		sect, known := column(version, c.U32())
		if !known {
			continue
		}
		if x.columns[sect] >= 0 {
			return x.errorf(off, "a second column for %s", sectNames[sect])
		}
		x.columns[sect] = i
	}
	if x.holds = sectInfo; x.name == tuIndex && version < 5 {
		x.holds = sectTypes
	}
	for _, sect := range []int{x.holds, sectAbbrev} {
		if x.columns[sect] < 0 {
			return x.errorf(16, "no column for %s", sectNames[sect])
		}
	}
	return nil
}

// part returns a unit's part of a section; none where it has no column.
func (x *packIndex) part(row, sect int) part {
	col := x.columns[sect]
	if col < 0 {
		return part{}
	}
	at := 4 * (row*x.width + col)
	return part{uint64(x.order.u32(x.offsets[at:])), uint64(x.order.u32(x.sizes[at:]))}
}
