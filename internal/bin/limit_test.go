package bin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadUpTo(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789"), 300_000)
	for _, c := range []struct{ most, want int64 }{
		{0, 0}, {-1, 0}, {7, 7}, {int64(len(text)), int64(len(text))}, {1 << 60, int64(len(text))},
	} {
		got, err := ReadUpTo(iotest.HalfReader(bytes.NewReader(text)), c.most)
		if err != nil || !bytes.Equal(got, text[:c.want]) {
			t.Errorf("most %d: %d bytes, %v, want %d", c.most, len(got), err, c.want)
		}
		if room := int64(cap(got)); room > max(1<<20, 8*c.want) {
			t.Errorf("most %d: room for %d bytes", c.most, room)
		}
	}
	bad := errors.New("bad disk")
	if _, err := ReadUpTo(io.MultiReader(bytes.NewReader(text), iotest.ErrReader(bad)), 1<<30); !errors.Is(err, bad) {
		t.Errorf("error %v, want %v", err, bad)
	}
}

func TestContextReader(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	r := ContextReader(ctx, strings.NewReader("abcdef"))
	buffer := make([]byte, 3)
	if n, err := io.ReadFull(r, buffer); n != 3 || err != nil || string(buffer) != "abc" {
		t.Fatalf("%d bytes %q, %v", n, buffer, err)
	}
	cause := errors.New("ended")
	cancel(cause)
	if n, err := r.Read(buffer); n != 0 || err != cause {
		t.Errorf("%d bytes, %v, want none and the cause", n, err)
	}
}
