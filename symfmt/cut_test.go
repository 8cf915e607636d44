package symfmt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// cutText has a record of each kind, so that cuts fall inside each.
const cutText = `MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 app
INFO CODE_ID 67452301AB89EFCD0123456789ABCDEF
FILE 0 a.c
FILE 12 b.c
INLINE_ORIGIN 0 inner
FUNC 1000 20 0 outer
INLINE 0 7 0 0 1004 8 1010 4
1000 10 12345 12
1010 10 7 0
PUBLIC 2000 0 last public
STACK WIN 4 1000 20 1 0 0 0 0 0 1 $eip 4 + ^ =
STACK CFI INIT 1000 20 .cfa: $rsp 8 + .ra: .cfa -8 + ^
STACK CFI 1001 .cfa: $rsp 16 + $rbp: .cfa -16 + ^
`

// No reader uses a last line that the text ends inside: a truncated record often
// reads as a different one.
func TestCutLines(t *testing.T) {
	whole, _, err := read(strings.NewReader(cutText), ReadOptions{})
	if err != nil || len(whole.CFI.Rows) != 1 {
		t.Fatalf("%+v, %v", whole, err)
	}
	for at := 1; at < len(cutText); at++ {
		text := cutText[:at]
		lines := text[:strings.LastIndexByte(text, '\n')+1]
		for _, o := range []ReadOptions{{}, {Grouped: true}, {Outline: true}} {
			o.Tolerant = true
			got, report := everything(text, o)
			want, _ := everything(lines, o)
			if got != want {
				t.Errorf("cut at %d, %+v: records\n%s\nwant\n%s", at, o, got, want)
			}
			cut := report.Cut != nil
			if cut != (text != lines) || cut != (len(report.Problems) == 1 && report.Problems[0].Err == report.Cut) {
				t.Errorf("cut at %d, %+v: cut %v, problems %v", at, o, report.Cut, report.Problems)
			}
		}
		var bad *SyntaxError
		_, err := Read(context.Background(), strings.NewReader(text), ReadOptions{File: "cut.sym"})
		if text != lines && (!errors.As(err, &bad) || bad.Line != strings.Count(lines, "\n")+1 || bad.Col != len(text)-len(lines)+1) {
			t.Errorf("cut at %d: the strict reader returns %v", at, err)
		}
	}
}

// everything returns the records of a text that a Reader returns, and its report.
func everything(text string, o ReadOptions) (string, Report) {
	var all strings.Builder
	rd := NewReader(strings.NewReader(text), o)
	for {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return all.String(), rd.Report()
		}
		all.WriteString(describe(rec) + "\n")
	}
}

func TestCutMessages(t *testing.T) {
	for _, c := range []struct{ text, want, lost string }{
		{"STACK CFI 1001 .cfa: $rsp 1", "a.sym:1:28: STACK CFI: the file ends inside this line: want a line feed", "STACK CFI"},
		{"FUNC 1000 10 0 functi", "a.sym:1:22: FUNC: the file ends inside this line: want a line feed", "FUNC"},
		{"1000 10 12345 1", "a.sym:1:16: line record: the file ends inside this line: want a line feed", "line record"},
		{"FUN", "a.sym:1:4: the file ends inside this line: want a line feed", "line"},
		{"  ", "a.sym:1:3: the file ends inside this line: want a line feed", "line"},
	} {
		rd := NewReader(strings.NewReader(c.text), ReadOptions{File: "a.sym", Tolerant: true})
		if _, err := rd.Next(); err != io.EOF {
			t.Fatal(err)
		}
		if p := rd.Report().Problems; len(p) != 1 || p[0].Err.Error() != c.want || p[0].Lost != c.lost {
			t.Errorf("%q: %v, want %s (%s)", c.text, p, c.want, c.lost)
		}
	}
	// Its cut is known even if there are too many bad lines to keep it.
	text := bytes.Repeat([]byte("bad\n"), 3)
	rd := NewReader(bytes.NewReader(append(text, "FILE 0"...)), ReadOptions{Tolerant: true, MaxProblems: 1})
	if _, err := rd.Next(); err != io.EOF || rd.Report().Cut == nil || rd.Report().Dropped != 3 {
		t.Errorf("%v, %+v", err, rd.Report())
	}
}
