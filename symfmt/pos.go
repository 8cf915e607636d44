package symfmt

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

// Pos is a place in a symbol file.
type Pos struct {
	Line int // from 1; in bytes, after a byte order mark
	Col  int // in bytes, from 1; after a byte order mark
}

// String returns a text such as "812:6".
func (p Pos) String() string { return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Col) }

func comparePos(a, b Pos) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// Pos returns the place of the record's first byte.
func (r *Record) Pos() Pos { return Pos{r.line, r.field(0) + 1} }

// FieldPos returns the place of field i, counted as in the text: field 0 is the
// record's word (in a line record, its address), and the words of STACK CFI INIT are
// three fields. For a missing field, it returns the end of the line. Finding a field
// costs a scan of the line.
func (r *Record) FieldPos(i int) Pos { return Pos{r.line, r.field(i) + 1} }

// Field returns field i as it stands in the text, or nil if it is missing. It
// is valid until the next record is read.
func (r *Record) Field(i int) []byte {
	start := r.field(i)
	end := start
	for end < len(r.text) && !isBlank(r.text[end]) {
		end++
	}
	if start == end {
		return nil
	}
	return r.text[start:end]
}

// Text returns the line as it stands in the file, without its end. It is valid until
// the next record is read.
func (r *Record) Text() []byte { return r.text }

// errorf returns an error at field i.
func (r *Record) errorf(i int, format string, args ...any) *SyntaxError {
	p := r.FieldPos(i)
	return &SyntaxError{
		File: r.file, Line: p.Line, Col: p.Col,
		Record: r.Kind.String(), Msg: fmt.Sprintf(format, args...),
	}
}

// field returns the start of field i.
func (r *Record) field(i int) int {
	at := skipBlanks(r.text, 0)
	for ; i > 0; i-- {
		for at < len(r.text) && !isBlank(r.text[at]) {
			at++
		}
		at = skipBlanks(r.text, at)
	}
	return at
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func skipBlanks(b []byte, i int) int {
	for i < len(b) && isBlank(b[i]) {
		i++
	}
	return i
}

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
