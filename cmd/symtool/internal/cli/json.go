package cli

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/text"
)

// Absence is a module without symbols, in a document.
type Absence struct {
	Name string `json:"name"`
	ID   string `json:"id"`
}

// ProblemSummary is a problem of a file, in a document.
type ProblemSummary struct {
	File    string `json:"file,omitempty"`
	Section string `json:"section,omitempty"`
	Offset  string `json:"offset,omitempty"` // hexadecimal, in the section or the file
	Message string `json:"message"`
	Lost    string `json:"lost,omitempty"`
}

// NewProblemSummary returns p as a ProblemSummary.
func NewProblemSummary(p bin.Problem) ProblemSummary {
	s := ProblemSummary{Message: p.Err.Error(), Lost: p.Lost}
	var e *bin.Error
	if errors.As(p.Err, &e) {
		s.File, s.Section, s.Offset = e.File, e.Section, "0x"+strconv.FormatUint(e.Offset, 16)
		s.Message = (&bin.Error{Msg: e.Msg, Err: e.Err}).Error()
	}
	return s
}

// EncodeJSON returns v as indented JSON. It uses \u escapes for every character that text.Printable would change.
func EncodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	err := PrintJSON(&b, v)
	return b.Bytes(), err
}

// PrintJSON writes v in the same form as EncodeJSON, but in pieces: encoding/json holds a whole document twice
// before it writes any of it.
func PrintJSON(w io.Writer, v any) error {
	e := &escapingWriter{w}
	err := json.MarshalWrite(e, v, jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	_, err = e.Write([]byte("\n"))
	return err
}

// JSONList is a list in a document. Its elements are made as they are printed: a core has a hundred thousand
// mappings.
type JSONList[T any] struct {
	n  int
	at func(i int) T
}

// NewJSONList returns a list of n elements, or nil if there are none.
func NewJSONList[T any](n int, at func(i int) T) *JSONList[T] {
	if n == 0 {
		return nil
	}
	return &JSONList[T]{n, at}
}

// MarshalJSONTo implements json.MarshalerTo.
func (l *JSONList[T]) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for i := range l.n {
		if err := json.MarshalEncode(e, l.at(i)); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}

// escapingWriter escapes unprintable characters in JSON (text.EscapeJSON). Each Write must consist of whole
// characters.
type escapingWriter struct{ w io.Writer }

// escapedPiece is roughly how many bytes are escaped at once.
const escapedPiece = 64 << 10

func (e *escapingWriter) Write(b []byte) (int, error) {
	for done := 0; done < len(b); {
		end := min(done+escapedPiece, len(b))
		for end < len(b) && !utf8.RuneStart(b[end]) {
			end++
		}
		if _, err := e.w.Write(text.EscapeJSON(b[done:end])); err != nil {
			return done, err
		}
		done = end
	}
	return len(b), nil
}
