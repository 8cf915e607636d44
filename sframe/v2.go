package sframe

import "math"

// v2 is version 2, of binutils 2.41, with what its errata added in 2.45: the
// flag PCRelative and s390x, and later rows without a return address.
var v2 = format{name: "SFRAME_VERSION_2", flags: Sorted | FramePointer | PCRelative, fdeSize: 20, fde: fde2, write: &write2}

func fde2(f *FDE, b, rows []byte, abi *abi) error {
	err := fde1(f, b, rows, abi)
	f.Rep = b[17]
	if f.Mask {
		f.Block = uint32(f.Rep)
	}
	return err
}

var write2 = layout{
	near:    true,
	maxRows: math.MaxUint32,
	appendFDE: func(b []byte, order byteOrder, f *FDE, start int64) []byte {
		b = order.AppendUint32(b, uint32(start))
		b = order.AppendUint32(b, f.Size)
		b = order.AppendUint32(b, f.rows)
		b = order.AppendUint32(b, f.NumRows)
		return append(b, f.Info, f.Rep, 0, 0)
	},
	appendAttr: func(b []byte, _ byteOrder, _ *FDE) []byte { return b },
}
