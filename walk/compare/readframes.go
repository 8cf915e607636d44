package compare

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/symtool/symtool/walk"
)

// jsonThread is a thread in the schema. Null values become empty, as in all of these types.
type jsonThread struct {
	ID     *uint32        `json:"thread_id"`
	Name   string         `json:"thread_name"`
	Frames []OutlineFrame `json:"frames"`

	Symtool struct {
		Goroutine struct {
			ID uint64 `json:"id"`
		} `json:"goroutine"`
	} `json:"symtool"`
}

// jsonFrame is a frame in the schema.
type jsonFrame struct {
	Offset       jsonAddress     `json:"offset"`
	ModuleOffset jsonAddress     `json:"module_offset"`
	Module       string          `json:"module"`
	Function     string          `json:"function"`
	File         string          `json:"file"`
	Line         uint32          `json:"line"`
	Trust        string          `json:"trust"`
	Inlines      []outlineInline `json:"inlines"`
	Symtool      struct {
		SP        jsonAddress `json:"sp"`
		Technique string      `json:"technique"`
	} `json:"symtool"`
}

type jsonInline struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
}

// jsonAddress is a number as a string of hexadecimal digits.
type jsonAddress uint64

func (a *jsonAddress) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok {
		err = strconv.ErrSyntax
	}
	*a = jsonAddress(v)
	return err
}

func (d *Reader) thread(dec *jsontext.Decoder, to *outlineThread) error {
	var t jsonThread
	if err := d.keep(dec, &t); err != nil {
		return err
	}
	*to = outlineThread{Name: t.Name, Goroutine: t.Symtool.Goroutine.ID, Frames: t.Frames}
	if t.ID != nil {
		to.ID, to.HasID = *t.ID, true
	}
	return nil
}

func (d *Reader) frame(dec *jsontext.Decoder, to *OutlineFrame) error {
	var f jsonFrame
	if err := d.keep(dec, &f); err != nil {
		return err
	}
	*to = OutlineFrame{Addr: uint64(f.Offset), SP: uint64(f.Symtool.SP), Offset: uint64(f.ModuleOffset), Trust: walk.TrustNamed(f.Trust), Code: f.Symtool.Technique == walk.ByCode.String(), Line: f.Line,
		Module: d.once(f.Module), Function: d.once(f.Function), File: d.once(f.File), Inlines: f.Inlines}
	return nil
}

func (d *Reader) inline(dec *jsontext.Decoder, to *outlineInline) error {
	var in jsonInline
	if err := d.keep(dec, &in); err != nil {
		return err
	}
	*to = outlineInline{d.once(in.Function), d.once(in.File), in.Line}
	return nil
}

// keep reads a thread, a frame or an inline, within the limits.
func (d *Reader) keep(dec *jsontext.Decoder, to any) error {
	if d.kept++; d.kept > maxOutlineFrames {
		return errFrames
	}
	if d.bytes > maxNames {
		return errNames
	}
	return json.UnmarshalDecode(dec, to)
}

// once returns a shared copy of a name.
func (d *Reader) once(s string) string {
	if known, ok := d.names[s]; ok {
		return known
	}
	d.bytes += len(s)
	d.names[s] = s
	return s
}
