package sframe

import "encoding/binary"

// v1 is version 1, of binutils 2.40: FDEs of 17 bytes, and no size of the block
// that PCMASK repeats.
var v1 = format{name: "SFRAME_VERSION_1", flags: Sorted | FramePointer, fdeSize: 17, fde: fde1}

func fde1(b, _ []byte, order binary.ByteOrder, abi *abi) (FDE, int64, error) {
	f := FDE{Size: order.Uint32(b[4:]), rows: order.Uint32(b[8:]), NumRows: order.Uint32(b[12:])}
	f.setInfo(b[16])
	if f.Mask {
		f.Block = abi.v1Block
	}
	return f, int64(int32(order.Uint32(b))), nil
}

// setInfo takes what all versions have in the info byte (2.3.1).
func (f *FDE) setInfo(info uint8) {
	f.Info = info
	if t := info & 15; t < 3 {
		f.addrSize = 1 << t
	}
	f.Mask = info&0x10 != 0
	f.KeyB = info&0x20 != 0
}
