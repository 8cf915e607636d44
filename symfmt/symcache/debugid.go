package symcache

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
)

const (
	debugIDSize = 32
	uuidDigits  = 32 // of 16 bytes
	pdb20Digits = 8  // of a time stamp
	debugIDAge  = 16 // offset
	debugIDType = 31 // offset
	isPDB20     = 1
)

// encodeDebugID encodes a MODULE's id, which is a UUID or a PDB 2.0 time stamp
// followed by the age, for a header. It reports whether the id has this form.
func encodeDebugID(id string, order binary.ByteOrder) (b [debugIDSize]byte, ok bool) {
	digits := uuidDigits
	if len(id) > pdb20Digits && len(id) <= 2*pdb20Digits {
		digits = pdb20Digits
		b[debugIDType] = isPDB20
	}
	if len(id) <= digits {
		return [debugIDSize]byte{}, false
	}
	_, err := hex.Decode(b[:], []byte(id[:digits]))
	age, ageErr := strconv.ParseUint(id[digits:], 16, 32)
	if err != nil || ageErr != nil {
		return [debugIDSize]byte{}, false
	}
	order.PutUint32(b[debugIDAge:], uint32(age))
	return b, true
}

// decodeDebugID returns the MODULE id for the id in a header.
func decodeDebugID(b []byte, order binary.ByteOrder) string {
	digits := uuidDigits
	if b[debugIDType] == isPDB20 {
		digits = pdb20Digits
	}
	return fmt.Sprintf("%X%X", b[:digits/2], order.Uint32(b[debugIDAge:]))
}
