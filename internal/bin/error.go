// Package bin reads binary sections: a cursor that knows its position and keeps
// its first error, and the two forms in which damage is reported, Error and
// Problem. The format packages give these types public names by aliases.
package bin

import (
	"errors"
	"fmt"
	"io/fs"
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

// Bare returns the message of err without the file, for callers that have
// already named it.
func Bare(err error, file string) string {
	if e, ok := err.(*Error); ok && e.File == file {
		bare := *e
		bare.File = ""
		return bare.Error()
	}
	return err.Error()
}

// WithoutPath drops the operation and the path from a file system error, for callers that name the file in their
// own way.
func WithoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

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
