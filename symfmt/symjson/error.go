package symjson

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/symtool/symtool/internal/text"
	"github.com/symtool/symtool/symfmt"
)

// Error is damage at a known place.
type Error struct {
	File string // path as the user gave it; may be empty
	Line int    // from 1
	Col  int    // in bytes, from 1; after the fault
	Path string // in jq's syntax: ".funcs[3].lines[0]"; relative to the record in JSON Lines
	Msg  string // what was found and what was expected, lower case
	Err  error  // cause, if any
}

// Error returns a message such as "a.jsonl:12:80: .lines[3]: found a string, want a number".
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		b.WriteByte(':')
	}
	fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Col)
	if e.Path != "" {
		b.WriteString(e.Path)
		b.WriteString(": ")
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(e.Err.Error())
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// fault is a value that is valid JSON but not valid in its place. It costs the
// nearest enclosing element or record.
type fault struct {
	at   int64 // offset after it
	path string
	msg  string
}

func (f *fault) Error() string { return f.msg }

// fatal is an error that ends the reading, as nothing that follows can be used.
type fatal struct{ fault }

// fault returns a fault in the last value read or, if i is not negative, in its element
// i.
func (d *decoder) fault(i int, format string, args ...any) error {
	path := jqPath(string(d.dec.StackPointer()))
	if i >= 0 {
		path += "[" + strconv.Itoa(i) + "]"
	}
	return &fault{at: d.dec.InputOffset(), path: path, msg: fmt.Sprintf(format, args...)}
}

// place returns a fault with its line. Errors that are neither faults nor bad
// JSON are read errors.
func (d *decoder) place(err error) *Error {
	e := &Error{File: d.file}
	var f *fault
	var stop *fatal
	var syntax *jsontext.SyntacticError
	at := d.dec.InputOffset()
	switch {
	case errors.As(err, &stop):
		at, e.Path, e.Msg = stop.at, stop.path, stop.msg
	case errors.As(err, &f):
		at, e.Path, e.Msg = f.at, f.path, f.msg
	case errors.As(err, &syntax):
		at, e.Path = syntax.ByteOffset, jqPath(string(syntax.JSONPointer))
		switch {
		case errors.Is(syntax.Err, io.ErrUnexpectedEOF):
			e.Msg = "the " + d.unit + " ends in the middle"
		case errors.Is(syntax.Err, jsontext.ErrDuplicateName):
			e.Msg = "not JSON: duplicate key"
		default:
			e.Msg = "not JSON: " + text.Printable(syntax.Err.Error())
		}
	default:
		e.Msg, e.Err = "read error", err
	}
	e.Line, e.Col = d.lineOf(at)
	return e
}

// jqPath converts a JSON Pointer (RFC 6901) to a jq path. A key that looks like
// a number is taken for an index: the format has such keys only in file_names.
func jqPath(pointer string) string {
	if pointer == "" {
		return "."
	}
	var b strings.Builder
	for _, token := range strings.Split(pointer[1:], "/") {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch {
		case isDigits(token):
			b.WriteString("[" + token + "]")
		case isWord(token):
			b.WriteString("." + token)
		default:
			b.WriteString(".[" + strconv.Quote(shorten(token)) + "]")
		}
	}
	return b.String()
}

func isDigits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

func isWord(s string) bool {
	return s != "" && len(s) <= maxQuoted && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// maxQuoted is how much of a bad value a message quotes.
const maxQuoted = 40

func shorten(s string) string {
	if len(s) > maxQuoted {
		return strings.ToValidUTF8(s[:maxQuoted], "") + "..."
	}
	return s
}

// describe describes a value for messages; scalars are quoted.
func describe(value []byte) string {
	if len(value) == 0 {
		return "nothing"
	}
	switch value[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return text.Printable(shorten(string(value)))
	}
	return shorten(string(value))
}

// defaultMaxProblems is how many problems Read keeps; if there are more, a last one says
// how many.
const defaultMaxProblems = 1000

// problem reports what err costs.
func (d *decoder) problem(err error, lost string) {
	if len(d.problems) >= d.maxProblems {
		d.dropped++
		return
	}
	e := d.place(err)
	d.lastLine = e.Line
	d.problems = append(d.problems, symfmt.Problem{Lost: lost, Err: e})
}

// note is a problem that many records may share: it is reported once, with the
// number of records.
type note struct{ problem, count int }

// maxNotes bounds the number of different notes, which depend on names in the file.
const maxNotes = 100

// note reports a problem, or counts it if one with the same key was reported.
func (d *decoder) note(key, lost string, err func() error) {
	key = d.kind.String() + " " + key
	n := d.notes[key]
	if n == nil {
		if len(d.notes) >= maxNotes || len(d.problems) >= d.maxProblems {
			d.dropped++
			return
		}
		if d.notes == nil {
			d.notes = make(map[string]*note)
		}
		n = &note{problem: len(d.problems)}
		d.notes[key] = n
		d.problem(err(), lost)
	}
	n.count++
}

// found returns all problems.
func (d *decoder) found() []symfmt.Problem {
	for _, n := range d.notes {
		if n.count > 1 {
			e := d.problems[n.problem].Err.(*Error)
			e.Msg += fmt.Sprintf(" (%d times)", n.count)
		}
	}
	if d.dropped > 0 {
		d.problems = append(d.problems, symfmt.Problem{Err: &Error{
			File: d.file, Line: d.lastLine, Col: 1, Msg: fmt.Sprintf("%d more problems", d.dropped),
		}})
	}
	return d.problems
}
