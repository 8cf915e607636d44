package symfmt

import (
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

// readOne reads a text of one record.
func readOne(t *testing.T, in io.Reader) (Record, error) {
	t.Helper()
	r := NewReader(in, ReadOptions{})
	rec, err := r.Next()
	if err != nil {
		return Record{}, err
	}
	got := *rec
	got.Inline.Ranges = append([]Range(nil), got.Inline.Ranges...)
	got.text = nil
	if _, err := r.Next(); err != io.EOF {
		t.Fatalf("a second record: %v", err)
	}
	return got, nil
}

// The fast paths for line records and INLINEs read the same as parse does: a leading
// blank makes a line unusual.
func TestFastLines(t *testing.T) {
	texts := []string{
		"INLINE 0 5 1 2 1000 4",
		"INLINE 10 522 1333 21111 123456789ab 48",
		"INLINE 2 5 100 2000 1000 4 2000 1a",
		"1000 40 522 13",
		"INLINE 1 5 1 2 1000 4 ffffffffffffffff 1 ABCdef 0",
		"INLINE 4294967295 4294967295 4294967295 4294967295 0 ffffffffffffffff",
		"INLINE 4294967296 5 1 2 1000 4",
		"INLINE 00000000001 5 1 2 1000 4",
		"INLINE 0 5 1 2 00000000000001000 4",
		"INLINE 0 5 1 2 1000 00000000000000004",
		"INLINE 0 5 1 2 ffffffffffffffff 2",
		"INLINE 0 5 2 1000 4",
		"INLINE 0 5 -1 2 1000 4",
		"INLINE 0 5 1 2",
		"INLINE 0 5 1 2 ",
		"INLINE 0 5 1 2 1000",
		"INLINE 0 5 1 2 1000 ",
		"INLINE 0 5 1 2 1000 4 ",
		"INLINE 0 5 1 2 1000 4 2000",
		"INLINE 0 5 1 2 1000 4\r",
		"INLINE 0 5 1 2 1000 4x",
		"INLINE 0  5 1 2 1000 4",
		"INLINE 0 5 1 2\t1000 4",
		"INLINE_ORIGIN 0 f",
		"INLINE",
		"INLINE ",
		"1000 4 5 1",
		"1000 4 5 1\r",
		"1000 4 5 4294967296",
		"1000 4 5",
	}
	rng := rand.New(rand.NewPCG(1, 2))
	plain := len(texts)
	for range 1000 {
		text := []byte(texts[rng.IntN(plain)])
		text[rng.IntN(len(text))] = "0123456789abcdef0123 \t\rx-"[rng.IntN(25)]
		texts = append(texts, string(text))
	}
	read, refused := 0, 0
	for _, text := range texts {
		if text[0] == ' ' || text[0] == '\t' || strings.TrimSpace(text) == "" {
			continue
		}
		want, wantErr := readOne(t, strings.NewReader(" "+text+"\n"))
		for _, in := range []io.Reader{
			strings.NewReader(text + "\n"),
			iotest.OneByteReader(strings.NewReader(text + "\n")),
		} {
			got, err := readOne(t, in)
			if reflect.DeepEqual(got, want) && (err == nil) == (wantErr == nil) {
				continue
			}
			t.Errorf("%q: %+v, %v, want %+v, %v", text, got, err, want, wantErr)
		}
		var se *SyntaxError
		switch {
		case wantErr == nil:
			read++
		case errors.As(wantErr, &se):
			refused++
		default:
			t.Errorf("%q: %v", text, wantErr)
		}
	}
	if read < 200 || refused < 200 {
		t.Errorf("%d texts read, %d refused", read, refused)
	}
}
