package symjson

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// ReadOptions control how a file is read.
type ReadOptions struct {
	File        string // path for errors
	MaxProblems int    // problems kept; 0 is 1000
}

// Read reads either form, optionally compressed with gzip or zstd. Lists are in the
// order of the file. Damage is a problem and costs what the package comment says. The
// error, usually an *Error, means that nothing was usable: the file has another
// format or a later version, or could not be read.
//
// Read needs memory for the module plus the longest record of JSON Lines, or the
// longest value other than a list in a document.
func Read(ctx context.Context, r io.ReaderAt, size int64, o ReadOptions) (*symfmt.Result, error) {
	text, _, err := symfmt.Decompress(bin.ContextReader(ctx, io.NewSectionReader(r, 0, size)))
	if err != nil {
		return nil, &bin.Error{File: o.File, Msg: "read error", Err: err}
	}
	d := &decoder{file: o.File, maxProblems: o.MaxProblems, m: &symfmt.Module{}}
	if d.maxProblems <= 0 {
		d.maxProblems = defaultMaxProblems
	}
	in := bufio.NewReaderSize(text, headSize)
	head, err := in.Peek(headSize)
	if err != nil && err != io.EOF {
		return nil, &bin.Error{File: o.File, Msg: "read error", Err: err}
	}
	form := formOf(head)
	if bytes.HasPrefix(head, bom) {
		in.Discard(len(bom))
	}
	switch form {
	case formLines:
		err = d.readLines(in)
	case formDocument:
		err = d.readDocument(in)
	default:
		return nil, d.unknown(head)
	}
	if err != nil {
		return nil, d.place(err)
	}
	d.endVars()
	if d.records == 0 {
		if len(d.problems) > 0 {
			return nil, d.problems[0].Err
		}
		return nil, &Error{File: o.File, Line: 1, Col: 1, Msg: "no record of " + formatName}
	}
	return &symfmt.Result{Module: d.m, Report: symfmt.Report{Problems: d.found()}}, nil
}

// headSize is how much is read at first and examined to find the form.
const headSize = 256 << 10

type form int

const (
	formNone form = iota
	formLines
	formDocument
)

// formOf determines the form from the first object with keys that only one form
// has. An object begins a line.
func formOf(head []byte) form {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	for len(head) > 0 {
		if head[0] == '{' {
			if f := formOfObject(head); f != formNone {
				return f
			}
		}
		i := bytes.Index(head, []byte("\n{"))
		if i < 0 {
			return formNone
		}
		head = head[i+1:]
	}
	return formNone
}

func formOfObject(object []byte) form {
	dec := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	dec.ReadToken()
	ours := formNone
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return formNone
		}
		name := key.String()
		switch {
		case name == "format":
			value, err := dec.ReadToken()
			if err != nil {
				return formNone
			}
			if value.Kind() == '"' && value.String() == formatName {
				ours = formDocument
			}
			continue
		case name == "version":
		case nameIn(listNames[:], []byte(name)) != noKind:
			return formDocument
		case isRecordKey(name):
			return formLines
		}
		if dec.SkipValue() != nil {
			break
		}
	}
	return ours
}

func isRecordKey(name string) bool {
	for k := range shapes {
		if shapes[k].index([]byte(name), 0) >= 0 {
			return true
		}
	}
	return name == "kind"
}

// unknown returns the error for a file of neither form.
func (d *decoder) unknown(head []byte) error {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, bom), " \t\r\n")
	e := &Error{File: d.file, Line: 1, Col: 1, Msg: "the file is empty"}
	switch {
	case len(head) == 0:
	case head[0] == '{':
		e.Msg = `no object with a "kind" (JSON Lines) or a "module" (document): not a symtool symbol file in JSON`
	case head[0] == '[':
		e.Msg = "found a list, want an object: one document, or one record after another, as jq -c writes them"
	default:
		e.Msg = "not JSON: the file begins with " + quoted(head)
	}
	return e
}

// decoder is the state of one call of Read.
type decoder struct {
	file    string
	unit    string // what may end early: "line", "document"
	dec     *jsontext.Decoder
	lineOf  func(at int64) (line, col int)
	scratch []byte

	m       *symfmt.Module
	vars    vars.Parser
	kind    kind // of the current record
	rec     record
	body    symfmt.BodyBuilder
	arena   symfmt.Arena
	names   map[string]string // programs of STACK WIN; few differ
	records int
	module  bool // a module record was seen, good or bad

	hasFormat, hasVersion bool

	problems    []symfmt.Problem
	maxProblems int
	dropped     int
	lastLine    int // line of the last problem
	notes       map[string]*note
}

// isFault reports whether err is damage that costs only a part, as opposed to an
// error that ends the reading.
func isFault(err error) bool {
	var f *fault
	return errors.As(err, &f)
}

// skipTo skips the rest of the open values, down to a depth.
func (d *decoder) skipTo(depth int) error {
	for d.dec.StackDepth() > depth {
		switch d.dec.PeekKind() {
		case '{', '[':
			if err := d.dec.SkipValue(); err != nil {
				return err
			}
		default:
			if _, err := d.dec.ReadToken(); err != nil {
				return err
			}
		}
	}
	return nil
}
