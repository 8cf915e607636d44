package sframe_test

import (
	"encoding/binary"
	"slices"
)

// rawFunc is a function of a section that a test writes byte by byte: it
// shares no layout with the package.
type rawFunc struct {
	start            int64 // as encoded in the section
	size             uint32
	n                int // rows
	info, info2, rep byte
	rows             []byte
}

// raw returns a section without gaps: header, FDEs, rows in their order.
func raw(version, flags, abi byte, funcs ...rawFunc) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if abi == 1 || abi == 4 {
		order = binary.BigEndian
	}
	fixedRA := map[byte]byte{3: 0xf8}[abi]
	var fdes, rows []byte
	n := 0
	for _, f := range funcs {
		n += f.n
		at := uint32(len(rows))
		if version == 3 {
			fdes = order.AppendUint64(fdes, uint64(f.start))
			fdes = order.AppendUint32(fdes, f.size)
			fdes = order.AppendUint32(fdes, at)
			rows = order.AppendUint16(rows, uint16(f.n))
			rows = append(rows, f.info, f.info2, f.rep)
		} else {
			fdes = order.AppendUint32(fdes, uint32(f.start))
			fdes = order.AppendUint32(fdes, f.size)
			fdes = order.AppendUint32(fdes, at)
			fdes = order.AppendUint32(fdes, uint32(f.n))
			fdes = append(fdes, f.info)
			if version == 2 {
				fdes = append(fdes, f.rep, 0, 0)
			}
		}
		rows = append(rows, f.rows...)
	}
	b := order.AppendUint16(nil, 0xdee2)
	b = append(b, version, flags, abi, 0, fixedRA, 0)
	for _, v := range []int{len(funcs), n, len(rows), 0, len(fdes)} {
		b = order.AppendUint32(b, uint32(v))
	}
	return slices.Concat(b, fdes, rows)
}

// patch returns b with the bytes at an offset replaced.
func patch(b []byte, at int, with ...byte) []byte {
	b = slices.Clone(b)
	copy(b[at:], with)
	return b
}

// Two functions of AMD64, at 0x1000 and 0x1020 if the section is at 0: one
// that pushes the frame pointer, and one with a single row. In version 1 the
// rows start at 0x3e, in version 2 at 0x44; in version 3 the attributes start
// at 0x3c.
var (
	pushRows = []byte{0, 0x03, 8, 1, 0x05, 0x10, 0xf0, 4, 0x04, 0x10, 0xf0, 20, 0x05, 8, 0xf0}
	leafRow  = []byte{0, 0x03, 8}

	v1 = raw(1, 1, 3, rawFunc{start: 0x1000, size: 0x20, n: 4, rows: pushRows}, rawFunc{start: 0x1020, size: 0x10, n: 1, rows: leafRow})
	v2 = raw(2, 1, 3, rawFunc{start: 0x1000, size: 0x20, n: 4, rows: pushRows}, rawFunc{start: 0x1020, size: 0x10, n: 1, rows: leafRow})
	v3 = raw(3, 5, 3, rawFunc{start: 0x1000 - 0x1c, size: 0x20, n: 4, rows: pushRows}, rawFunc{start: 0x1020 - 0x2c, size: 0x10, n: 1, rows: leafRow})
)

// one returns a section of version 3 with one function at 0x1000. Its
// attributes are at 0x2c, its rows at 0x31.
func one(abi byte, f rawFunc) []byte {
	f.start = 0x1000 - 0x1c
	return raw(3, 5, abi, f)
}

// one2 is like one, for version 2; the rows are at 0x30.
func one2(abi byte, f rawFunc) []byte {
	f.start = 0x1000
	return raw(2, 1, abi, f)
}
