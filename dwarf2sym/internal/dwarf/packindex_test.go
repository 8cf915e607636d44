package dwarf

import (
	"encoding/binary"
	"fmt"
	"testing"
)

// index is an index of a package that a test writes.
type index struct {
	name     string
	version  uint32 // as the first 4 bytes
	columns  []uint32
	ids      []uint64 // of the slots
	rows     []uint32
	offsets  [][]uint32
	sizes    [][]uint32
	units    uint32
	big      bool
	shortage int // missing bytes at the end
}

func (x *index) bytes() []byte {
	o := binary.AppendByteOrder(binary.LittleEndian)
	if x.big {
		o = binary.BigEndian
	}
	b := o.AppendUint32(nil, x.version)
	b = o.AppendUint32(b, uint32(len(x.columns)))
	b = o.AppendUint32(b, x.units)
	b = o.AppendUint32(b, uint32(len(x.ids)))
	for _, id := range x.ids {
		b = o.AppendUint64(b, id)
	}
	for _, n := range x.rows {
		b = o.AppendUint32(b, n)
	}
	for _, n := range x.columns {
		b = o.AppendUint32(b, n)
	}
	for _, table := range [][][]uint32{x.offsets, x.sizes} {
		for _, row := range table {
			for _, n := range row {
				b = o.AppendUint32(b, n)
			}
		}
	}
	return b[:len(b)-x.shortage]
}

// goodIndex has two units in a table of four slots.
func goodIndex() index {
	return index{
		name: CUIndex, version: 2, columns: []uint32{1, 3, 6, 8}, units: 2,
		ids: []uint64{0, 0xa1, 0, 0xb2}, rows: []uint32{0, 2, 0, 1},
		offsets: [][]uint32{{0, 0, 0, 7}, {10, 20, 30, 7}}, sizes: [][]uint32{{10, 20, 30, 1}, {11, 21, 31, 1}},
	}
}

func TestPackageIndex(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*index)
		want   string // an error, or the parts of 0xa1
	}{
		{"version 2", func(*index) {}, "{10 11} {20 21} {30 31} {0 0}"},
		{"version 5", func(x *index) { x.version = 5 }, "{10 11} {20 21} {30 31} {7 1}"},
		{"version 5, padding that is not 0", func(x *index) { x.version = 0x70005 }, "{10 11} {20 21} {30 31} {7 1}"},
		{"version 5, big-endian", func(x *index) { x.version, x.big = 5<<16, true }, "{10 11} {20 21} {30 31} {7 1}"},
		{"version 2, big-endian", func(x *index) { x.big = true }, "{10 11} {20 21} {30 31} {0 0}"},
		{"other columns between", func(x *index) { x.columns[3] = 77 }, "{10 11} {20 21} {30 31} {0 0}"},
		{"no string offsets", func(x *index) { x.columns[2] = 4 }, "{10 11} {20 21} {0 0} {0 0}"},
		{"version 1", func(x *index) { x.version = 1 }, "p.dwp: .debug_cu_index+0x0: index version 1, want 2 or 5"},
		{"no column for the units", func(x *index) { x.columns[0] = 2 }, "p.dwp: .debug_cu_index+0x10: no column for .debug_info.dwo"},
		{"a column twice", func(x *index) { x.columns[2] = 3 }, "p.dwp: .debug_cu_index+0x48: a second column for .debug_abbrev.dwo"},
		{"a row that is not there", func(x *index) { x.rows[3] = 3 }, "p.dwp: .debug_cu_index+0x3c: row 3 of 2"},
		{"an id twice", func(x *index) { x.ids[3] = 0xa1 }, "p.dwp: .debug_cu_index+0x28: the id 0xa1 occurs twice"},
		{"too short", func(x *index) { x.shortage = 1 }, "p.dwp: .debug_cu_index+0x4: index of 4 columns, 2 units and 4 slots does not fit into 143 bytes"},
		{"more units than bytes", func(x *index) { x.units = 1 << 31 }, "p.dwp: .debug_cu_index+0x4: index of 4 columns, 2147483648 units and 4 slots does not fit into 144 bytes"},
		{"nothing", func(x *index) { x.shortage = 144 }, "p.dwp: .debug_cu_index+0x0: 0 bytes, too few for the index of a package"},
		{"types, version 2", func(x *index) { x.name, x.columns[0] = TUIndex, 2 }, "{10 11} {20 21} {30 31} {0 0}"},
		{"types, version 5", func(x *index) { x.name, x.version = TUIndex, 5 }, "{10 11} {20 21} {30 31} {7 1}"},
		{"types, version 2, in the section of units", func(x *index) { x.name = TUIndex }, "p.dwp: .debug_tu_index+0x10: no column for .debug_types.dwo"},
		{"types, version 5, in a section of their own", func(x *index) { x.name, x.version, x.columns[0] = TUIndex, 5, 2 },
			"p.dwp: .debug_tu_index+0x10: no column for .debug_info.dwo"},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := goodIndex()
			c.change(&x)
			p := &PackIndex{Name: x.name, File: "p.dwp", Order: Order(x.big)}
			got := ""
			if err := p.Read(x.bytes()); err != nil {
				got = err.Error()
			} else if row, ok := p.Rows[0xa1]; ok {
				got = fmt.Sprint(p.Part(row, p.Holds), p.Part(row, SectAbbrev), p.Part(row, SectStrOffsets), p.Part(row, SectRnglists))
			}
			if got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
		})
	}
}

// Any bytes are an index or give an error, and every row has parts.
func FuzzPackageIndex(f *testing.F) {
	x := goodIndex()
	f.Add(x.bytes(), false, CUIndex)
	x.version, x.big = 5<<16, true
	f.Add(x.bytes(), true, TUIndex)
	f.Fuzz(func(t *testing.T, data []byte, big bool, name string) {
		p := &PackIndex{Name: name, File: "p.dwp", Order: Order(big)}
		if p.Read(data) != nil {
			return
		}
		if 12*len(p.Rows) > len(data) {
			t.Errorf("%d rows in %d bytes", len(p.Rows), len(data))
		}
		for _, row := range p.Rows {
			for sect := range SectCount {
				p.Part(row, sect)
			}
		}
	})
}
