package sframe

import "encoding/binary"

// v2 is version 2, of binutils 2.41, with what its errata added in 2.45: the
// flag PCRelative and s390x, and later rows without a return address.
var v2 = format{name: "SFRAME_VERSION_2", flags: Sorted | FramePointer | PCRelative, fdeSize: 20, fde: fde2}

func fde2(b, rows []byte, order binary.ByteOrder, abi *abi) (FDE, int64, error) {
	f, start, err := fde1(b, rows, order, abi)
	f.Rep = b[17]
	if f.Mask {
		f.Block = uint32(f.Rep)
	}
	return f, start, err
}
