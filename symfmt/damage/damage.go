// Package damage defines how readers of all formats report damage to their input: an Error is damage at a known place,
// and a Problem is damage that cost one unit of the input while the rest was kept.
package damage

import (
	"fmt"
	"strings"
)

// Error is damage at a known place of an input.
type Error struct {
	File    string // path as the user gave it; may be empty
	Section string // ".debug_info"; empty if Offset is from the start of the file
	Offset  uint64 // in bytes, from the start of Section's (uncompressed) contents
	Msg     string // what was found and what was expected, lower case
	Err     error  // cause, if any
	Kind    error  // a sentinel for errors.Is, if any; not in the message
}

// Error returns file, section+offset, message and cause, in this order.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteString(": ")
	}
	if e.Section != "" {
		fmt.Fprintf(&b, "%s+%#x: ", e.Section, e.Offset)
	} else if e.Offset != 0 {
		fmt.Fprintf(&b, "offset %#x: ", e.Offset)
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		if e.Msg != "" {
			b.WriteString(": ")
		}
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Is reports whether target is the kind of e.
func (e *Error) Is(target error) bool { return e.Kind != nil && target == e.Kind }

// Problem is damage that cost one unit of an input (a compilation unit, a line
// program, an FDE) while the rest was kept.
type Problem struct {
	Lost string // what was lost: "unit at 0x1c", "FDE at 0x40 for 0x1139"
	Err  error  // where and why; usually an *Error
}

// String returns the place, the reason and what was lost.
func (p Problem) String() string {
	if p.Lost == "" {
		return p.Err.Error()
	}
	return p.Err.Error() + " (lost: " + p.Lost + ")"
}
