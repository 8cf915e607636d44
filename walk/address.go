package walk

import "strconv"

// Address is a word that machine-readable output has in hexadecimal.
type Address uint64

// String is "0x1234".
func (a Address) String() string { return "0x" + strconv.FormatUint(uint64(a), 16) }

// MarshalText makes it a string in JSON.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }
