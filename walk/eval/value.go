package eval

import (
	"encoding/hex"
	"strings"

	"github.com/symtool/symtool/symfmt/vars"
)

// State says what is known about a byte of a value.
type State uint8

const (
	Known       State = iota
	Absent            // optimized out: the program does not have it at this point
	Unavailable       // the program has it, but the dump lacks the memory or the register
)

// Status summarizes the states of a value's bytes.
type Status uint8

const (
	HasValue     Status = iota // at least one byte is known
	OptimizedOut               // no byte is known, and none could be
	NotInDump                  // no byte is known, but another dump could have some
)

var statusNames = [...]string{"value", "optimized_out", "unavailable"}

// String returns the name for machine-readable output.
func (s Status) String() string { return statusNames[s] }

// Value holds the bytes of a variable, or of a part of one.
type Value struct {
	Bytes  []byte  // in memory order; 0 where they are unknown
	States []State // of each byte; nil means that all bytes are known

	// Bits has the known bits of each byte, if pieces of a location end within bytes; otherwise nil.
	Bits []byte

	// Address is the address of the value if InMemory is set.
	Address  uint64
	InMemory bool

	// Axes are the dimensions of an array whose descriptor gives the location of its elements, the outermost in memory
	// first.
	Axes []Axis

	// Pointee is set for an implicit pointer, which is neither in a register nor in memory although its target is
	// known.
	Pointee *Pointee

	// Why says what is missing: for an unavailable value, the register or the address; for an absent one, the reason,
	// if more is known than that it is optimized out.
	Why string
}

// Pointee is the target of an implicit pointer: byte Offset of the value of a variable, or of a
// constant if Var is 0.
type Pointee struct {
	Var    vars.VarID
	Value  Value
	Offset int64
}

// Axis is a dimension of an array: the index of its first element, their number, and the bytes from one to the next.
type Axis struct {
	First       int64
	Count, Step uint64
}

// Known reports whether byte i is known.
func (v *Value) Known(i int) bool { return v.States == nil || v.States[i] == Known }

// Whole reports whether all bytes are known.
func (v *Value) Whole() bool {
	for _, s := range v.States {
		if s != Known {
			return false
		}
	}
	return true
}

// Status summarizes the states of the bytes.
func (v *Value) Status() Status {
	if v.Pointee != nil || v.States == nil {
		return HasValue
	}
	status := OptimizedOut
	for _, s := range v.States {
		switch s {
		case Known:
			return HasValue
		case Unavailable:
			status = NotInDump
		}
	}
	return status
}

// Part returns the size bytes at offset; bytes that the value lacks are unknown.
func (v *Value) Part(offset, size int) Value {
	part := Value{Why: v.Why}
	if offset < 0 || size < 0 || offset > len(v.Bytes) || size > len(v.Bytes)-offset {
		return missing(max(size, 0), Absent, "beyond the end of the value")
	}
	part.Bytes = v.Bytes[offset : offset+size : offset+size]
	if v.States != nil {
		part.States = v.States[offset : offset+size : offset+size]
	}
	if v.Bits != nil {
		part.Bits = v.Bits[offset : offset+size : offset+size]
	}
	if v.InMemory {
		part.InMemory, part.Address = true, v.Address+uint64(offset)
	}
	if offset == 0 && size == len(v.Bytes) {
		part.Pointee = v.Pointee
	}
	return part
}

// Hex returns the bytes in hexadecimal, with ".." for each that is unknown.
func (v *Value) Hex() string {
	if v.States == nil {
		return hex.EncodeToString(v.Bytes)
	}
	var b strings.Builder
	for i, c := range v.Bytes {
		if v.States[i] != Known {
			b.WriteString("..")
		} else {
			b.WriteString(hex.EncodeToString([]byte{c}))
		}
	}
	return b.String()
}

// missing returns a value of size bytes, or of MaxValue bytes if size is larger. All of them are unknown.
func missing(size int, s State, why string) Value {
	size = min(size, MaxValue)
	v := Value{Bytes: make([]byte, size), States: make([]State, size), Why: why}
	for i := range v.States {
		v.States[i] = s
	}
	return v
}
