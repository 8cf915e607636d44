package damage

import (
	"errors"
	"io"
	"testing"
)

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  Error
		want string
	}{
		{Error{File: "a.out", Section: ".debug_info", Offset: 0x1c, Msg: "version 7, want 2 to 5"}, "a.out: .debug_info+0x1c: version 7, want 2 to 5"},
		{Error{File: "a.out", Offset: 16, Msg: "not a binary"}, "a.out: offset 0x10: not a binary"},
		{Error{File: "a.out", Err: io.EOF}, "a.out: EOF"},
		{Error{Section: ".x", Msg: "cut short", Err: io.EOF}, ".x+0x0: cut short: EOF"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	err := error(&Error{File: "a.out", Err: io.EOF})
	if !errors.Is(err, io.EOF) {
		t.Error("the cause is not found")
	}
	p := Problem{Lost: "unit at 0x1c", Err: err}
	if got, want := p.String(), "a.out: EOF (lost: unit at 0x1c)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := (Problem{Err: err}).String(), "a.out: EOF"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
