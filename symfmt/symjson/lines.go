package symjson

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// maxRecord is the length in bytes of the longest record of JSON Lines that is
// read: enough for a FUNC with ten million line records. A longer one is damage;
// it is skipped without being held in memory.
const maxRecord = 256 << 20

// frames splits JSON Lines into records. A record consists of a line that
// begins with '{' and the following lines that do not, so that output of jq
// without -c can be read, too, and damage ends at the next record.
type frames struct {
	in      *bufio.Reader
	buf     []byte
	line    int   // number of buf's first line, from 1
	lines   int   // in buf
	skipped int64 // bytes not kept in memory
}

// next reads the next record. At the end it returns io.EOF, and keeps the last
// record.
func (f *frames) next() error {
	if _, err := f.in.Peek(1); err != nil {
		return err
	}
	f.line += f.lines
	f.buf, f.lines, f.skipped = f.buf[:0], 0, 0
	for {
		part, err := f.in.ReadSlice('\n')
		if len(f.buf)+len(part) > maxRecord {
			f.skipped += int64(len(part))
		} else {
			f.buf = append(f.buf, part...)
		}
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil && err != io.EOF {
			return err
		}
		f.lines++
		if next, _ := f.in.Peek(1); err == io.EOF || len(next) == 0 || next[0] == '{' {
			return nil
		}
	}
}

// lineOf returns the place of an offset in buf; the end of buf counts as the end
// of the last non-empty line.
func (f *frames) lineOf(at int64) (line, col int) {
	text := bytes.TrimRight(f.buf, " \t\r\n")
	before := text[:min(at, int64(len(text)))]
	return f.line + bytes.Count(before, []byte("\n")), len(before) - bytes.LastIndexByte(before, '\n')
}

// readLines reads JSON Lines.
func (d *decoder) readLines(in *bufio.Reader) error {
	f := &frames{in: in, line: 1}
	d.unit, d.lineOf = "record", f.lineOf
	var source bytes.Buffer
	d.dec = jsontext.NewDecoder(&source)
	for {
		if err := f.next(); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		source = *bytes.NewBuffer(f.buf)
		d.dec.Reset(&source, jsontext.AllowDuplicateNames(true))
		if f.skipped > 0 {
			d.problem(&fault{msg: tooLong(int64(len(f.buf)) + f.skipped)}, "record")
			continue
		}
		if err := d.frame(f.buf); err != nil {
			return err
		}
	}
	d.missing()
	return nil
}

// frame reads the records of a frame: only one, unless another follows on the
// same line.
func (d *decoder) frame(frame []byte) error {
	for {
		d.kind = noKind
		err := d.lineRecord(frame)
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF) && d.dec.StackDepth() == 0:
			return nil
		case isFault(err):
			d.problem(err, d.lost())
			if err = d.skipTo(0); err == nil {
				continue
			}
		}
		var syntax *jsontext.SyntacticError
		if errors.As(err, &syntax) {
			d.problem(err, d.lost())
			return nil
		}
		return err
	}
}

// lost describes what damage to the record costs.
func (d *decoder) lost() string {
	if d.kind == noKind {
		return "record"
	}
	return "record of the kind " + d.kind.String()
}

// lineRecord reads a record whose "kind" may be anywhere in it.
func (d *decoder) lineRecord(frame []byte) error {
	if d.dec.PeekKind() != '{' {
		return d.wrong("an object")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	start := d.dec.InputOffset() - 1
	k, err := findKind(frame[start:])
	if err != nil {
		return d.fault(-1, "%s", err)
	}
	if k == noKind { // bad JSON, which is found again here
		if err := d.skipTo(0); err != nil {
			return err
		}
		return d.fault(-1, `"kind" is missing`)
	}
	d.kind = k
	return d.record(k, true)
}

var kindKey = []byte(`{"kind":"`)

// findKind returns the kind of a record, or noKind.
func findKind(object []byte) (kind, error) {
	if bytes.HasPrefix(object, kindKey) {
		rest := object[len(kindKey):]
		if i := bytes.IndexByte(rest[:min(len(rest), maxQuoted)], '"'); i >= 0 {
			if k := nameIn(kindNames[:], rest[:i]); k != noKind {
				return k, nil
			}
		}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(object), jsontext.AllowDuplicateNames(true))
	dec.ReadToken()
	for dec.PeekKind() == '"' {
		key, err := dec.ReadToken()
		if err != nil {
			return noKind, nil
		}
		if key.String() != "kind" {
			if dec.SkipValue() != nil {
				return noKind, nil
			}
			continue
		}
		v, err := dec.ReadValue()
		if err != nil {
			return noKind, nil
		}
		name, err := jsontext.AppendUnquote(nil, v)
		k := nameIn(kindNames[:], name)
		if err != nil || k == noKind {
			return noKind, unknownKind(describe(v))
		}
		return k, nil
	}
	return noKind, nil
}
