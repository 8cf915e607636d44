package sframe

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// A V3 function without rows is outermost, in a look-up and as a Func. One whose
// attributes are damaged is not, and a signal frame's has no row.
func TestNoRows(t *testing.T) {
	outermost := Row{RA: Rule{Kind: Undefined}}
	data, _ := mustEncode(t, []Func{{Start: 0x1000, Size: 8, Rows: []Row{outermost}}}, Target{Version: 3, ABI: AMD64})
	attr := headerSize + 16
	for _, tt := range []struct {
		name    string
		patch   func(attr []byte)
		row     Row
		findErr string
		rows    int
		funcs   int
	}{
		{"row", func([]byte) {}, outermost, "", 1, 1},
		{"no rows", func(attr []byte) { attr[0] = 0 }, outermost, "", 1, 1},
		{"signal frame", func(attr []byte) { attr[0], attr[2] = 0, 0x80 }, Row{}, ErrNoRow.Error(), 0, 1},
		{"unknown type", func(attr []byte) { attr[0], attr[3] = 0, 5 }, Row{},
			".sframe+0x1c: the attributes of the function at 0x1000 cannot be read", 0, 0},
		{"block of size 0", func(attr []byte) { attr[2] = 0x10 }, Row{}, ".sframe+0x1c: PCMASK with a block of size 0", 1, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := append([]byte(nil), data...)
			tt.patch(b[attr:])
			s, err := Decode(b, Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, row, err := s.Find(0x1004)
			if got := errText(err); row != tt.row || got != tt.findErr {
				t.Errorf("Find = %+v, %q; want %+v, %q", row, got, tt.row, tt.findErr)
			}
			if f, _ := s.Func(0); len(f.Rows) != tt.rows {
				t.Errorf("%+v, want %d rows", f, tt.rows)
			}
			if funcs, problems := s.Funcs(); len(funcs) != tt.funcs || len(funcs)+len(problems) != 1 {
				t.Errorf("Funcs = %+v, %v; want %d", funcs, problems, tt.funcs)
			}
		})
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// A thousand functions that share thirty thousand rows would take 2 GB.
func TestFuncsShared(t *testing.T) {
	f := Func{Start: 0x1000, Size: 1 << 16}
	for i := range uint32(30_000) {
		f.Rows = append(f.Rows, Row{Start: 2 * i, CFA: Rule{Value, 7, int64(8 + i%2*8)}, RA: amd64RA})
	}
	one, _ := mustEncode(t, []Func{f}, Target{Version: 2, ABI: AMD64})
	head, fde, rows := one[:headerSize], one[headerSize:headerSize+20], one[headerSize+20:]
	b := append(append(bytes.Clone(head), bytes.Repeat(fde, 1000)...), rows...)
	binary.LittleEndian.PutUint32(b[8:], 1000)
	binary.LittleEndian.PutUint32(b[24:], 20*1000)
	s, err := Decode(b, Options{})
	if err != nil {
		t.Fatal(err)
	}
	funcs, problems := s.Funcs()
	total := 0
	for _, f := range funcs {
		total += len(f.Rows)
	}
	if len(funcs)+len(problems) != 1000 || total > len(b)+sharedRows || total < len(b)/2 {
		t.Errorf("%d functions with %d rows, %d problems, of %d bytes", len(funcs), total, len(problems), len(b))
	}
}
