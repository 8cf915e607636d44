package store

import (
	"fmt"
	"io"
	"strings"
)

// Inspected is what a symbol file says of itself.
type Inspected struct {
	Place            Place
	OS, Arch         string   // of MODULE
	CodeID, CodeFile string   // of INFO CODE_ID; "" without
	Faults           []string // of a file that was taken all the same
}

// Inspect reads a symbol file, which may be compressed, to its end, and gives its text
// to use as it goes. What it takes is what Add takes: damaged takes files with records
// that cannot be read, too.
func Inspect(in io.Reader, use io.Writer, damaged bool) (*Inspected, error) {
	c, err := check(in, use)
	if err != nil {
		return nil, err
	}
	f := &Inspected{OS: c.os, Arch: c.arch}
	if f.Faults, err = c.taken(damaged); err != nil {
		return nil, err
	}
	if f.Place, err = NewPlace(c.name, c.id); err != nil {
		return nil, fmt.Errorf("MODULE %w", err)
	}
	f.CodeID, f.CodeFile, _ = strings.Cut(c.code, " ")
	return f, nil
}
