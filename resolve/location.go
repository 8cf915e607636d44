package resolve

import (
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// Source is the kind of record in which an address was found.
type Source uint8

// The sources.
const (
	None   Source = iota
	Func          // a FUNC record that contains the address
	Public        // the nearest PUBLIC record before it
)

// Frame is a function at an address: an inlined one, or the FUNC itself.
type Frame struct {
	Function string
	File     string // "" if it is unknown
	Line     uint32 // 0 if it is unknown
	Inlined  bool
}

// Linkage returns the name by which the linker knows the function, if the symbols have it, that
// is if Function is mangled. Otherwise it returns "".
func (f *Frame) Linkage() string {
	for _, prefix := range []string{"_Z", "_R", "__Z", "?"} { // Itanium C++, Rust v0, C++ of Mach-O, MSVC
		if rest, ok := strings.CutPrefix(f.Function, prefix); ok && rest != "" && !strings.ContainsAny(rest, " (") {
			return f.Function
		}
	}
	return ""
}

// Location is the symbol at an address.
type Location struct {
	Source    Source
	Start     symfmt.RVA // of the FUNC or PUBLIC
	Offset    uint64     // of the address from Start, in bytes, also for inlined Frames
	Size      uint64     // size of the FUNC in bytes
	ParamSize uint64     // bytes of arguments on the stack
	Multiple  bool       // several symbols share the code

	// Guess means that the PUBLIC may end before the address: see
	// Symbols.Nearest.
	Guess bool

	// Frames are the functions at the address, innermost first.
	Frames []Frame
}

// sure clears a guess, and reports whether it was not one.
func (at *Location) sure() bool {
	if at.Guess {
		*at = Location{Frames: at.Frames[:0]}
		return false
	}
	return true
}
