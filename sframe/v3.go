package sframe

import (
	"encoding/binary"
	"fmt"
)

// v3 is version 3, of binutils 2.46: starts of 64 bits, and what describes a
// function but its place stands in front of its rows.
var v3 = format{name: "SFRAME_VERSION_3", flags: Sorted | PCRelative, fdeSize: 16, fde: fde3}

// attrSize is the size of a function's attributes in front of its rows.
const attrSize = 5

func fde3(b, rows []byte, order binary.ByteOrder, _ *abi) (FDE, int64, error) {
	f := FDE{Size: order.Uint32(b[8:]), rows: order.Uint32(b[12:])}
	start := int64(order.Uint64(b))
	if uint64(f.rows)+attrSize > uint64(len(rows)) {
		return f, start, fmt.Errorf("attributes at %#x of the rows' %d bytes", f.rows, len(rows))
	}
	attr := rows[f.rows:]
	f.rows += attrSize
	f.NumRows = uint32(order.Uint16(attr))
	f.setInfo(attr[2])
	f.Signal = f.Info&0x80 != 0
	f.Info2, f.Rep = attr[3], attr[4]
	if f.Mask {
		f.Block = uint32(f.Rep)
	}
	switch t := f.Info2 & 31; t {
	case 0, 1:
		f.Flex = t == 1
	default:
		f.NumRows = 0
		return f, start, fmt.Errorf("FDE of type %d, want 0 or 1", t)
	}
	return f, start, nil
}
