package symfmt

import (
	"cmp"
	"fmt"
	"strconv"
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
