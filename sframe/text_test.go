package sframe_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt/damage"
)

// textAddr is the address of the fixtures' sections.
const textAddr = 0x402000

// fixture decodes golden/input/NAME.sframe.
func fixture(t testing.TB, name string) *sframe.Section {
	t.Helper()
	data := testenv.ReadInput(t, name+".sframe")
	s, err := sframe.Decode(data, sframe.Options{Addr: textAddr})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPrint(t *testing.T) {
	for _, name := range []string{"sframe-text-v3", "sframe-text-damaged"} {
		s := fixture(t, name)
		var text, doc bytes.Buffer
		if err := errors.Join(s.Print(&text), s.WriteJSON(&doc)); err != nil {
			t.Fatal(err)
		}
		testenv.Golden(t).Assert(t, name+".txt", text.Bytes())
		testenv.Golden(t).Assert(t, name+".json", doc.Bytes())
		if !json.Valid(doc.Bytes()) {
			t.Errorf("%s: the JSON is invalid", name)
		}
	}
}

// If sections are concatenated, the second header is printed with its offset, and
// functions are numbered consecutively.
func TestPrintTwoHeaders(t *testing.T) {
	data := testenv.ReadInput(t, "sframe-text-v3.sframe")
	for len(data)%8 != 0 {
		data = append(data, 0)
	}
	s, err := sframe.Decode(append(data, data...), sframe.Options{Addr: textAddr})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := s.Print(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\n  Header :\n", "\n\n  Header at 0xa8 :\n\n    Version", "idx [2]: pc = 0x401040", "idx [3]: pc = 0x4010a8"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

func TestPrintEmpty(t *testing.T) {
	s, err := sframe.Decode(nil, sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text, doc bytes.Buffer
	if err := errors.Join(s.Print(&text), s.WriteJSON(&doc)); err != nil {
		t.Fatal(err)
	}
	if got, want := text.String(), "Contents of the SFrame section .sframe:\n  empty\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := doc.String(), "{\"section\": \".sframe\", \"addr\": \"0x0\", \"headers\": [], \"problems\": []}"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPrintAt(t *testing.T) {
	for _, tt := range []struct {
		name string
		pc   uint64
		text string
		row  string // in the JSON
	}{
		{"sframe-text-v3", 0x401009, "    func idx [0]: pc = 0x401000, size = 32 bytes\n    STARTPC         CFA       FP        RA\n    0000000000401009  RA undefined\n",
			`"row": {"offset": "0x62", "start": 9, "raw": "0900", "ra": {"kind": "undefined"}}}`},
		{"sframe-text-v3", 0x40107f, "    func idx [2]: pc = 0x401040, size = 64 bytes\n    STARTPC[m]      CFA       FP        RA\n    000000000000000b  sp+16     u         f\n",
			`"start": 11, "raw": "0b0310"`},
		{"sframe-text-v3", 0x401080, " no function\n", `{"pc": "0x401080"}`},
		{"sframe-text-damaged", 0x40104c, "    func idx [2]: pc = 0x401040, size = 64 bytes\n    error: .sframe+0xa3: info 0x63: data words of size code 3\n",
			`"error": {"section": ".sframe", "offset": "0xa3", "message": "info 0x63: data words of size code 3"}}`},
	} {
		s := fixture(t, tt.name)
		var text, doc bytes.Buffer
		if err := errors.Join(s.PrintAt(&text, tt.pc), s.WriteJSONAt(&doc, tt.pc)); err != nil {
			t.Fatal(err)
		}
		if _, got, _ := strings.Cut(text.String(), ":"); strings.TrimPrefix(got, "\n") != tt.text {
			t.Errorf("%s, %#x: %q, want %q", tt.name, tt.pc, got, tt.text)
		}
		if !strings.Contains(doc.String(), tt.row) || !json.Valid(doc.Bytes()) {
			t.Errorf("%s, %#x: %s, want %s", tt.name, tt.pc, doc.String(), tt.row)
		}
	}
}

// A version 3 function without rows has no caller.
func TestPrintAtOutermost(t *testing.T) {
	data := testenv.ReadInput(t, "sframe-text-v3.sframe")
	data[28+3*16] = 0 // number of rows of the first function
	s, err := sframe.Decode(data, sframe.Options{Addr: textAddr})
	if err != nil {
		t.Fatal(err)
	}
	var text, doc bytes.Buffer
	if err := errors.Join(s.PrintAt(&text, 0x401000), s.WriteJSONAt(&doc, 0x401000)); err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(text.String(), "\n    no rows: the outermost frame\n") || !strings.HasSuffix(doc.String(), `"row": {"ra": {"kind": "undefined"}}}`) {
		t.Errorf("%s%s", &text, &doc)
	}
}

// If a function's attributes are outside the section, a line in place of its rows says
// so.
func TestPrintLostRows(t *testing.T) {
	data := testenv.ReadInput(t, "sframe-text-v3.sframe")
	data[28+15] = 0x7f // the offset of the first function's attributes
	s, err := sframe.Decode(data, sframe.Options{Addr: textAddr})
	if err != nil {
		t.Fatal(err)
	}
	var text, doc bytes.Buffer
	if err := errors.Join(s.Print(&text), s.WriteJSON(&doc)); err != nil {
		t.Fatal(err)
	}
	if want := "RA\n    error: .sframe+0x1c: the attributes of the function at 0x401000 cannot be read\n\n"; !strings.Contains(text.String(), want) {
		t.Errorf("no %q in\n%s", want, &text)
	}
	want := `"rows": [], "error": {"section": ".sframe", "offset": "0x1c", "message": "the attributes of the function at 0x401000 cannot be read"}}`
	if !strings.Contains(doc.String(), want) || !json.Valid(doc.Bytes()) {
		t.Errorf("no %q in\n%s", want, &doc)
	}
}

// Whatever value a byte has, the output is complete and bounded.
func TestPrintAnyByte(t *testing.T) {
	good := testenv.ReadInput(t, "sframe-text-v3.sframe")
	for i := range good {
		for _, v := range []byte{0, 1, 0x7f, 0x80, 0xff, good[i] ^ 4} {
			data := bytes.Clone(good)
			data[i] = v
			s, err := sframe.Decode(data, sframe.Options{Addr: textAddr})
			if err != nil {
				continue
			}
			var text, doc bytes.Buffer
			if err := errors.Join(s.Print(&text), s.WriteJSON(&doc), s.PrintAt(&text, 0x401024)); err != nil {
				t.Fatal(err)
			}
			damaged := false
			s.Damage(func(damage.Problem) { damaged = true })
			if reports := strings.Contains(text.String(), "    error: "); reports && !damaged || !json.Valid(doc.Bytes()) {
				t.Errorf("byte %#x is %#x: damaged %v\n%s%s", i, v, damaged, &text, &doc)
			}
		}
	}
}

// Functions that share all rows do not turn a small section into a large text.
func TestPrintSharedRows(t *testing.T) {
	const n = 600
	u32 := func(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
	data := []byte{0xe2, 0xde, 2, 1, 3, 0, 0xf8, 0}
	for _, v := range []uint32{n, n * n, n * 3, 0, n * 20} {
		data = u32(data, v)
	}
	for range n {
		for _, v := range []uint32{0, 16, 0, n, 0} {
			data = u32(data, v)
		}
	}
	data = append(data, bytes.Repeat([]byte{1, 3, 8}, n)...)
	s, err := sframe.Decode(data, sframe.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var text, doc bytes.Buffer
	if err := errors.Join(s.Print(&text), s.WriteJSON(&doc)); err != nil {
		t.Fatal(err)
	}
	problems := 0
	s.Damage(func(damage.Problem) { problems++ })
	want := "rows of FDE 599 left out: functions share rows more than 2 times over"
	if lines := bytes.Count(text.Bytes(), []byte("\n")); lines > 20*len(data) || !strings.Contains(text.String(), want) || problems == 0 || problems == n {
		t.Errorf("%d lines, %d problems", lines, problems)
	}
	if !json.Valid(doc.Bytes()) {
		t.Error("the JSON is invalid")
	}
}

func TestPrintWriterFails(t *testing.T) {
	s := fixture(t, "sframe-text-damaged")
	for _, err := range []error{
		s.Print(&testenv.FullWriter{}), s.WriteJSON(&testenv.FullWriter{}),
		s.PrintAt(&testenv.FullWriter{}, 0x401000), s.WriteJSONAt(&testenv.FullWriter{}, 0x401000),
	} {
		if !errors.Is(err, testenv.ErrFull) {
			t.Errorf("%v, want %v", err, testenv.ErrFull)
		}
	}
}

// large returns a section of 5 MB: 150,000 functions of four rows.
func large(t testing.TB) *sframe.Section {
	t.Helper()
	const n = 150_000
	rows := []byte{4, 0, 0, 0, 0, 0, 3, 8, 1, 5, 16, 0xf0, 4, 4, 16, 0xf0, 9, 3, 8}
	head := []byte{0xe2, 0xde, 3, 4, 3, 0, 0xf8, 0}
	u32 := func(b []byte, v uint32) []byte { return append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24)) }
	for _, v := range []uint32{n, 4 * n, n * uint32(len(rows)), 0, n * 16} {
		head = u32(head, v)
	}
	for i := range uint32(n) {
		for _, v := range []uint32{1<<24 + i, 0, 16, i * uint32(len(rows))} {
			head = u32(head, v)
		}
	}
	s, err := sframe.Decode(append(head, bytes.Repeat(rows, n)...), sframe.Options{})
	if err != nil || len(s.Problems) > 0 {
		t.Fatal(err, s.Problems)
	}
	return s
}

func TestPrintLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("5 MB")
	}
	s := large(t)
	for name, write := range map[string]func(w *testenv.FullWriter) error{
		"text": func(w *testenv.FullWriter) error { return s.Print(w) },
		"JSON": func(w *testenv.FullWriter) error { return s.WriteJSON(w) },
	} {
		w := &testenv.FullWriter{Left: 1 << 40}
		start := time.Now()
		if err := write(w); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d MB in %v", name, (1<<40-w.Left)>>20, time.Since(start))
		if allocs := testing.AllocsPerRun(1, func() { _ = write(w) }); allocs > float64(len(s.FDEs)/10) {
			t.Errorf("%s: %v allocations for %d functions", name, allocs, len(s.FDEs))
		}
	}
}
