package sframe

import (
	"fmt"
	"math"
)

// v2 is version 2, of binutils 2.41, with the additions of its errata in 2.45, the flag
// PCRelative and s390x, and the later addition of rows without a return address.
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

// v1 is version 1, of binutils 2.40: FDEs have 17 bytes, and do not record the size of
// the block that PCMASK repeats.
var v1 = format{name: "SFRAME_VERSION_1", flags: Sorted | FramePointer, fdeSize: 17, fde: fde1}

func fde1(f *FDE, b, rows []byte, abi *abi) error {
	f.Start = uint64(int32(abi.order.Uint32(b)))
	f.Size, f.rows, f.NumRows = abi.order.Uint32(b[4:]), abi.order.Uint32(b[8:]), abi.order.Uint32(b[12:])
	f.setInfo(b[16])
	if f.Mask {
		f.Block = abi.v1Block
	}
	if f.NumRows != 0 && uint64(f.rows) >= uint64(len(rows)) {
		return fmt.Errorf("rows at offset %#x of the rows' %d bytes", f.rows, len(rows))
	}
	return nil
}

// setInfo decodes the parts of the info byte that all versions share (2.3.1).
func (f *FDE) setInfo(info uint8) {
	f.Info = info
	if t := info & 15; t < 3 {
		f.addrSize = 1 << t
	}
	f.Mask = info&0x10 != 0
	f.KeyB = info&0x20 != 0
}
