package bin

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

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
