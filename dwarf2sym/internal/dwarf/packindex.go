package dwarf

import (
	"fmt"

	"github.com/symtool/symtool/internal/bin"
)

// Columns of a package's indexes: the sections that are divided among units.
const (
	SectInfo = iota
	SectTypes
	SectAbbrev
	SectStrOffsets
	SectRnglists
	SectLocs // .debug_loc.dwo in version 2
	SectCount
)

// column returns the section that a number in an index's header stands for: GNU's
// version 2 and DWARF 5 number them differently (DWARF 5, 7.3.5.3; GCC wiki,
// "DebugFissionDWP").
func column(version uint32, id uint32) (sect int, known bool) {
	switch id {
	case 1:
		return SectInfo, true
	case 2:
		return SectTypes, version < 5 // version 5: reserved
	case 3:
		return SectAbbrev, true
	case 5:
		return SectLocs, true
	case 6:
		return SectStrOffsets, true
	case 8:
		return SectRnglists, version >= 5 // version 2: .debug_macro.dwo
	}
	return 0, false
}

// SectNames are the sections by column.
var SectNames = [SectCount]string{".debug_info.dwo", ".debug_types.dwo", ".debug_abbrev.dwo", ".debug_str_offsets.dwo", ".debug_rnglists.dwo", ".debug_loclists.dwo"}

// Part is a unit's part of a section.
type Part struct{ Off, Size uint64 }

// The indexes of a package.
const (
	CUIndex = ".debug_cu_index"
	TUIndex = ".debug_tu_index"
)

// PackIndex is an index of a package: it locates the parts of sections that belong to a
// unit.
type PackIndex struct {
	Name  string // of its section
	File  string
	Order Order

	Rows    map[uint64]int // by dwo id or signature; from 0
	Holds   int            // the section that holds the units
	columns [SectCount]int // of each section, or -1
	width   int            // number of columns
	offsets []byte         // rows of width 4-byte numbers
	sizes   []byte
}

// Errorf returns an error at an offset in the index.
func (x *PackIndex) Errorf(off uint64, format string, args ...any) error {
	return &bin.Error{File: x.File, Section: x.Name, Offset: off, Msg: fmt.Sprintf(format, args...)}
}

// Read reads an index (DWARF 5, 7.3.5.3): a hash table of ids, and two tables,
// of offsets and sizes, with a row for each unit and a column for each
// section. The hash table is only read from front to back, once, so its order
// does not matter.
func (x *PackIndex) Read(data []byte) error {
	c := bin.NewAt(x.Name, data, 0, x.Order.byteOrder())
	if len(data) < 16 {
		return x.Errorf(0, "%d bytes, too few for the index of a package", len(data))
	}
	version := c.U32()
	if v := x.Order.u16(data); v == 5 {
		version = 5 // version 5: a version of 2 bytes and 2 bytes of padding
	}
	if version != 2 && version != 5 {
		return x.Errorf(0, "index version %d, want 2 or 5", version)
	}
	width, units, slots := uint64(c.U32()), uint64(c.U32()), uint64(c.U32())
	rest := uint64(len(data)) - 16
	// In this order no product overflows.
	if slots > rest/12 || width == 0 || width > 64 || units > rest/(8*width) ||
		12*slots+4*width+8*units*width > rest {
		return x.Errorf(4, "index of %d columns, %d units and %d slots does not fit into %d bytes", width, units, slots, len(data))
	}
	ids, numbers := c.Bytes(8*slots), c.Bytes(4*slots)
	if err := x.readColumns(&c, version, int(width)); err != nil {
		return err
	}
	x.offsets, x.sizes = c.Bytes(4*units*width), c.Bytes(4*units*width)
	x.Rows = make(map[uint64]int)
	for i := uint64(0); i < slots; i++ {
		row := uint64(x.Order.u32(numbers[4*i:]))
		if row == 0 {
			continue
		}
		if row > units {
			return x.Errorf(16+8*slots+4*i, "row %d of %d", row, units)
		}
		id := x.Order.u64(ids[8*i:])
		if _, twice := x.Rows[id]; twice {
			return x.Errorf(16+8*i, "the id %#x occurs twice", id)
		}
		x.Rows[id] = int(row - 1)
	}
	return nil
}

// readColumns reads which section each column refers to.
func (x *PackIndex) readColumns(c *bin.Cursor, version uint32, width int) error {
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
			return x.Errorf(off, "a second column for %s", SectNames[sect])
		}
		x.columns[sect] = i
	}
	if x.Holds = SectInfo; x.Name == TUIndex && version < 5 {
		x.Holds = SectTypes
	}
	for _, sect := range []int{x.Holds, SectAbbrev} {
		if x.columns[sect] < 0 {
			return x.Errorf(16, "no column for %s", SectNames[sect])
		}
	}
	return nil
}

// Part returns a unit's part of a section. It is empty if the section has no column.
func (x *PackIndex) Part(row, sect int) Part {
	col := x.columns[sect]
	if col < 0 {
		return Part{}
	}
	at := 4 * (row*x.width + col)
	return Part{uint64(x.Order.u32(x.offsets[at:])), uint64(x.Order.u32(x.sizes[at:]))}
}
