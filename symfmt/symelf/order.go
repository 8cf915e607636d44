package symelf

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/arch"
)

// orderOf returns the byte order: the option's, otherwise the one in which the
// build id of INFO CODE_ID yields MODULE's id, otherwise the CPU's usual one.
func orderOf(m *symfmt.Module, a *arch.Arch, o Options) byteOrder {
	switch {
	case o.Order == Little:
		return binary.LittleEndian
	case o.Order == Big:
		return binary.BigEndian
	}
	if id := codeID(m); a.BothOrders && len(id) >= guidSize {
		little, big := bin.SwapGUID(id, binary.LittleEndian), bin.SwapGUID(id, binary.BigEndian)
		switch own := guidBytes(m.ID); {
		case own == nil || little == big:
		case [guidSize]byte(own) == little:
			return binary.LittleEndian
		case [guidSize]byte(own) == big:
			return binary.BigEndian
		}
	}
	return usualOrder(a)
}

const guidSize = bin.GUIDSize

// codeID returns the build id of INFO CODE_ID, or nil. In a Windows module, CODE_ID is
// not a build id but a time and a size.
func codeID(m *symfmt.Module) []byte {
	if m.OS == "windows" {
		return nil
	}
	for _, in := range m.Infos {
		if id, err := hex.DecodeString(in.CodeID()); err == nil && len(id) > 0 && len(id) <= 64 {
			return id
		}
	}
	return nil
}

// guidBytes returns the 16 bytes of the GUID in a MODULE's id in the order written,
// or nil if there are too few digits.
func guidBytes(id string) []byte {
	if len(id) < 2*guidSize {
		return nil
	}
	b, err := hex.DecodeString(id[:2*guidSize])
	if err != nil {
		return nil
	}
	return b
}

// buildID returns the contents of the note: the CODE_ID, otherwise the bytes of
// MODULE's GUID, or nil.
func buildID(m *symfmt.Module, order byteOrder) []byte {
	if id := codeID(m); id != nil {
		return id
	}
	own := guidBytes(m.ID)
	if own == nil || [guidSize]byte(own) == [guidSize]byte{} {
		return nil
	}
	g := bin.SwapGUID(own, order)
	return g[:]
}

func usualOrder(a *arch.Arch) byteOrder {
	if a.Order == binary.ByteOrder(binary.BigEndian) {
		return binary.BigEndian
	}
	return binary.LittleEndian
}
