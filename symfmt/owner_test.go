package symfmt

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

const ownerHead = "MODULE Linux x86_64 D3096ED481217FD4C16B29CD9BC208BA0 m\nFILE 0 a\nINLINE_ORIGIN 0 o\n"

// Each record has its owner, whatever stands in between, and a flag if something does.
func TestOwner(t *testing.T) {
	text := ownerHead + `1000 4 1 0
FUNC 1000 10 0 f
INLINE_ORIGIN 1 p
INLINE 0 1 0 0 1000 4
1000 4 1 0
PUBLIC 2000 0 p
1004 4 1 0
FUNC 3000 zz 0 g
3000 4 1 0
FILE 1 b
3004 4 1 0
STACK CFI 1000 .cfa: $rsp 8 +
STACK CFI INIT 1000 10 .cfa: $rsp 8 +
FUNC 4000 10 0 h
STACK CFI 1001 .cfa: $rsp 16 +
4000 4 1 0
STACK CFI INIT 2000 zz .cfa: $rsp 8 +
STACK CFI 2001 .cfa: $rsp 16 +
`
	var got []string
	rd := NewReader(strings.NewReader(text), ReadOptions{Tolerant: true})
	for rec, err := rd.Next(); err == nil; rec, err = rd.Next() {
		switch rec.Kind {
		case KindLine, KindInline, KindCFI:
			got = append(got, fmt.Sprintf("%d %s %t", rec.Pos().Line, [...]string{"read", "lost", "missing"}[rec.Owner], rec.Apart && rec.Kind != KindCFI))
		}
	}
	want := []string{
		"4 missing true", "7 read false", "8 read false", "10 read true", "12 lost false", "14 lost true",
		"15 missing false", "18 read false", "19 read true", "21 lost false",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// An outline has the same records and extents as reading everything, however the text is cut
// into reads.
func TestOutline(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	for _, text := range []string{outlineText(rng, false), outlineText(rng, true), string(mediumText())} {
		all := outlineOf(t, strings.NewReader(text), false)
		for _, in := range []io.Reader{strings.NewReader(text), &shortReads{r: strings.NewReader(text), rng: rng}} {
			if got := outlineOf(t, in, true); !slices.Equal(got, all) {
				i := 0
				for i < min(len(got), len(all)) && got[i] == all[i] {
					i++
				}
				t.Errorf("%d of %d records, %q, want %q", i, len(all), got[i:min(i+1, len(got))], all[i:min(i+1, len(all))])
			}
		}
	}
}

// outlineText returns a text with all kinds of records in any order. Its INLINEs are of the old
// form or the new one.
func outlineText(rng *rand.Rand, old bool) string {
	var b bytes.Buffer
	b.WriteString(ownerHead + "FUNC 1000 10 0 f\nSTACK CFI INIT 1000 10 .cfa: $rsp 8 +\n")
	for i := range 2000 {
		rva := 0x1000 + i
		switch rng.IntN(12) {
		case 0:
			fmt.Fprintf(&b, "FUNC %x 10 0 f\n", rva)
		case 1:
			fmt.Fprintf(&b, "STACK CFI INIT %x 10 .cfa: $rsp 8 +\r\n", rva)
		case 2, 3, 4:
			fmt.Fprintf(&b, "%x 4 3 0\n", rva)
		case 5:
			fmt.Fprintf(&b, " \tFFFF%x 4 3 0\r\n", rva)
		case 6, 7:
			file := " 0"
			if old {
				file = ""
			}
			fmt.Fprintf(&b, "INLINE 0 1%s 0 %x 4\n", file, rva)
		case 8, 9:
			fmt.Fprintf(&b, "STACK CFI %x .cfa: $rsp 16 +\n", rva)
		case 10:
			fmt.Fprintf(&b, "PUBLIC %x 0 p\n", rva)
		case 11:
			b.WriteString("\n")
		}
	}
	fmt.Fprintf(&b, "FUNC 9000 10 0 f\n9000 4 3 0") // unterminated
	return b.String()
}

// outlineOf describes the records of an outline, with the extents of the previous groups that
// have ended.
func outlineOf(t *testing.T, in io.Reader, outline bool) (all []string) {
	t.Helper()
	rd := NewReader(in, ReadOptions{Tolerant: true, Grouped: true, Outline: outline})
	for {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return append(all, fmt.Sprint("end", rd.Ended(KindFunc), rd.Ended(KindCFIInit), rd.Offset(), rd.Report().Lines, rd.Report().Problems))
		}
		if err != nil {
			t.Fatal(err)
		}
		switch rec.Kind {
		case KindLine, KindInline, KindCFI:
			if rec.Owner != OwnerRead {
				t.Fatalf("line %d: an orphan", rec.Pos().Line)
			}
		default:
			all = append(all, fmt.Sprint(rec.Pos(), rec.Kind, rec.RVA, rd.Extent(), rd.Ended(KindFunc), rd.Ended(KindCFIInit)))
		}
	}
}

// shortReads gives few bytes at a time.
type shortReads struct {
	r   io.Reader
	rng *rand.Rand
}

func (s *shortReads) Read(p []byte) (int, error) {
	return s.r.Read(p[:min(len(p), 1+s.rng.IntN(5000))])
}

// An outline skips lines without parsing them.
func TestOutlineSkips(t *testing.T) {
	rd := NewReader(bytes.NewReader(mediumText()), ReadOptions{Outline: true})
	owned := 0
	for rec, err := rd.Next(); err == nil; rec, err = rd.Next() {
		switch rec.Kind {
		case KindLine, KindInline, KindCFI:
			owned++
		}
	}
	if owned != 1 { // the INLINE that shows the form
		t.Errorf("%d records of FUNCs and STACK CFI INITs were parsed, want 1", owned)
	}
}

// A piece of text in memory is read in place.
func TestResetText(t *testing.T) {
	rd := NewReader(nil, ReadOptions{Tolerant: true})
	for _, text := range []string{"FUNC 10 4 0 f\n10 4 7 0\n", "\n\nFUNC 10 4 0 f\r\n10 4 7 0\r\n"} {
		rd.ResetText([]byte(text))
		f, err := rd.Next()
		if err != nil || f.Kind != KindFunc || string(f.Name) != "f" {
			t.Fatalf("%q: %+v, %v", text, f, err)
		}
		l, err := rd.Next()
		if err != nil || l.Kind != KindLine || l.Line.Num != 7 || l.Owner != OwnerRead {
			t.Fatalf("%q: %+v, %v", text, l, err)
		}
		if _, err := rd.Next(); !errors.Is(err, io.EOF) || rd.Offset() != int64(len(text)) || rd.Ended(KindFunc).End != int64(len(text)) {
			t.Fatalf("%q: %v at %d, %v", text, err, rd.Offset(), rd.Ended(KindFunc))
		}
	}
	rd.ResetText(nil)
	if _, err := rd.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("no text: %v", err)
	}
}
