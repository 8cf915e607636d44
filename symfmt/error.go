package symfmt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

// Problem is damage that cost one record or unit of an input while the rest was kept.
// Readers of all formats report it; Err holds the place, usually as a *SyntaxError.
type Problem = bin.Problem

// SyntaxError is a bad record of a symbol file, or a record that does not fit
// those before it.
type SyntaxError struct {
	File   string // path as given by the user; may be empty
	Line   int    // from 1
	Col    int    // in bytes, from 1; of the field that is wrong
	Record string // "FUNC", "STACK CFI INIT", "line record"; "" for an unrecognised line
	Msg    string // what was found and what was expected, lower case
}

// Error returns a message such as "a.sym:812:6: INLINE: origin 40 is not declared".
func (e *SyntaxError) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	b.WriteString(strconv.Itoa(e.Line))
	b.WriteByte(':')
	b.WriteString(strconv.Itoa(e.Col))
	b.WriteString(": ")
	if e.Record != "" {
		b.WriteString(e.Record)
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	return b.String()
}

// maxQuoted is the length at which a message cuts a bad field: enough to find
// it, without megabytes of damage on a terminal.
const maxQuoted = 40

// quoted prints as messages show text: shortened, with control characters
// escaped.
type quoted []byte

func (q quoted) String() string {
	if len(q) > maxQuoted {
		return fmt.Sprintf("%q...", []byte(q[:maxQuoted]))
	}
	return fmt.Sprintf("%q", []byte(q))
}
