package logs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// readObject reads a JSON object and the blanks before it. whole is false if the text is not an object, of which
// only a part is then read, or if the object does not end or is too long for a report.
func readObject(r *bufio.Reader) (held []byte, whole bool, err error) {
	var scan objectScanner
	for !scan.other && len(held) <= MostReport {
		if _, err := r.Peek(1); err != nil {
			return held, false, err
		}
		text, _ := r.Peek(r.Buffered())
		n := scan.end(text)
		held = append(held, text[:n]...)
		if _, err := r.Discard(n); err != nil {
			return held, false, err
		}
		if scan.begun && scan.depth == 0 {
			return held, true, nil
		}
	}
	return held, false, nil
}

// objectScanner finds the end of a JSON object.
type objectScanner struct {
	begun, other    bool // other: the text does not begin with an object
	depth           int
	quoted, escaped bool
}

// end returns how many bytes of text belong to the object.
func (s *objectScanner) end(text []byte) int {
	for i, c := range text {
		switch {
		case s.escaped:
			s.escaped = false
		case s.quoted:
			s.quoted, s.escaped = c != '"', c == '\\'
		case c == '{':
			s.begun = true
			s.depth++
		case !s.begun:
			if s.other = !strings.ContainsRune(" \t\r\n", rune(c)); s.other {
				return i
			}
		case c == '"':
			s.quoted = true
		case c == '}':
			if s.depth--; s.depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// member is a member of a JSON object.
type member struct {
	key   string
	value any
}

// appendObject appends a JSON object.
func appendObject(dst []byte, all []member) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // C++ names contain < and >
	for i, m := range all {
		b.WriteByte("{,"[min(i, 1)])
		_ = e.Encode(m.key) // this cannot fail, nor can the calls below
		b.Truncate(b.Len() - 1)
		b.WriteByte(':')
		_ = e.Encode(m.value)
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('}')
	return append(dst, b.Bytes()...)
}

// eachMember calls do for each member of a JSON object, and eachElement for each element of an array, with the
// value and its position in the report. at is the position of the text.
func eachMember(object []byte, at int, do func(key string, value []byte, at int)) error {
	return eachValue(object, at, '{', do)
}

func eachElement(array []byte, at int, do func(value []byte, at int)) error {
	return eachValue(array, at, '[', func(_ string, value []byte, at int) { do(value, at) })
}

func eachValue(text []byte, at int, open json.Delim, do func(key string, value []byte, at int)) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if first, err := d.Token(); err != nil || first != open {
		return fmt.Errorf("want %v, got %v, %v", open, first, err)
	}
	for d.More() {
		var key json.Token
		if open == '{' {
			var err error
			if key, err = d.Token(); err != nil {
				return err
			}
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		name, _ := key.(string)
		do(name, value, at+int(d.InputOffset())-len(value))
	}
	_, err := d.Token()
	return err
}
