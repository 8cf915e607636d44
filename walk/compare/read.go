package compare

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Limits on the JSON of walks. Reading a document beyond one of them fails.
const (
	// maxOutlineFrames is the number of frames, threads and inlines of a document that are kept:
	// enough for a stack of walk.MaxFrames frames, and for more threads than dumps have. Each takes
	// about 120 bytes of memory, but "{}" in a document only 2.
	maxOutlineFrames = 4 << 20
	// maxToken is the maximum length of a string in a document.
	maxToken = 16 << 20
	// maxNames is the maximum total size in bytes of a document's distinct names.
	maxNames = 256 << 20
)

// Reader reads the JSON of walks in rust-minidump's schema: one document, or several as JSON
// Lines.
type Reader struct {
	path    string
	dec     *jsontext.Decoder
	options json.Options
	names   map[string]string // each name once
	bytes   int               // total size of names
	kept    int               // frames, threads and inlines of the document so far
}

// NewReader returns a Reader of r. path is used in messages.
func NewReader(r io.Reader, path string) *Reader {
	in := &tokenLimit{r: bufio.NewReader(r)}
	d := &Reader{path: path, dec: jsontext.NewDecoder(in, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))}
	in.dec = d.dec
	d.options = json.WithUnmarshalers(json.JoinUnmarshalers(
		json.UnmarshalFromFunc(d.thread), json.UnmarshalFromFunc(d.frame), json.UnmarshalFromFunc(d.inline)))
	return d
}

// tokenLimit is a reader that fails when a token of its decoder is too long.
type tokenLimit struct {
	r    io.Reader
	dec  *jsontext.Decoder
	read int64
}

// limit names the limit that a document exceeds.
type limit string

func (l limit) Error() string { return string(l) }

var (
	errToken  = limit(fmt.Sprintf("a value of more than %d bytes", maxToken))
	errFrames = limit(fmt.Sprintf("more than %d threads, frames and inlines", maxOutlineFrames))
	errNames  = limit(fmt.Sprintf("more than %d bytes of names", maxNames))
)

func (l *tokenLimit) Read(p []byte) (int, error) {
	if l.read-l.dec.InputOffset() > maxToken {
		return 0, errToken
	}
	n, err := l.r.Read(p)
	l.read += int64(n)
	return n, err
}

// Error says what is wrong with the JSON of a walk, and where.
type Error struct {
	Path   string
	Offset int64 // in bytes
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("%s:%#x: %v", e.Path, e.Offset, e.Err) }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// jsonDocument is the part of a document that is read; the decoder skips the rest.
type jsonDocument struct {
	Threads  *[]outlineThread `json:"threads"`
	Crashing struct {
		Index *uint32 `json:"threads_index"`
	} `json:"crashing_thread"` // its frames are among those of threads
	Symtool struct {
		Dump string `json:"dump"`
	} `json:"symtool"`
}

// next returns the next document's outline, and io.EOF after the last one. Any other error is an
// *Error, after which next must not be called again.
func (d *Reader) next() (*outline, error) {
	d.names, d.bytes, d.kept = map[string]string{}, 0, 0
	var doc jsonDocument
	err := json.UnmarshalDecode(d.dec, &doc, d.options)
	switch {
	case err == io.EOF:
		return nil, io.EOF
	case err != nil:
		return nil, d.wrap(err)
	case doc.Threads == nil:
		return nil, d.fail(errors.New("the document has no \"threads\": want the JSON of a walk"))
	}
	o := &outline{Dump: doc.Symtool.Dump, Crashing: -1, Threads: *doc.Threads}
	if i := doc.Crashing.Index; i != nil && int(*i) < len(o.Threads) {
		o.Crashing = int(*i)
	}
	return o, nil
}

// fail adds the current offset to an error.
func (d *Reader) fail(err error) error { return &Error{d.path, d.dec.InputOffset(), err} }

// wrap adds the offset to the decoder's error.
func (d *Reader) wrap(err error) error {
	var over limit
	var syntax *jsontext.SyntacticError
	var misfit *json.SemanticError
	switch {
	case errors.As(err, &over):
		return d.fail(over)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return d.fail(errors.New("the document ends in the middle"))
	case errors.As(err, &syntax):
		return &Error{d.path, syntax.ByteOffset, syntax.Err}
	case errors.As(err, &misfit):
		return &Error{d.path, misfit.ByteOffset, describe(misfit)}
	}
	return d.fail(err)
}

// describe returns an error that says which value was expected and what was found.
func describe(e *json.SemanticError) error {
	found := kindNames[e.JSONKind]
	if e.JSONPointer == "" {
		return fmt.Errorf("found %s, want the JSON of a walk, an object", found)
	}
	if e.JSONValue != nil {
		found = fmt.Sprintf("%s %.40s", found, e.JSONValue)
	}
	return fmt.Errorf("want %s for %q, found %s", wanted[e.GoType.Kind()], e.JSONPointer, found)
}

var kindNames = map[jsontext.Kind]string{
	jsontext.KindBeginObject: "an object", jsontext.KindBeginArray: "an array", jsontext.KindString: "a string",
	jsontext.KindNumber: "a number", jsontext.KindTrue: "a boolean", jsontext.KindFalse: "a boolean",
}

// wanted names the kind of value that a field takes.
var wanted = map[reflect.Kind]string{
	reflect.String: "a string", reflect.Uint32: "a 32-bit number", reflect.Uint64: `an address such as "0x1234"`,
	reflect.Slice: "an array", reflect.Struct: "an object",
}
