package symjson

import (
	"bytes"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// newlines counts the lines of a text as a decoder reads ahead.
type newlines struct {
	in       io.Reader
	consumed func() int64 // number of bytes that the decoder has consumed
	ends     []int64      // offsets of newlines not yet consumed
	read     int64
	line     int   // lines before ends
	last     int64 // offset after the newline before ends
}

func (n *newlines) Read(p []byte) (int, error) {
	n.drop(n.consumed())
	got, err := n.in.Read(p)
	for i := 0; i < got; i++ {
		j := bytes.IndexByte(p[i:got], '\n')
		if j < 0 {
			break
		}
		i += j
		n.ends = append(n.ends, n.read+int64(i))
	}
	n.read += int64(got)
	return got, err
}

// drop forgets the newlines before an offset.
func (n *newlines) drop(at int64) {
	i := 0
	for i < len(n.ends) && n.ends[i] < at {
		i++
	}
	if i > 0 {
		n.line += i
		n.last = n.ends[i-1] + 1
		n.ends = append(n.ends[:0], n.ends[i:]...)
	}
}

// lineOf returns the place of an offset. Offsets must not decrease between calls.
func (n *newlines) lineOf(at int64) (line, col int) {
	n.drop(at)
	return n.line + 1, int(max(at-n.last, 0)) + 1
}

// readDocument reads a document.
func (d *decoder) readDocument(in io.Reader) error {
	n := &newlines{in: in, consumed: func() int64 { return 0 }}
	d.dec = jsontext.NewDecoder(n, jsontext.AllowDuplicateNames(true))
	n.consumed = d.dec.InputOffset
	d.unit, d.lineOf = "document", n.lineOf
	err := d.document()
	if _, ok := syntaxError(err); ok {
		d.problem(err, "the rest of the document")
		return nil
	}
	return err
}

func (d *decoder) document() error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	var seen [len(listNames)]bool
	for d.dec.PeekKind() == '"' {
		if err := d.part(&seen); isFault(err) {
			d.problem(err, d.lostPart())
			if err = d.skipTo(1); err != nil {
				return err
			}
		} else if err != nil {
			return err
		}
	}
	d.kind = noKind
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	d.missing()
	if d.dec.PeekKind() != 0 {
		d.problem(d.fault(-1, "unexpected data after the document"), "what follows it")
		return nil
	}
	if _, err := d.dec.ReadToken(); err != nil && err != io.EOF {
		if _, ok := syntaxError(err); ok {
			d.problem(err, "what follows it")
			return nil
		}
		return err
	}
	return nil
}

// lostPart describes what damage to the value of a key costs.
func (d *decoder) lostPart() string {
	if d.kind == noKind {
		return ""
	}
	return "the " + listNames[d.kind]
}

// missing reports which identifying fields are missing.
func (d *decoder) missing() {
	switch {
	case d.records == 0:
	case !d.module:
		d.problem(&fault{at: d.dec.InputOffset(), path: ".", msg: "no module in the file"}, "")
	case !d.hasFormat:
		d.problem(&fault{at: d.dec.InputOffset(), path: ".", msg: `no "format" in the file, want "` + formatName + `"`}, "")
	case !d.hasVersion:
		d.problem(&fault{at: d.dec.InputOffset(), path: ".", msg: fmt.Sprintf(`no "version" in the file: read as version %d`, version)}, "")
	}
}

// part reads one key of the document and its value.
func (d *decoder) part(seen *[len(listNames)]bool) error {
	key, err := d.key()
	if err != nil {
		return err
	}
	d.kind = noKind
	switch string(key) {
	case "format":
		return d.format()
	case "version":
		return d.version()
	}
	k := nameIn(listNames[:], key)
	d.kind = k
	if k == noKind {
		name := bytes.Clone(key)
		if err := d.dec.SkipValue(); err != nil {
			return err
		}
		d.unknownField(name)
		return nil
	}
	if seen[k] {
		if err := d.dec.SkipValue(); err != nil {
			return err
		}
		return d.fault(-1, "%q occurs twice: the second is ignored", listNames[k])
	}
	seen[k] = true
	if k == kindModule {
		return d.object(kindModule)
	}
	return d.list(d.lost(), func() error { return d.object(k) })
}

// object reads a record of a known kind, starting after its brace.
func (d *decoder) object(k kind) error {
	if d.dec.PeekKind() != '{' {
		return d.wrong("an object")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	return d.record(k, false)
}

// list reads a list; a fault in an element costs the element.
func (d *decoder) list(lost string, element func() error) error {
	if d.dec.PeekKind() != '[' {
		return d.wrong("a list")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	depth := d.dec.StackDepth()
	for d.dec.PeekKind() != ']' {
		err := element()
		if isFault(err) {
			d.problem(err, lost)
			err = d.skipTo(depth)
		}
		if err != nil {
			return err
		}
	}
	_, err := d.dec.ReadToken()
	return err
}

func unknownKind(name string) error {
	return fmt.Errorf("unknown kind %s: want one of %v", name, kindNames[1:])
}
