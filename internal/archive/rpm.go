package archive

import (
	"encoding/binary"
	"fmt"
	"io"
)

const (
	rpmMagic    = "\xed\xab\xee\xdb"
	rpmLead     = 96
	rpmHeader   = "\x8e\xad\xe8\x01"
	rpmEntry    = 16        // bytes of an index entry in a header
	maxRPMIndex = 1 << 20   // maximum number of entries: a package has a few hundred
	maxRPMStore = 256 << 20 // maximum number of bytes: rpm itself accepts no more
)

// rpm reads an RPM package: a lead, the header of signatures (padded to 8 bytes), the header of the package, and a
// compressed cpio archive.
func (w *walker) rpm(in *input) error {
	if _, err := in.r.Discard(rpmLead); err != nil {
		return err
	}
	for _, align := range []int64{8, 1} {
		if err := skipRPMHeader(in.r, align); err != nil {
			return err
		}
	}
	payload := newInput(in.r, in.chain, in.name, in.depth+1)
	payload.must = true
	w.look(payload)
	return nil
}

func skipRPMHeader(r io.Reader, align int64) error {
	var head [16]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	entries, store := int64(binary.BigEndian.Uint32(head[8:])), int64(binary.BigEndian.Uint32(head[12:]))
	if string(head[:4]) != rpmHeader || entries > maxRPMIndex || store > maxRPMStore {
		return fmt.Errorf("RPM header %x: want %x, at most %d entries and %d bytes", head, rpmHeader, maxRPMIndex, maxRPMStore)
	}
	size := entries*rpmEntry + store
	_, err := io.CopyN(io.Discard, r, (size+align-1)/align*align)
	return err
}
