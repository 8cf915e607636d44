package symjson

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/symtool/symtool/internal/text"
)

func syntaxError(err error) (*jsontext.SyntacticError, bool) {
	var syntax *jsontext.SyntacticError
	ok := errors.As(err, &syntax)
	return syntax, ok
}

func quoted(b []byte) string { return strconv.Quote(shorten(string(b[:min(len(b), maxQuoted+1)]))) }

func tooLong(n int64) string { return fmt.Sprintf("%d bytes, want at most %d", n, maxRecord) }

// wrong reads a value of the wrong kind and returns its fault.
func (d *decoder) wrong(want string) error {
	switch d.dec.PeekKind() {
	case '{', '[':
		what := describe([]byte{byte(d.dec.PeekKind())})
		if err := d.dec.SkipValue(); err != nil {
			return err
		}
		return d.fault(-1, "found %s, want %s", what, want)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return err
	}
	return d.fault(-1, "found %s, want %s", describe(v), want)
}

// key reads the name of a field; it is valid until the next value.
func (d *decoder) key() ([]byte, error) {
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	return d.unquote(v), nil
}

// unquote returns the value of a JSON string that has been read.
func (d *decoder) unquote(v []byte) []byte {
	if jsontext.Kind(v[0]) == '"' && bytes.IndexByte(v, '\\') < 0 {
		return v[1 : len(v)-1]
	}
	d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], v)
	return d.scratch
}

// text reads a string; it is valid until the next value.
func (d *decoder) text() ([]byte, error) {
	if d.dec.PeekKind() != '"' {
		return nil, d.wrong("a string")
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	return d.unquote(v), nil
}

func (d *decoder) flag() (bool, error) {
	switch d.dec.PeekKind() {
	case 't', 'f':
		t, err := d.dec.ReadToken()
		if err != nil {
			return false, err
		}
		return t.Bool(), nil
	}
	return false, d.wrong("true or false")
}

// number reads a number of 64 bits.
func (d *decoder) number() (uint64, error) {
	switch d.dec.PeekKind() {
	case '{', '[':
		return 0, d.wrong(wantNumber)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return 0, err
	}
	return d.numberOf(v, -1)
}

// number32 reads a number of 32 bits.
func (d *decoder) number32() (uint32, error) {
	if d.dec.PeekKind() != '0' {
		return 0, d.wrong("a number of 0 or more")
	}
	v, err := d.number()
	if err == nil && v > math.MaxUint32 {
		return 0, d.fault(-1, "found %d, want at most %d", v, uint32(math.MaxUint32))
	}
	return uint32(v), err
}

const wantNumber = `a number of 0 or more, or "0x" and hexadecimal digits`

// numberOf returns the number in a JSON value: element i of the last value read
// or, if i is negative, that value itself.
func (d *decoder) numberOf(v []byte, i int) (uint64, error) {
	if len(v) <= 15 { // below maxNumber
		n := uint64(0)
		for j, c := range v {
			if c -= '0'; c > 9 {
				break
			}
			if n = n*10 + uint64(c); j == len(v)-1 {
				return n, nil
			}
		}
	}
	text := v
	if v[0] == '"' {
		text = d.unquote(v)
	}
	n, err := slowNumber(string(text), v[0] == '"')
	if err != nil {
		return 0, d.fault(i, "found %s, want %s", describe(v), wantNumber)
	}
	if n > maxNumber && v[0] != '"' {
		d.note("number", "", func() error {
			return d.fault(i, "%s is over 2^53 and may have been rounded: want a string, %q", describe(v), fmt.Sprintf("%#x", n))
		})
	}
	return n, nil
}

// slowNumber parses strings of hexadecimal digits, and the forms in which
// programs that have only doubles write numbers: 4096.0, 1e3.
func slowNumber(v string, isString bool) (uint64, error) {
	if isString {
		hex, ok := strings.CutPrefix(v, "0x")
		if !ok || len(hex) > 16 {
			return 0, strconv.ErrSyntax
		}
		return strconv.ParseUint(hex, 16, 64)
	}
	if n, err := strconv.ParseUint(v, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || f < 0 || f >= 1<<64 || f != math.Trunc(f) {
		return 0, strconv.ErrSyntax
	}
	return uint64(f), nil
}

// signed reads an integer.
func (d *decoder) signed() (int64, error) {
	if d.dec.PeekKind() != '0' {
		return 0, d.wrong("an integer")
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return 0, err
	}
	if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(string(v), 64); err == nil && math.Abs(f) <= maxNumber && f == math.Trunc(f) {
		return int64(f), nil
	}
	return 0, d.fault(-1, "found %s, want an integer of 64 bits", describe(v))
}

// unbase64 decodes the bytes of a string that is not valid UTF-8; like, if
// non-nil, is the string with U+FFFD for each invalid byte.
func (d *decoder) unbase64(i int, coded, like []byte) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(string(coded))
	if err != nil {
		return nil, d.fault(i, "found %s, want base64", quoted(coded))
	}
	if like != nil && lossy(raw) != string(like) {
		d.note("bytes", "", func() error {
			return d.fault(i, "the bytes %s differ from the string %s beside them: the bytes count",
				text.Printable(strconv.Quote(shorten(string(raw)))), quoted(like))
		})
	}
	return raw, nil
}

// lossy returns bytes as UTF-8: each invalid one becomes U+FFFD.
func lossy(raw []byte) string { return string([]rune(string(raw))) }

// elements reads a list of scalars that is known to be valid JSON.
type elements struct {
	rest []byte
	n    int // number of elements read
}

func elementsOf(list []byte) elements { return elements{rest: list[1:]} }

// next returns the next element, or nil at the end. For a list or an object it
// returns the first byte only, and reading cannot continue.
func (e *elements) next() []byte {
	i := 0
	for e.rest[i] == ' ' || e.rest[i] == ',' || e.rest[i] == '\n' || e.rest[i] == '\t' || e.rest[i] == '\r' {
		i++
	}
	start := i
	switch e.rest[i] {
	case ']':
		return nil
	case '{', '[':
		e.n++
		v := e.rest[i : i+1]
		e.rest = []byte("]")
		return v
	case '"':
		for i++; e.rest[i] != '"'; i++ {
			if e.rest[i] == '\\' {
				i++
			}
		}
		i++
	default:
		for c := e.rest[i]; c != ',' && c != ']' && c > ' '; c = e.rest[i] {
			i++
		}
	}
	e.n++
	v := e.rest[start:i]
	e.rest = e.rest[i:]
	return v
}
