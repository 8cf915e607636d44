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

// Check reports whether the file at path is the PDB with an id. The error is fs.ErrNotExist if there is no file, and
// ErrOtherBuild for a PDB with another id.
func Check(path, id string) error {
	f, size, err := openFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return CheckID(f, size, path, id)
}

// CheckID is like Check, for the first size bytes of r; file is their name in errors.
func CheckID(r io.ReaderAt, size int64, file, id string) error {
	got, err := ID(r, size, file)
	if err == nil && got != id {
		return fmt.Errorf("%w: id %s, want %s", ErrOtherBuild, got, id)
	}
	return err
}

// FileID is like ID, for the file at path. The error is fs.ErrNotExist if there is no file.
func FileID(path string) (string, error) {
	f, size, err := openFile(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	return ID(f, size, path)
}

// ReadFile is like Read, for the file at path, which replaces that of the options.
func ReadFile(ctx context.Context, path string, o Options) (*symfmt.Result, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	o.File = path
	return Read(ctx, f, size, o)
}

// openFile opens a file and returns its size.
func openFile(path string) (*os.File, int64, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, fs.ErrNotExist
	case err == nil && !st.Mode().IsRegular():
		err = errors.New("not a regular file")
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	return f, st.Size(), nil
}

// Complete gives the module of a binary, which has the rules for the stack and, without a PDB, exported functions
// alone, what its PDB describes.
func Complete(binary, described *symfmt.Module) {
	binary.Files, binary.Origins, binary.Funcs, binary.Publics = described.Files, described.Origins, described.Funcs, described.Publics
	binary.Wins, binary.Contents = described.Wins, described.Contents
}
