package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/symtool/symtool/internal/bin"
)

// TestNamed checks that the file is named once, even if the error already names it.
func TestNamed(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{errors.New("bad"), "a.elf: bad"},
		{&bin.Error{Section: ".debug_info", Offset: 1, Msg: "bad"}, "a.elf: .debug_info+0x1: bad"},
		{&bin.Error{File: "b.elf", Msg: "bad"}, "b.elf: bad"},
		{fmt.Errorf("unit: %w", &bin.Error{File: "b.elf", Msg: "bad"}), "unit: b.elf: bad"},
		{&fs.PathError{Op: "read", Path: "c.elf", Err: errors.New("bad")}, "read c.elf: bad"},
		{&fs.PathError{Op: "open", Path: "c.elf", Err: errors.New("bad")}, "c.elf: bad"},
	} {
		if got := InputError("a.elf", c.err).Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
