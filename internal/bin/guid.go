package bin

import "encoding/binary"

// GUIDSize is the size of a GUID in bytes.
const GUIDSize = 16

// SwapGUID converts the first 16 bytes of a build-id, or a GUID as stored in a file,
// to the bytes of a GUID as printed, and back: its first three fields are numbers in
// byte order order. Short ids are padded with zeros.
func SwapGUID(id []byte, order binary.ByteOrder) (g [GUIDSize]byte) {
	copy(g[:], id)
	binary.BigEndian.PutUint32(g[:], order.Uint32(g[:]))
	binary.BigEndian.PutUint16(g[4:], order.Uint16(g[4:]))
	binary.BigEndian.PutUint16(g[6:], order.Uint16(g[6:]))
	return g
}
