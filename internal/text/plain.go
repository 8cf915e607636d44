package text

import (
	"encoding/binary"
	"unsafe"
)

// Plain returns how many bytes at the beginning of name are ASCII and not control characters: all,
// mostly. It looks at eight at a time, as a program has a hundred megabytes of names, which are
// looked at when they are made and when they are written.
func Plain(name []byte) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; len(name)-i >= 8; i += 8 {
		w := binary.LittleEndian.Uint64(name[i:])
		// In turn: bytes from 0x80 on, 0x7f, bytes below 0x20. Where a carry makes a byte look like
		// one of them, the byte below it is one.
		if (w|(w+ones)|(w-' '*ones)&^w)&high != 0 {
			break
		}
	}
	for ; i < len(name); i++ {
		if name[i] < ' ' || name[i] > '~' {
			return i
		}
	}
	return i
}

// PlainString is Plain of a string.
func PlainString(name string) int { return Plain(unsafe.Slice(unsafe.StringData(name), len(name))) }
