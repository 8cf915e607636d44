package sframe

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"github.com/symtool/symtool/symfmt/damage"
)

// WriteJSON writes the section as one JSON object, without a newline after it, so that it can be
// a member of another. Addresses and offsets in the section are hexadecimal strings; sizes and
// offsets of rules are numbers, in bytes. Members of a row that are false, 0 or empty may be absent.
// Fields may be added; none is renamed or gets another unit.
//
//	section, addr     name and address of the first byte
//	headers           each with
//	  offset version abi abi_name flags flag_names fixed_fp fixed_ra aux
//	  num_fdes num_fres fre_len fde_off fre_off       as in the section; aux in hexadecimal
//	  field_relative  starts are relative to their fields, though the flags do not say so
//	  functions       each with
//	    index offset start size num_rows rows_offset info info2 rep
//	    mask block key_b signal flex                  as in FDE
//	    rows          each with
//	      offset raw  the place in the section, and the bytes in hexadecimal
//	      start       from the function's start, of mask functions from each block's
//	      cfa ra fp   rules; an outermost frame has only ra
//	      signed surplus                              as in Row and Form
//	    error         why the rows end here: section, offset, message
//	problems          what could not be read: section, offset, message, lost
//
// A rule has a kind (same, undefined, value: the sum, memory: the word there).
// The latter two also have a base (cfa, sp, fp or r and a DWARF number), reg (the
// number, not for cfa) and offset. For ra and fp, given is where the rule comes
// from: row, padding (a word that stands for no rule) or default (header or ABI).
//
// WriteJSON returns the writer's error.
func (s *Section) WriteJSON(w io.Writer) error {
	p := s.printer(w)
	o := object{p.w.AvailableBuffer()}
	o.open()
	o.text("section", s.Name)
	o.hex("addr", s.Addr)
	o.key("headers")
	p.put(append(o.b, '['))
	for i := range s.Headers {
		p.separate(i)
		p.headerJSON(s, &s.Headers[i])
	}
	p.lines("], \"problems\": [")
	for i, problem := range s.Problems {
		p.separate(i)
		o := object{p.w.AvailableBuffer()}
		o.failure(problem.Err, problem.Lost)
		p.put(o.b)
	}
	p.lines("]}")
	return p.w.Flush()
}

// WriteJSONAt writes the result of Section.PrintAt as one JSON object: pc, function as in
// WriteJSON without its rows, row, and error if the function or the row is damaged.
func (s *Section) WriteJSONAt(w io.Writer, pc uint64) error {
	o := object{}
	o.open()
	o.hex("pc", pc)
	i, row, err := s.Find(pc)
	if i >= 0 {
		o.key("function")
		o.function(s, i)
		o.close()
	}
	switch {
	case errors.Is(err, ErrNoFDE) || errors.Is(err, ErrNoRow):
	case err != nil:
		o.key("error")
		o.failure(err, "")
	default:
		rows := Rows{Row: row}
		if s.FDEs[i].NumRows > 0 {
			rows = s.Rows(i)
			rows.seek(s.FDEs[i].offset(pc))
		}
		o.key("row")
		o.row(&rows)
	}
	o.close()
	_, err = w.Write(o.b)
	return err
}

// separate starts a new line for each element of a list.
func (p *printer) separate(i int) {
	if i > 0 {
		p.lines(",")
	}
	p.lines("\n")
}

func (p *printer) headerJSON(s *Section, h *Header) {
	o := object{p.w.AvailableBuffer()}
	o.open()
	o.hex("offset", h.Offset)
	o.number("version", int64(h.Version))
	o.number("abi", int64(h.ABI))
	o.text("abi_name", h.ABI.String())
	o.number("flags", int64(h.Flags))
	o.texts("flag_names", h.Flags.Names())
	o.number("fixed_fp", int64(h.FixedFP))
	o.number("fixed_ra", int64(h.FixedRA))
	o.bytes("aux", h.Aux)
	o.number("num_fdes", int64(h.NumFDEs))
	o.number("num_fres", int64(h.NumFREs))
	o.number("fre_len", int64(h.FRELen))
	o.number("fde_off", int64(h.FDEOff))
	o.number("fre_off", int64(h.FREOff))
	o.flag("field_relative", h.FieldRelative)
	o.key("functions")
	p.put(append(o.b, '['))
	for i := range h.Count {
		p.separate(i)
		p.functionJSON(s, h.First+i)
	}
	p.lines("]}")
}

func (p *printer) functionJSON(s *Section, i int) {
	o := object{p.w.AvailableBuffer()}
	o.function(s, i)
	o.key("rows")
	p.put(append(o.b, '['))
	rows := p.left.next(s, i)
	for n := 0; rows.Next(); n++ {
		p.separate(n)
		o.b = p.w.AvailableBuffer()
		o.row(&rows)
		p.put(o.b)
	}
	p.left.took(&rows)
	o.b = append(p.w.AvailableBuffer(), ']')
	if err := rows.Err(); err != nil {
		o.key("error")
		o.failure(err, "")
	}
	o.close()
	p.put(o.b)
}

// object builds a JSON object. Encoding structs took six times the processor time, and eight
// allocations a row.
type object struct{ b []byte }

func (o *object) open()  { o.b = append(o.b, '{') }
func (o *object) close() { o.b = append(o.b, '}') }

func (o *object) key(name string) {
	if o.b[len(o.b)-1] != '{' {
		o.b = append(o.b, ", "...)
	}
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, `": `...)
}

func (o *object) number(name string, v int64) {
	o.key(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) hex(name string, v uint64) {
	o.key(name)
	o.b = append(o.b, `"0x`...)
	o.b = append(strconv.AppendUint(o.b, v, 16), '"')
}

func (o *object) bytes(name string, v []byte) {
	o.word(name, "")
	o.b = hex.AppendEncode(o.b[:len(o.b)-1], v)
	o.b = append(o.b, '"')
}

func (o *object) flag(name string, v bool) {
	o.key(name)
	o.b = strconv.AppendBool(o.b, v)
}

// word writes a string member that needs no escapes.
func (o *object) word(name, v string) {
	o.key(name)
	o.b = append(o.b, '"')
	o.b = append(o.b, v...)
	o.b = append(o.b, '"')
}

func (o *object) text(name, v string) {
	o.key(name)
	quoted, _ := json.Marshal(v) // cannot fail for a string
	o.b = append(o.b, quoted...)
}

func (o *object) texts(name string, all []string) {
	o.key(name)
	if all == nil {
		all = []string{}
	}
	quoted, _ := json.Marshal(all)
	o.b = append(o.b, quoted...)
}

// failure writes an error as an object.
func (o *object) failure(err error, lost string) {
	o.open()
	msg := err.Error()
	var e *damage.Error
	if errors.As(err, &e) {
		o.text("section", e.Section)
		o.hex("offset", e.Offset)
		msg = (&damage.Error{Msg: e.Msg, Err: e.Err}).Error()
	}
	o.text("message", msg)
	if lost != "" {
		o.text("lost", lost)
	}
	o.close()
}

// function writes the members of a function except its rows, without ending the object.
func (o *object) function(s *Section, i int) {
	f := &s.FDEs[i]
	o.open()
	o.number("index", int64(i))
	o.hex("offset", s.Offset(i))
	o.hex("start", f.Start)
	o.number("size", int64(f.Size))
	o.number("num_rows", int64(f.NumRows))
	o.hex("rows_offset", s.RowsOffset(i))
	o.number("info", int64(f.Info))
	o.number("info2", int64(f.Info2))
	o.number("rep", int64(f.Rep))
	o.flag("mask", f.Mask)
	o.number("block", int64(f.Block))
	o.flag("key_b", f.KeyB)
	o.flag("signal", f.Signal)
	o.flag("flex", f.Flex)
}

// row writes the current row. A row made for a function without rows has no offset.
func (o *object) row(r *Rows) {
	o.open()
	if r.h != nil {
		o.hex("offset", r.Form.Offset)
		o.number("start", int64(r.Row.Start))
		o.bytes("raw", r.raw())
	}
	if !r.Row.Outermost() {
		o.rule(r, "cfa", &r.Row.CFA, "")
	}
	o.rule(r, "ra", &r.Row.RA, givenNames[r.Form.RA])
	if !r.Row.Outermost() {
		o.rule(r, "fp", &r.Row.FP, givenNames[r.Form.FP])
	}
	if r.Row.Signed {
		o.flag("signed", true)
	}
	if r.Form.Surplus > 0 {
		o.number("surplus", int64(r.Form.Surplus))
	}
	o.close()
}

// raw returns the current row's bytes.
func (r *Rows) raw() []byte { return r.h.rows[r.Form.Offset-r.h.fres : r.pos] }

var (
	givenNames = [...]string{Absent: "default", Padding: "padding", Given: "row"}
	kindNames  = [...]string{Same: "same", Undefined: "undefined", Value: "value", Memory: "memory"}
)

func (o *object) rule(r *Rows, name string, rule *Rule, given string) {
	o.key(name)
	o.open()
	o.word("kind", kindNames[rule.Kind])
	if rule.Kind == Value || rule.Kind == Memory {
		o.base(r, rule.Reg)
		o.number("offset", rule.Offset)
	}
	if given != "" && rule.Kind != Undefined {
		o.word("given", given)
	}
	o.close()
}

func (o *object) base(r *Rows, reg Reg) {
	if reg == CFA {
		o.word("base", "cfa")
		return
	}
	o.word("base", "")
	o.b = append(r.abi.appendReg(o.b[:len(o.b)-1], reg), '"')
	o.number("reg", int64(reg))
}
