package symjson

import (
	"bytes"

	"github.com/symtool/symtool/symfmt"
)

// shape describes the fields of an object.
type shape struct {
	fields   []string
	required uint32                           // bit set of required fields
	read     func(d *decoder, i int) error    // reads the value of field i
	done     func(d *decoder, n uint32) error // called after the last field; n is the set of fields seen
}

// index returns the index of a field's name, or -1. Fields usually come in
// order, so it tries next first.
func (s *shape) index(name []byte, next int) int {
	if next < len(s.fields) && s.fields[next] == string(name) {
		return next
	}
	for i, f := range s.fields {
		if f == string(name) {
			return i
		}
	}
	return -1
}

// bits returns a set of fields.
func bits(fields ...int) (set uint32) {
	for _, i := range fields {
		set |= 1 << i
	}
	return set
}

// record is the current record. Its strings are copies.
type record struct {
	texts  [maxTexts]textValue
	number uint32
	hasOld bool
	old    int64
	fn     symfmt.Func
	public symfmt.Public
	win    symfmt.StackWin
	block  symfmt.CFIBlock
	inline symfmt.Inline
	inBody bool       // a list of the FUNC's body was seen
	start  symfmt.RVA // base of the body
}

// textValue is a string, and its bytes if they are not valid UTF-8.
type textValue struct {
	s, base64 string
	set, raw  bool
}

const maxTexts = 4

// record reads the fields of a record after its brace, and adds it to the
// module. In JSON Lines it has a kind.
func (d *decoder) record(k kind, lines bool) error {
	d.kind = k
	d.rec = record{inline: d.rec.inline}
	if k == kindModule {
		if d.module {
			if err := d.skipTo(d.dec.StackDepth() - 1); err != nil {
				return err
			}
			return d.fault(-1, "a second module")
		}
		d.module = true
	}
	mark := len(d.m.CFI.Rows)
	if err := d.fields(&shapes[k], lines); err != nil {
		d.m.CFI.Rows = d.m.CFI.Rows[:mark]
		return err
	}
	d.records++
	return nil
}

// fields reads the fields of an object after its opening brace, and its closing
// brace. The path of a fault names the field.
func (d *decoder) fields(s *shape, lines bool) error {
	var seen uint32
	next := 0
	kinds := 0
	for d.dec.PeekKind() == '"' {
		name, err := d.key()
		if err != nil {
			return err
		}
		i := s.index(name, next)
		switch {
		case i < 0 && lines && string(name) == "kind":
			if err := d.dec.SkipValue(); err != nil {
				return err
			}
			if kinds++; kinds > 1 {
				return d.fault(-1, "the field occurs twice")
			}
			continue
		case i < 0:
			name = bytes.Clone(name)
			if err := d.dec.SkipValue(); err != nil {
				return err
			}
			d.unknownField(name)
			continue
		case seen&(1<<i) != 0:
			if err := d.dec.SkipValue(); err != nil {
				return err
			}
			return d.fault(-1, "the field occurs twice")
		}
		if err := s.read(d, i); err != nil {
			return err
		}
		seen |= 1 << i
		next = i + 1
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	if missing := s.required &^ seen; missing != 0 {
		for i, name := range s.fields {
			if missing&(1<<i) != 0 {
				return d.fault(-1, "%q is missing", name)
			}
		}
	}
	return s.done(d, seen)
}

// unknownField reports a field that the format does not define. Its value has
// been read.
func (d *decoder) unknownField(name []byte) {
	d.note(string(name), "the field", func() error {
		return d.fault(-1, "unknown field, which version %d of the format does not have", version)
	})
}

// setText reads string i of the record, and setBytes its form in base64.
func (d *decoder) setText(i int) error {
	s, err := d.text()
	d.rec.texts[i].s, d.rec.texts[i].set = string(s), true
	return err
}

func (d *decoder) setBytes(i int) error {
	s, err := d.text()
	d.rec.texts[i].base64, d.rec.texts[i].raw = string(s), true
	return err
}

// string returns string i of the record.
func (d *decoder) string(i int) (string, error) {
	t := &d.rec.texts[i]
	if !t.raw {
		return t.s, nil
	}
	raw, err := d.unbase64(-1, []byte(t.base64), []byte(t.s))
	return string(raw), err
}

// strings stores the strings of the record.
func (d *decoder) strings(to ...*string) (err error) {
	for i, p := range to {
		if *p, err = d.string(i); err != nil {
			return err
		}
	}
	return nil
}

// format and version read the fields that identify the format.
func (d *decoder) format() error {
	s, err := d.text()
	if err != nil {
		return err
	}
	d.hasFormat = true
	if string(s) != formatName {
		return d.fatal("found %s, want %q", quoted(s), formatName)
	}
	return nil
}

func (d *decoder) version() error {
	v, err := d.number()
	if err != nil {
		return err
	}
	d.hasVersion = true
	if v > version {
		return d.fatal("version %d of the format, want at most %d: a newer symtool wrote it", v, version)
	}
	if v < 1 {
		return d.fault(-1, "found 0, want a version from 1 to %d", version)
	}
	return nil
}

func (d *decoder) fatal(format string, args ...any) error {
	f := d.fault(-1, format, args...).(*fault)
	return &fatal{*f}
}
