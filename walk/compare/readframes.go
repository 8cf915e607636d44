package compare

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/symtool/symtool/walk"
)

func (d *Reader) threads() (all []OutlineThread, err error) {
	var t *OutlineThread
	err = d.list("threads", func() error {
		all = append(all, OutlineThread{})
		t = &all[len(all)-1]
		return nil
	}, func(key string) (err error) {
		switch key {
		case "thread_id":
			t.HasID, err = d.number(key, &t.ID)
		case "thread_name":
			err = d.text(key, &t.Name)
		case "frames":
			t.Frames, err = d.frames()
		default:
			err = d.skip()
		}
		return err
	})
	return all, err
}

// jsonFrame is a frame in the schema. Null values become empty.
type jsonFrame struct {
	Offset       jsonAddress  `json:"offset"`
	ModuleOffset jsonAddress  `json:"module_offset"`
	Module       string       `json:"module"`
	Function     string       `json:"function"`
	File         string       `json:"file"`
	Line         uint32       `json:"line"`
	Trust        string       `json:"trust"`
	Inlines      []jsonInline `json:"inlines"`
	Symtool      struct {
		SP jsonAddress `json:"sp"`
	} `json:"symtool"`
}

type jsonInline struct {
	Function string `json:"function"`
	File     string `json:"file"`
	Line     uint32 `json:"line"`
}

// jsonAddress is a number in hexadecimal, which is a text.
type jsonAddress uint64

func (a *jsonAddress) UnmarshalText(text []byte) error {
	digits, ok := strings.CutPrefix(string(text), "0x")
	v, err := strconv.ParseUint(digits, 16, 64)
	if !ok || err != nil {
		return fmt.Errorf(`want an address such as "0x1234", found %.40q`, text)
	}
	*a = jsonAddress(v)
	return nil
}

// frames reads a list of frames, or null.
func (d *Reader) frames() (all []OutlineFrame, err error) {
	tok, err := d.token()
	if err != nil || tok == nil {
		return nil, err
	}
	if tok != json.Delim('[') {
		return nil, d.fail("want a list for \"frames\", found %s", kindOf(tok))
	}
	for d.more() {
		var f jsonFrame
		if err := d.decode(&f); err != nil {
			return nil, err
		}
		if d.kept += 1 + len(f.Inlines); d.kept > maxOutlineFrames {
			return nil, d.fail("more than %d threads, frames and inlines", maxOutlineFrames)
		}
		x, err := d.frame(&f)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	_, err = d.token()
	return slices.Clip(all), err
}

func (d *Reader) frame(f *jsonFrame) (OutlineFrame, error) {
	x := OutlineFrame{Addr: uint64(f.Offset), SP: uint64(f.Symtool.SP), Offset: uint64(f.ModuleOffset), Trust: walk.TrustNamed(f.Trust), Line: f.Line,
		Module: d.once(f.Module), Function: d.once(f.Function), File: d.once(f.File)}
	for _, in := range f.Inlines {
		x.Inlines = append(x.Inlines, OutlineInline{d.once(in.Function), d.once(in.File), in.Line})
	}
	if d.bytes > maxNames {
		return x, d.fail("more than %d bytes of names", maxNames)
	}
	return x, nil
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

// crashing reads which thread crashed; its frames are among those of threads.
func (d *Reader) crashing() (int, error) {
	index := -1
	err := d.object("crashing_thread", func(key string) error {
		if key != "threads_index" {
			return d.skip()
		}
		var n uint32
		known, err := d.number(key, &n)
		if known {
			index = int(n)
		}
		return err
	})
	return index, err
}

func (d *Reader) dumpName() (name string, err error) {
	err = d.object("symtool", func(key string) error {
		if key == "dump" {
			return d.text(key, &name)
		}
		return d.skip()
	})
	return name, err
}
