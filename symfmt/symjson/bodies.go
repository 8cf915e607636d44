package symjson

import (
	"math"

	"github.com/symtool/symtool/symfmt"
)

// The body of a FUNC is packed relative to its address, which may come after
// the records in the file. In that case they are packed relative to 0, and
// packed again once the address is known.

func (d *decoder) funcField(i int) (err error) {
	f := &d.rec.fn
	switch i {
	case 0:
		err = d.rva(&f.RVA)
	case 1:
		f.Size, err = d.number()
	case 2:
		f.ParamSize, err = d.number()
	case 3:
		f.Multiple, err = d.flag()
	case 4:
		err = d.setText(0)
	case 5:
		err = d.setBytes(0)
	case 6, 7:
		err = d.dec.SkipValue()
	case 8:
		d.begin()
		err = d.list("INLINE record", d.inline)
	case 9:
		d.begin()
		err = d.list("line record", d.line)
	}
	return err
}

// begin begins the body with its first list.
func (d *decoder) begin() {
	if !d.rec.inBody {
		d.rec.inBody, d.rec.start = true, d.rec.fn.RVA
		d.body.Reset(d.rec.fn.RVA)
	}
}

func (d *decoder) funcDone(uint32) (err error) {
	f := &d.rec.fn
	if f.Name, err = d.string(0); err != nil {
		return err
	}
	if d.rec.inBody {
		start := d.rec.start
		if start == f.RVA {
			f.Body = d.body.Finish(&d.arena)
		} else {
			f.Body = d.moved(start, f.RVA)
		}
	}
	d.m.Funcs = append(d.m.Funcs, *f)
	return nil
}

// moved returns the body of a FUNC at rva whose records were packed relative to start.
func (d *decoder) moved(start, rva symfmt.RVA) symfmt.Body {
	var own symfmt.Arena
	f := symfmt.Func{RVA: start, Body: d.body.Finish(&own)}
	d.body.Reset(rva)
	for in := range f.Inlines() {
		d.body.AddInline(in)
	}
	for l := range f.Lines() {
		d.body.AddLine(l)
	}
	return d.body.Finish(&d.arena)
}

const wantLine = "[rva, size, line, file]"

// line reads a line record.
func (d *decoder) line() error {
	if d.dec.PeekKind() != '[' {
		return d.wrong(wantLine)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return err
	}
	n, err := d.numbers(v, 4, wantLine)
	if err != nil {
		return err
	}
	d.body.AddLine(symfmt.Line{RVA: symfmt.RVA(n[0]), Size: n[1], Num: uint32(n[2]), File: symfmt.FileID(n[3])})
	return nil
}

// numbers reads a list of want numbers, at most four; the third and fourth have 32
// bits.
func (d *decoder) numbers(list []byte, want int, what string) (n [4]uint64, err error) {
	e := elementsOf(list)
	for i := range want {
		v := e.next()
		if v == nil {
			return n, d.fault(-1, "found %d elements, want %s", i, what)
		}
		if n[i], err = d.numberOf(v, i); err != nil {
			return n, err
		}
		if i >= 2 && (v[0] == '"' || n[i] > math.MaxUint32) { // line, file
			return n, d.fault(i, "found %s, want a number up to %d", describe(v), uint32(math.MaxUint32))
		}
	}
	if e.next() != nil {
		return n, d.fault(-1, "found more than %d elements, want %s", want, what)
	}
	return n, nil
}

var inlineShape shape

func init() {
	inlineShape = shape{
		fields:   []string{"depth", "origin", "call_file", "call_line", "ranges"},
		required: bits(0, 1, 2, 3, 4),
		read:     (*decoder).inlineField, done: (*decoder).inlineDone,
	}
}

// inline reads an INLINE record.
func (d *decoder) inline() error {
	if d.dec.PeekKind() != '{' {
		return d.wrong("an object")
	}
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	d.rec.inline.Ranges = d.rec.inline.Ranges[:0]
	return d.fields(&inlineShape, false)
}

func (d *decoder) inlineField(i int) (err error) {
	in := &d.rec.inline
	var v uint32
	switch i {
	case 0:
		in.Depth, err = d.number32()
	case 1:
		v, err = d.number32()
		in.Origin = symfmt.OriginID(v)
	case 2:
		in.CallFile, in.NoFile = 0, d.dec.PeekKind() == 'n'
		if in.NoFile {
			return d.dec.SkipValue()
		}
		v, err = d.number32()
		in.CallFile = symfmt.FileID(v)
	case 3:
		in.CallLine, err = d.number32()
	case 4:
		err = d.list("range of an INLINE record", d.extent)
	}
	return err
}

const wantRange = "[rva, size]"

func (d *decoder) extent() error {
	if d.dec.PeekKind() != '[' {
		return d.wrong(wantRange)
	}
	v, err := d.dec.ReadValue()
	if err != nil {
		return err
	}
	n, err := d.numbers(v, 2, wantRange)
	if err == nil {
		d.rec.inline.Ranges = append(d.rec.inline.Ranges, symfmt.Range{RVA: symfmt.RVA(n[0]), Size: n[1]})
	}
	return err
}

func (d *decoder) inlineDone(uint32) error {
	if len(d.rec.inline.Ranges) == 0 {
		return d.fault(-1, "no ranges, want one or more of %s", wantRange)
	}
	d.body.AddInline(&d.rec.inline)
	return nil
}
