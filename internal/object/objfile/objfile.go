// Package objfile opens binaries of any container, and finds the files that belong to
// them. A new container is a package beside internal/object/elfobj, and a case in each
// function here.
package objfile

import (
	"bytes"
	"io"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/object/peobj"
)

// HeadSize is how many bytes of a file Begins looks at.
const HeadSize = len(elfobj.Magic)

// Begins reports whether a file whose first bytes are head is in a known container.
func Begins(head []byte) bool {
	return bytes.HasPrefix(head, []byte(elfobj.Magic)) || bytes.HasPrefix(head, []byte(peobj.Magic))
}

// Open opens the binary at path. Errors are *bin.Error; for a file of no known container
// the message says what it is.
func Open(path string, lim object.Limits) (*object.File, error) {
	file, size, err := elfobj.OpenFile(path, lim)
	if err != nil {
		return nil, err
	}
	f, closeWith, err := open(file, size, path, lim)
	if err != nil {
		file.Close()
		return nil, err
	}
	closeWith(file)
	return f, nil
}

// New returns Open for the binary in the first size bytes of r, which Close does not close.
// name is its path in messages.
func New(r io.ReaderAt, size int64, name string, lim object.Limits) (*object.File, error) {
	f, _, err := open(r, size, name, lim)
	return f, err
}

// open also returns the function that has Close close something else, too.
func open(r io.ReaderAt, size int64, path string, lim object.Limits) (*object.File, func(io.Closer), error) {
	var head [len(peobj.Magic)]byte
	if n, _ := r.ReadAt(head[:], 0); n == len(head) && string(head[:]) == peobj.Magic {
		f, err := peobj.NewFile(r, size, path, lim)
		return f.Object(), f.CloseWith, err
	}
	f, err := elfobj.NewFile(r, size, path, lim)
	return f.Object(), f.CloseWith, err
}

// FindDebug looks for the separate debug file of f: by its id below dirs, by what f says
// of it, or by its name. If nothing is found the File is nil; tried has each place that
// was rejected. The error is non-nil if the right file cannot be read.
func FindDebug(f *object.File, dirs []string, lim object.Limits) (debug *object.File, tried []object.Tried, err error) {
	if elfobj.Of(f) == nil && peobj.Of(f) == nil {
		return nil, nil, nil
	}
	return object.Finder{Open: Open, CheckPair: CheckPair}.FindDebug(f, dirs, lim)
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
	if a, b := elfobj.Of(f), elfobj.Of(debug); a != nil && b != nil {
		return elfobj.CheckPair(a, b)
	}
	if a, b := peobj.Of(f), peobj.Of(debug); a != nil && b != nil {
		return peobj.CheckPair(a, b)
	}
	return &bin.Error{File: debug.Path, Msg: "not in the container of " + f.Path}
}
