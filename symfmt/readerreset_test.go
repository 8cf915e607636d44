package symfmt

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReaderReset(t *testing.T) {
	const text = "MODULE Linux x86_64 0 a\nFUNC 10 4 0 f\n10 4 7 0\nFUNC 20 4 0 \xef\xbb\xbfg\n20 4 8 0\n"
	rd := NewReader(strings.NewReader("FUNC 1 2"), ReadOptions{Tolerant: true, Plain: true})
	if _, err := rd.Next(); !errors.Is(err, io.EOF) || len(rd.Report().Problems) != 1 {
		t.Fatalf("bad record: %v, %v", err, rd.Report().Problems)
	}
	at := strings.Index(text, "FUNC 20")
	for range 2 {
		rd.Reset(strings.NewReader(text[at:]))
		f, err := rd.Next()
		if err != nil || f.Kind != KindFunc || f.RVA != 0x20 || string(f.Name) != "\ufeffg" || f.Pos().Line != 1 {
			t.Fatalf("%+v, %v", f, err)
		}
		l, err := rd.Next()
		if err != nil || l.Kind != KindLine || l.Line.Num != 8 {
			t.Fatalf("%+v, %v", l, err)
		}
		if _, err := rd.Next(); !errors.Is(err, io.EOF) || rd.Offset() != int64(len(text)-at) || len(rd.Report().Problems) != 0 {
			t.Fatalf("%v at %d", err, rd.Offset())
		}
	}
}

func TestReaderOffset(t *testing.T) {
	lines := []string{"MODULE Linux x86_64 0 a\n", "\nFILE 0 f\r\n", "FUNC 10 4 0 f\n", "10 4 7 0\n", "bad\nPUBLIC 5 0 p\n"}
	rd := NewReader(strings.NewReader("\xef\xbb\xbf"+strings.Join(lines, "")), ReadOptions{Tolerant: true})
	want := int64(3)
	for i, line := range lines {
		if _, err := rd.Next(); err != nil {
			t.Fatal(err)
		}
		if want += int64(len(line)); rd.Offset() != want {
			t.Errorf("behind record %d: offset %d, want %d", i, rd.Offset(), want)
		}
	}
}
