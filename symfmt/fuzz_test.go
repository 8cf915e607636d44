package symfmt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// FuzzRead reads any bytes, strictly and tolerantly, and uses the results: the two agree
// on good text; a module that was read can be written; the text of a canonical module is
// read strictly, and gives the same module.
func FuzzRead(f *testing.F) {
	f.Add([]byte(everyRecordText))
	f.Add([]byte(plainText))
	f.Add(testenv.Gzip(f, []byte(plainText)))
	f.Add(testenv.Zstd(f, []byte(plainText)))
	f.Add([]byte("\xff\xfeM\x00O\x00"))
	f.Add([]byte(head + "FUNC m 1 1 0 f\r\r\nINLINE 0 1 0 1 1\r\nINLINE 0 1 0 0 1 1\nffffffffffffffff 1 4294967295 9\n"))
	for _, bad := range badRecords {
		f.Add([]byte(head + "FUNC 1 1 0 f\n" + bad.text + "\n1 1 1 0\nSTACK CFI 1 .cfa: 1\n"))
	}
	for _, text := range symbolFiles(f) {
		if len(text) < 1000 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<20 {
			return
		}
		checkReader(t, text)
		strict, _, strictErr := read(bytes.NewReader(text), ReadOptions{})
		m, report, err := read(bytes.NewReader(text), ReadOptions{Tolerant: true})
		good := err == nil && len(report.Problems) == 0
		if good != (strictErr == nil) {
			t.Fatalf("strict: %v; tolerant: %v, %v", strictErr, err, report.Problems)
		}
		checkPlace(t, strictErr)
		for _, p := range report.Problems {
			checkPlace(t, p.Err)
		}
		if err != nil {
			return
		}
		if good && !strict.Equal(m) {
			t.Fatalf("strict reads\n%stolerant\n%s", show(strict), show(m))
		}
		checkWrite(t, m)
	})
}

// checkReader reads text to its end, and checks all fields.
func checkReader(t *testing.T, text []byte) {
	r := NewReader(bytes.NewReader(text), ReadOptions{Tolerant: true})
	for lines := 0; ; {
		rec, err := r.Next()
		if err != nil {
			break
		}
		if p := rec.Pos(); p.Line <= lines || p.Col < 1 {
			t.Fatalf("record at %v behind line %d", p, lines)
		}
		lines = rec.Pos().Line
		describe(rec)
		for i := 0; rec.Field(i) != nil; i++ {
			if at := rec.FieldPos(i).Col - 1; !bytes.HasPrefix(rec.Text()[at:], rec.Field(i)) {
				t.Fatalf("field %d of %q is not at %d", i, rec.Text(), at)
			}
		}
	}
}

// checkPlace checks that every error of the text has a place.
func checkPlace(t *testing.T, err error) {
	var syntax *SyntaxError
	if errors.As(err, &syntax) && (syntax.Line < 1 || syntax.Col < 1 || syntax.Msg == "") {
		t.Fatalf("error without a place: %#v", syntax)
	}
}

func checkWrite(t *testing.T, m *Module) {
	loose := mustWrite(t, m, 2)
	again, _, err := read(bytes.NewReader(loose), ReadOptions{Tolerant: true})
	if err != nil {
		t.Fatalf("read(write(m)): %v in\n%s", err, loose)
	}
	if w := mustWrite(t, again, 1); !bytes.Equal(w, loose) {
		t.Fatalf("write(read(write(m))) is\n%swant\n%s", w, loose)
	}
	checkRecords(t, m)
	m.Canonicalize()
	text := mustWrite(t, m, 2)
	back := mustRead(t, text)
	if !back.Equal(m) {
		t.Fatalf("read(write(m)) is\n%swant\n%s", show(back), show(m))
	}
}

// FuzzBody packs records made from any bytes, and checks that they are unpacked unchanged.
func FuzzBody(f *testing.F) {
	f.Add(uint64(0x1000), []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Add(uint64(1<<64-1), bytes.Repeat([]byte{0xff, 0, 0x80}, 100))
	f.Fuzz(func(t *testing.T, start uint64, data []byte) {
		in := bytes.NewReader(data)
		var r records
		var order []bool
		for in.Len() > 0 && len(order) < 2000 {
			kind, _ := in.ReadByte()
			order = append(order, kind&1 != 0)
			if kind&1 == 0 {
				r.lines = append(r.lines, Line{RVA(fuzzNumber(in)), fuzzNumber(in), uint32(fuzzNumber(in)), FileID(fuzzNumber(in))})
				continue
			}
			inline := Inline{Depth: uint32(fuzzNumber(in)), CallLine: uint32(fuzzNumber(in)), Origin: OriginID(fuzzNumber(in)), NoFile: kind&2 != 0}
			if !inline.NoFile {
				inline.CallFile = FileID(fuzzNumber(in))
			}
			for range 1 + kind>>6 {
				inline.Ranges = append(inline.Ranges, Range{RVA(fuzzNumber(in)), fuzzNumber(in)})
			}
			r.inlines = append(r.inlines, inline)
		}
		var b BodyBuilder
		var a Arena
		fn := Func{RVA: RVA(start)}
		fn.Body = r.body(&b, &a, fn.RVA, func() bool {
			if len(order) == 0 {
				return false
			}
			next := order[0]
			order = order[1:]
			return next
		})
		r.check(t, &fn)
		r.checkRefs(t, fn.Body)
		fn.Body.Renumber(func(id FileID) FileID { return ^id }, func(id OriginID) OriginID { return ^id })
		fn.Body.Renumber(func(id FileID) FileID { return ^id }, func(id OriginID) OriginID { return ^id })
		r.check(t, &fn)
	})
}

// fuzzNumber reads a number of as many bytes as its first byte says.
func fuzzNumber(in io.ByteReader) uint64 {
	n, err := in.ReadByte()
	if err != nil || n < 0xf0 {
		return uint64(n)
	}
	var b [8]byte
	for i := range n & 7 {
		b[i], _ = in.ReadByte()
	}
	v := binary.LittleEndian.Uint64(b[:])
	if n&8 != 0 {
		return ^v
	}
	return v
}
