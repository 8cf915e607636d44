package pdb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/symtool/symtool/symfmt"
)

// ErrOtherBuild is the error of a PDB that does not belong to a binary.
var ErrOtherBuild = errors.New("of another build")

// File is an opened PDB.
type File struct {
	Path   string // for messages; its last element is MODULE's name
	r      io.ReaderAt
	size   int64
	closer io.Closer // nil if there is nothing to close
}

// Open opens the file at path. If there is no file, the error is fs.ErrNotExist. The contents are not checked
// until they are read.
func Open(path string) (*File, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err == nil && !st.Mode().IsRegular():
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	return &File{path, f, st.Size(), f}, nil
}

// NewFile returns the PDB in the first size bytes of r. Close does not close r.
func NewFile(r io.ReaderAt, size int64, path string) *File { return &File{path, r, size, nil} }

// ID returns the id of the PDB in the form of MODULE.
func (f *File) ID() (string, error) { return ID(f.r, f.size, f.Path) }

// CheckID returns ErrOtherBuild if the PDB has another id.
func (f *File) CheckID(id string) error {
	got, err := f.ID()
	if err == nil && got != id {
		return fmt.Errorf("%w: id %s, want %s", ErrOtherBuild, got, id)
	}
	return err
}

// Read is like the function Read, but the file's path replaces the one in the options.
func (f *File) Read(ctx context.Context, o Options) (*symfmt.Result, error) {
	o.File = f.Path
	return Read(ctx, f.r, f.size, o)
}

// Size returns the size of the file in bytes.
func (f *File) Size() int64 { return f.size }

// Close closes the file.
func (f *File) Close() error {
	if f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// OpenID opens the file at path if it is the PDB with an id; it returns the errors of Open and CheckID.
func OpenID(path, id string) (*File, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	if err := f.CheckID(id); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Complete replaces the symbols in the module of a binary by those that its PDB describes. Without a PDB, the
// module has only the stack unwinding rules and the exported functions.
func Complete(binary, described *symfmt.Module) {
	binary.Files, binary.Origins, binary.Funcs, binary.Publics = described.Files, described.Origins, described.Funcs, described.Publics
	binary.Wins, binary.Contents = described.Wins, described.Contents
}
