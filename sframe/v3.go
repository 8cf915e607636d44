package sframe

import (
	"fmt"
	"math"
)

// v3 is version 3, of binutils 2.46: starts have 64 bits, and the attributes
// of a function precede its rows.
var v3 = format{name: "SFRAME_VERSION_3", flags: Sorted | PCRelative, fdeSize: 16, fde: fde3, write: &write3}

// attrSize is the size of a function's attributes before its rows.
const attrSize = 5

func fde3(f *FDE, b, rows []byte, abi *abi) error {
	order := abi.order
	f.Start, f.Size, f.rows = order.Uint64(b), order.Uint32(b[8:]), order.Uint32(b[12:])
	if uint64(f.rows)+attrSize > uint64(len(rows)) {
		return fmt.Errorf("attributes at offset %#x of the rows' %d bytes", f.rows, len(rows))
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
		return fmt.Errorf("FDE of type %d, want 0 or 1", t)
	}
	return nil
}

var write3 = layout{
	flex: true, signal: true,
	maxRows: math.MaxUint16,
	appendFDE: func(b []byte, order byteOrder, f *FDE, start int64) []byte {
		b = order.AppendUint64(b, uint64(start))
		b = order.AppendUint32(b, f.Size)
		return order.AppendUint32(b, f.rows)
	},
	appendAttr: func(b []byte, order byteOrder, f *FDE) []byte {
		b = order.AppendUint16(b, uint16(f.NumRows))
		return append(b, f.Info, f.Info2, f.Rep)
	},
}
