package walk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// Limits on the JSON of walks. A document beyond one of them ends in an error.
const (
	// maxOutlineFrames is how many frames, threads and inlines of a document are
	// kept: those of a stack of MaxFrames, and many more threads than dumps have.
	// One takes about 120 bytes, whereas "{}" in a document takes 2.
	maxOutlineFrames = 4 << 20
	// maxToken is how long a text in a document may be: longer than any name.
	maxToken = 16 << 20
	// maxNames is how many bytes the different names of a document may have.
	maxNames = 256 << 20
	// maxDepth is how deep what is passed over may be nested.
	maxDepth = 1000
)

// OutlineReader reads the JSON of walks: a document, or one after another as JSON
// Lines have them, in rust-minidump's schema.
type OutlineReader struct {
	path  string
	dec   *json.Decoder
	in    *tokenLimit
	names map[string]string // texts, each once
	bytes int               // in names
	kept  int               // frames, threads and inlines of the document
}

// NewOutlineReader returns a reader. The path is for messages.
func NewOutlineReader(r io.Reader, path string) *OutlineReader {
	in := &tokenLimit{r: bufio.NewReader(r)}
	dec := json.NewDecoder(in)
	dec.UseNumber()
	return &OutlineReader{path: path, dec: dec, in: in}
}

// tokenLimit is a reader that fails when a token takes too much.
type tokenLimit struct {
	r     io.Reader
	read  int64
	limit int64
}

var errToken = fmt.Errorf("a text or number of over %d bytes", maxToken)

func (l *tokenLimit) Read(p []byte) (int, error) {
	if l.read > l.limit {
		return 0, errToken
	}
	n, err := l.r.Read(p)
	l.read += int64(n)
	return n, err
}

// OutlineError tells what is wrong with the JSON of a walk, and where.
type OutlineError struct {
	Path   string
	Offset int64 // in bytes
	Err    error
}

func (e *OutlineError) Error() string { return fmt.Sprintf("%s:%#x: %v", e.Path, e.Offset, e.Err) }

// Unwrap returns what is wrong.
func (e *OutlineError) Unwrap() error { return e.Err }

func (d *OutlineReader) fail(format string, args ...any) error {
	return &OutlineError{d.path, d.dec.InputOffset(), fmt.Errorf(format, args...)}
}

// wrap gives the decoder's error a place.
func (d *OutlineReader) wrap(err error) error {
	offset := d.dec.InputOffset()
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		offset = syntax.Offset
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = errors.New("the document ends in the middle")
	}
	return &OutlineError{d.path, offset, err}
}

// Next returns the next document's outline. Behind the last one the error is
// io.EOF; any other is an *OutlineError, behind which there is nothing to read.
func (d *OutlineReader) Next() (*Outline, error) {
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
func (d *OutlineReader) token() (json.Token, error) {
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

// members calls f for each key of an object whose beginning was read; f reads the
// value.
func (d *OutlineReader) members(f func(key string) error) error {
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
func (d *OutlineReader) object(what string, f func(key string) error) error {
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
func (d *OutlineReader) list(what string, begin func() error, f func(key string) error) error {
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

// skip passes over a value.
func (d *OutlineReader) skip() error {
	depth := 0
	for {
		tok, err := d.token()
		if err != nil {
			return err
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			if depth++; depth > maxDepth {
				return d.fail("nested deeper than %d", maxDepth)
			}
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// text reads a text; null is "".
func (d *OutlineReader) text(what string, to *string) error {
	tok, err := d.token()
	if err != nil || tok == nil {
		return err
	}
	s, ok := tok.(string)
	if !ok {
		return d.value("a text", what, tok)
	}
	if known, ok := d.names[s]; ok {
		s = known
	} else if d.bytes += len(s); d.bytes > maxNames {
		return d.fail("more than %d bytes of names", maxNames)
	} else {
		d.names[s] = s
	}
	*to = s
	return nil
}

// value is the error of a value of the wrong kind.
func (d *OutlineReader) value(want, what string, tok json.Token) error {
	if _, opened := tok.(json.Delim); opened {
		return d.fail("want %s for %q, found %s", want, what, kindOf(tok))
	}
	return d.fail("want %s for %q, found %s %.40q", want, what, kindOf(tok), fmt.Sprint(tok))
}

// number reads a number without sign; null leaves what was there.
func (d *OutlineReader) number(what string, to *uint32) (known bool, err error) {
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

// address reads a number in hexadecimal, which is a text; null is 0.
func (d *OutlineReader) address(what string, to *uint64) error {
	tok, err := d.token()
	if err != nil || tok == nil {
		return err
	}
	s, _ := tok.(string)
	digits, ok := strings.CutPrefix(s, "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return d.value("an address such as \"0x1234\"", what, tok)
	}
	*to = v
	return nil
}

func (d *OutlineReader) threads() (all []OutlineThread, err error) {
	var t *OutlineThread
	err = d.list("threads", func() error {
		all = append(all, OutlineThread{})
		t = &all[len(all)-1]
		return nil
	}, func(key string) (err error) {
		switch key {
		case "thread_id":
			t.HasID, err = d.number(key, &t.ID)
		case "thread_name":
			err = d.text(key, &t.Name)
		case "frames":
			t.Frames, err = d.frames()
		default:
			err = d.skip()
		}
		return err
	})
	return all, err
}

func (d *OutlineReader) frames() (all []OutlineFrame, err error) {
	var f *OutlineFrame
	err = d.list("frames", func() error {
		all = append(all, OutlineFrame{})
		f = &all[len(all)-1]
		return nil
	}, func(key string) error { return d.frame(f, key) })
	return slices.Clip(all), err
}

func (d *OutlineReader) frame(f *OutlineFrame, key string) (err error) {
	switch key {
	case "offset":
		err = d.address(key, &f.Addr)
	case "module_offset":
		err = d.address(key, &f.Offset)
	case "module":
		err = d.text(key, &f.Module)
	case "function":
		err = d.text(key, &f.Function)
	case "file":
		err = d.text(key, &f.File)
	case "line":
		_, err = d.number(key, &f.Line)
	case "trust":
		var name string
		err = d.text(key, &name)
		f.Trust = trustCalled(name)
	case "inlines":
		f.Inlines, err = d.inlines()
	case "symtool":
		err = d.object(key, func(key string) error {
			if key == "sp" {
				return d.address(key, &f.SP)
			}
			return d.skip()
		})
	default:
		err = d.skip()
	}
	return err
}

// trustCalled is the trust with a name; NoTrust if there is none.
func trustCalled(name string) Trust {
	return Trust(max(0, slices.Index(trustNames[:], name)))
}

func (d *OutlineReader) inlines() (all []OutlineInline, err error) {
	var x *OutlineInline
	err = d.list("inlines", func() error {
		all = append(all, OutlineInline{})
		x = &all[len(all)-1]
		return nil
	}, func(key string) (err error) {
		switch key {
		case "function":
			err = d.text(key, &x.Function)
		case "file":
			err = d.text(key, &x.File)
		case "line":
			_, err = d.number(key, &x.Line)
		default:
			err = d.skip()
		}
		return err
	})
	return all, err
}

// crashing reads which thread crashed; its frames are those of threads.
func (d *OutlineReader) crashing() (int, error) {
	index := -1
	err := d.object("crashing_thread", func(key string) error {
		if key != "threads_index" {
			return d.skip()
		}
		var n uint32
		known, err := d.number(key, &n)
		if known {
			index = int(n)
		}
		return err
	})
	return index, err
}

func (d *OutlineReader) dumpName() (name string, err error) {
	err = d.object("symtool", func(key string) error {
		if key == "dump" {
			return d.text(key, &name)
		}
		return d.skip()
	})
	return name, err
}
