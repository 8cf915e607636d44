package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/vars"
)

// checked is the result of reading all records of a symbol file.
type checked struct {
	name, id string // of MODULE; name is "" if there is none
	os, arch string // of MODULE
	code     string // of the first INFO CODE_ID
	problems int    // number of unreadable records, without cut
	first    error  // the first of their errors
	damage   error  // what ended the text early, such as damaged compressed data, or nil
	cut      error  // set if the text ends inside its last line
	digest   bool   // the text has a digest
	empty    bool
	symbols  bool // there are records other than MODULE and INFO
	vars     bool // there are records of variables
}

// ext returns the extension of the file's name without the compression's.
func (c *checked) ext() string {
	if c.vars && !c.symbols {
		return variablesExt
	}
	return symbolExt
}

// ending records how a text ends.
type ending struct {
	r   io.Reader
	err error // what ended it early
}

func (l *ending) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if err != nil && err != io.EOF {
		l.err = err
	}
	return n, err
}

// check reads a symbol file to its end, and passes its text on to use. The error is from
// reading the file or from use.
func check(r io.Reader, use io.Writer) (c checked, err error) {
	text, _, err := symfmt.Decompress(r)
	if err != nil {
		c.damage = err
		return c, unlessDamaged(err)
	}
	end := &ending{r: text}
	rd := symfmt.NewReader(io.TeeReader(end, use), symfmt.ReadOptions{Tolerant: true, MaxProblems: 1, Grouped: true})
	var rec *symfmt.Record
	var variables variableRecords
	for err == nil {
		if rec, err = rd.Next(); err == nil {
			c.head(rec)
			variables.add(rec)
		}
	}
	if c.damage = end.err; c.damage == nil && !errors.Is(err, io.EOF) {
		c.damage = err // such as another encoding
	}
	if c.damage != nil {
		return c, unlessDamaged(c.damage)
	}
	report := rd.Report()
	c.empty, c.cut, c.digest = report.Bytes == 0, report.Cut, report.Digest
	c.problems = len(report.Problems) + report.Dropped
	if c.cut != nil {
		c.problems--
	}
	if c.problems > 0 {
		c.first = report.Problems[0].Err
	}
	if variables.finish(); variables.problems > 0 {
		c.problems += variables.problems
		if c.first == nil {
			c.first = variables.first
		}
	}
	return c, nil
}

// variableRecords checks the records of variables of a file.
type variableRecords struct {
	parser   vars.Parser
	started  bool // the record with a known version was read
	line     int  // of the last record
	problems int
	first    *symfmt.SyntaxError
}

func (v *variableRecords) add(rec *symfmt.Record) {
	if rec.Kind != symfmt.KindInfo || string(rec.Key) != vars.Key {
		return
	}
	v.line = rec.Pos().Line
	if v.started = v.started || vars.IsStart(rec.Name); !v.started {
		return
	}
	if bad := v.parser.Add(rec.Name, v.line); bad != nil {
		v.note(bad)
	}
}

// finish checks what only the last record ends.
func (v *variableRecords) finish() {
	if !v.started {
		return
	}
	v.parser.Finish(func(bad *vars.BadRecord) error {
		v.note(bad)
		return nil
	})
}

func (v *variableRecords) note(bad *vars.BadRecord) {
	e := &symfmt.SyntaxError{Line: bad.Line, Col: len(vars.Prefix) + bad.Off + 1, Record: "INFO " + vars.Key, Msg: bad.Msg}
	if e.Line == 0 {
		e.Line, e.Col = v.line, 1
	}
	if v.problems++; v.first == nil || e.Line < v.first.Line {
		v.first = e
	}
}

// head records what identifies the file's module, and what the file contains.
func (c *checked) head(rec *symfmt.Record) {
	switch rec.Kind {
	case symfmt.KindModule:
	case symfmt.KindInfo:
		c.vars = c.vars || string(rec.Key) == vars.Key
	default:
		c.symbols = true
	}
	switch {
	case rec.Kind == symfmt.KindModule && c.name == "":
		c.name, c.id, c.os, c.arch = string(rec.Name), string(rec.DebugID), string(rec.OS), string(rec.Arch)
	case rec.Kind == symfmt.KindInfo && c.code == "" && string(rec.Key) == "CODE_ID":
		c.code = string(rec.Name)
	}
}

// faults returns the faults of the symbol file itself, each with its kind.
func (c *checked) faults() (all []fault) {
	add := func(kind, format string, args ...any) { all = append(all, fault{kind, fmt.Sprintf(format, args...)}) }
	switch {
	case c.damage != nil:
		add("damaged", "%v", c.damage)
	case c.empty:
		add("truncated", "is empty")
	case c.cut != nil:
		add("truncated", "%v", c.cut)
	}
	if c.problems == 1 {
		add("damaged", "1 record cannot be read: %v", c.first)
	} else if c.problems > 1 {
		add("damaged", "%d records cannot be read, the first: %v", c.problems, c.first)
	}
	if c.name == "" && c.damage == nil && !c.empty {
		add("damaged", "no complete MODULE record: its module is unknown")
	}
	return all
}

type fault struct{ kind, message string }
