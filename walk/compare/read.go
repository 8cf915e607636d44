package compare

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
)

// Limits on the JSON of walks. A document beyond one of them ends in an error.
const (
	// maxOutlineFrames is how many frames, threads and inlines of a document are kept: those of a
	// stack of walk.MaxFrames, and of more threads than dumps have. Each takes about 120 bytes of
	// memory, whereas "{}" in a document takes 2.
	maxOutlineFrames = 4 << 20
	// maxToken is the limit on the length of a text in a document, of a frame, and of a skipped
	// list or object within a list or object.
	maxToken = 16 << 20
	// maxNames is the limit on the bytes of a document's distinct names.
	maxNames = 256 << 20
)

// Reader reads the JSON of walks in rust-minidump's schema: one document, or several as JSON
// Lines.
type Reader struct {
	path  string
	dec   *json.Decoder
	in    *tokenLimit
	names map[string]string // texts, each once
	bytes int               // in names
	raw   json.RawMessage   // a skipped value
	kept  int               // frames, threads and inlines of the document
}

// NewReader returns a reader. The path is for messages.
func NewReader(r io.Reader, path string) *Reader {
	in := &tokenLimit{r: bufio.NewReader(r)}
	dec := json.NewDecoder(in)
	dec.UseNumber()
	return &Reader{path: path, dec: dec, in: in}
}

// tokenLimit is a reader that fails when a token is too long.
type tokenLimit struct {
	r     io.Reader
	read  int64
	limit int64
}

var errToken = fmt.Errorf("a value of over %d bytes", maxToken)

func (l *tokenLimit) Read(p []byte) (int, error) {
	if l.read > l.limit {
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

func (d *Reader) fail(format string, args ...any) error {
	return &Error{d.path, d.dec.InputOffset(), fmt.Errorf(format, args...)}
}

// wrap adds the place to the decoder's error.
func (d *Reader) wrap(err error) error {
	offset := d.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the document ends in the middle")
	}
	return &Error{d.path, offset, err}
}

// Next returns the next document's outline. After the last one the error is io.EOF. Any other error
// is an *Error, and ends the input.
func (d *Reader) Next() (*Outline, error) {
	d.names, d.bytes, d.kept = map[string]string{}, 0, 0
	d.in.limit = d.dec.InputOffset() + maxToken
	tok, err := d.dec.Token()
	if err == io.EOF {
		return nil, io.EOF
	}
	if err != nil {
		return nil, d.wrap(err)
	}
	if tok != json.Delim('{') {
		return nil, d.fail("want the document of a walk, an object, found %s", kindOf(tok))
	}
	o := &Outline{Crashing: -1}
	has := false
	err = d.members(func(key string) (err error) {
		switch key {
		case "threads":
			has = true
			o.Threads, err = d.threads()
		case "crashing_thread":
			o.Crashing, err = d.crashing()
		case "symtool":
			o.Dump, err = d.dumpName()
		default:
			err = d.skip()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if !has {
		return nil, d.fail("the document has no threads: it is not that of a walk")
	}
	if o.Crashing >= len(o.Threads) {
		o.Crashing = -1
	}
	return o, nil
}

// token reads a token, or part of a value.
func (d *Reader) token() (json.Token, error) {
	d.in.limit = d.dec.InputOffset() + maxToken
	tok, err := d.dec.Token()
	if err != nil {
		return nil, d.wrap(err)
	}
	return tok, nil
}

func kindOf(tok json.Token) string {
	switch tok := tok.(type) {
	case nil:
		return "null"
	case json.Delim:
		return map[json.Delim]string{'{': "an object", '[': "a list"}[tok]
	case string:
		return "a text"
	case bool:
		return "a truth value"
	}
	return "a number"
}

// members calls f for each key of an object whose beginning was read; f must read the value.
func (d *Reader) members(f func(key string) error) error {
	for {
		tok, err := d.token()
		if err != nil {
			return err
		}
		key, ok := tok.(string)
		if !ok {
			return nil // the end
		}
		if err := f(key); err != nil {
			return err
		}
	}
}

// object reads an object, or null.
func (d *Reader) object(what string, f func(key string) error) error {
	tok, err := d.token()
	if err != nil || tok == nil {
		return err
	}
	if tok != json.Delim('{') {
		return d.fail("want an object for %q, found %s", what, kindOf(tok))
	}
	return d.members(f)
}

// list reads a list of objects, or null; begin is called for each of them.
func (d *Reader) list(what string, begin func() error, f func(key string) error) error {
	tok, err := d.token()
	if err != nil || tok == nil {
		return err
	}
	if tok != json.Delim('[') {
		return d.fail("want a list for %q, found %s", what, kindOf(tok))
	}
	for {
		tok, err := d.token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim(']'):
			return nil
		case json.Delim('{'):
		default:
			return d.fail("want objects in %q, found %s", what, kindOf(tok))
		}
		if d.kept++; d.kept > maxOutlineFrames {
			return d.fail("more than %d threads, frames and inlines", maxOutlineFrames)
		}
		if err := begin(); err != nil {
			return err
		}
		if err := d.members(f); err != nil {
			return err
		}
	}
}

// skip skips a value: a list or an object one member at a time.
func (d *Reader) skip() error {
	tok, err := d.token()
	if err != nil {
		return err
	}
	if tok != json.Delim('{') && tok != json.Delim('[') {
		return nil
	}
	for d.more() {
		if tok == json.Delim('{') {
			if _, err := d.token(); err != nil {
				return err
			}
		}
		if err := d.decode(&d.raw); err != nil {
			return err
		}
	}
	_, err = d.token()
	return err
}

// more reports whether a list or object goes on.
func (d *Reader) more() bool {
	d.in.limit = d.dec.InputOffset() + maxToken
	return d.dec.More()
}

// decode reads a value of up to maxToken bytes.
func (d *Reader) decode(to any) error {
	d.in.limit = d.dec.InputOffset() + maxToken
	err := d.dec.Decode(to)
	var kind *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &kind):
		return d.fail("want %s for %q, found %s", wanted[kind.Type.Kind()], kind.Field, foundKind(kind.Value))
	}
	return d.wrap(err)
}

// foundKind names a value as encoding/json does in errors: "array", "number -1".
func foundKind(value string) string {
	name, rest, _ := strings.Cut(value, " ")
	for _, x := range [...][2]string{{"array", "a list"}, {"object", "an object"}, {"number", "a number"}, {"string", "a text"}, {"bool", "a truth value"}} {
		if x[0] == name {
			return strings.TrimSpace(fmt.Sprintf("%s %.40s", x[1], rest))
		}
	}
	return value
}

// wanted names the kind of value that a field takes.
var wanted = map[reflect.Kind]string{
	reflect.String: "a text", reflect.Uint32: "a number of 32 bits", reflect.Uint64: `an address such as "0x1234"`,
	reflect.Slice: "a list", reflect.Struct: "an object",
}

// text reads a text; null is "".
func (d *Reader) text(what string, to *string) error {
	tok, err := d.token()
	if err != nil || tok == nil {
		return err
	}
	s, ok := tok.(string)
	if !ok {
		return d.value("a text", what, tok)
	}
	*to = s
	return nil
}

// value returns the error for a value of the wrong kind.
func (d *Reader) value(want, what string, tok json.Token) error {
	if _, opened := tok.(json.Delim); opened {
		return d.fail("want %s for %q, found %s", want, what, kindOf(tok))
	}
	return d.fail("want %s for %q, found %s %.40q", want, what, kindOf(tok), fmt.Sprint(tok))
}

// number reads a number without sign; null leaves the old value.
func (d *Reader) number(what string, to *uint32) (known bool, err error) {
	tok, err := d.token()
	if err != nil || tok == nil {
		return false, err
	}
	n, _ := tok.(json.Number)
	v, err := strconv.ParseUint(string(n), 10, 32)
	if err != nil {
		return false, d.value("a number of 32 bits", what, tok)
	}
	*to = uint32(v)
	return true, nil
}
