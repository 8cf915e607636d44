// Package objfile opens binaries of any container, and finds the files that belong to
// them. A new container is a package beside internal/object/elfobj, and a case in each
// function here.
package objfile

import (
	"bytes"
	"io"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	elfobj "github.com/symtool/symtool/internal/object/elfobj"
)

// HeadSize is how many bytes of a file Begins looks at.
const HeadSize = len(elfobj.Magic)

// Begins reports whether a file whose first bytes are head is in a known container.
func Begins(head []byte) bool { return bytes.HasPrefix(head, []byte(elfobj.Magic)) }

// Open opens the binary at path. Errors are *bin.Error; for a file of no known container
// the message says what it is.
func Open(path string, lim object.Limits) (*object.File, error) {
	f, err := elfobj.Open(path, lim)
	return f.Object(), err
}

// New is Open for the binary in the first size bytes of r, which Close does not close. name is
// its path in messages.
func New(r io.ReaderAt, size int64, name string, lim object.Limits) (*object.File, error) {
	f, err := elfobj.NewFile(r, size, name, lim)
	return f.Object(), err
}

// FindDebug looks for the separate debug file of f: by its id below dirs, by what f says
// of it, or by its name. If nothing is found the File is nil; tried has each place that
// was rejected. The error is non-nil if the right file cannot be read.
func FindDebug(f *object.File, dirs []string, lim object.Limits) (debug *object.File, tried []object.Tried, err error) {
	e := elfobj.Of(f)
	if e == nil {
		return nil, nil, nil
	}
	found, tried, err := elfobj.FindDebug(e, dirs, lim)
	return found.Object(), tried, err
}

// FindSupplement looks for the file that l, a link of f, names. What is returned is as for
// FindDebug.
func FindSupplement(f *object.File, l *object.Link, dirs []string, lim object.Limits) (sup *object.File, tried []object.Tried, err error) {
	e := elfobj.Of(f)
	if e == nil {
		return nil, nil, nil
	}
	found, tried, err := elfobj.FindSupplement(e, l, dirs, lim)
	return found.Object(), tried, err
}

// CheckPair returns nil or a *bin.Error with the reason why debug cannot be the
// separate debug file of f.
func CheckPair(f, debug *object.File) error {
	a, b := elfobj.Of(f), elfobj.Of(debug)
	if a == nil || b == nil {
		return &bin.Error{File: debug.Path, Msg: "not in the container of " + f.Path}
	}
	return elfobj.CheckPair(a, b)
}
