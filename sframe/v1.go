package sframe

import "fmt"

// v1 is version 1, of binutils 2.40: FDEs of 17 bytes, and no size of the block
// that PCMASK repeats.
var v1 = format{name: "SFRAME_VERSION_1", flags: Sorted | FramePointer, fdeSize: 17, fde: fde1}

func fde1(f *FDE, b, rows []byte, abi *abi) error {
	f.Start = uint64(int32(abi.order.Uint32(b)))
	f.Size, f.rows, f.NumRows = abi.order.Uint32(b[4:]), abi.order.Uint32(b[8:]), abi.order.Uint32(b[12:])
	f.setInfo(b[16])
	if f.Mask {
		f.Block = abi.v1Block
	}
	if f.NumRows != 0 && uint64(f.rows) >= uint64(len(rows)) {
		return fmt.Errorf("rows at %#x of the rows' %d bytes", f.rows, len(rows))
	}
	return nil
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
