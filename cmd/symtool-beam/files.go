package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
)

// isRemote reports whether a name is in one of Beam's file systems, such as gs://bucket/name.
func isRemote(name string) bool { return strings.Index(name, "://") > 0 }

// join returns the name of a file in a folder.
func join(dir, name string) string {
	if isRemote(dir) {
		return strings.TrimSuffix(dir, "/") + "/" + name
	}
	return filepath.Join(dir, name)
}

// fetch returns a local file with the contents of name: name itself if it is local, else a
// temporary file, which remove deletes.
func fetch(ctx context.Context, name string) (file string, remove func(), err error) {
	if !isRemote(name) {
		return name, func() {}, nil
	}
	in, err := openRead(ctx, name)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	defer in.Close()
	tmp, err := os.CreateTemp("", "symtool-beam-*")
	if err != nil {
		return "", nil, &workerError{err}
	}
	remove = func() { os.Remove(tmp.Name()) }
	_, err = io.Copy(tmp, in)
	var writing *fs.PathError
	if errors.As(err, &writing) {
		err = &workerError{err}
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		remove()
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return tmp.Name(), remove, nil
}

// workerError is an error of the worker, such as a full disk: another worker may walk the dump.
type workerError struct{ error }

func (e *workerError) Unwrap() error { return e.error }

// openRead opens a file in any file system. Closing the file also closes the file system.
func openRead(ctx context.Context, name string) (io.ReadCloser, error) {
	if !isRemote(name) {
		return os.Open(name)
	}
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := files.OpenRead(ctx, name)
	if err != nil {
		files.Close()
		return nil, err
	}
	return &remoteFile{r, files}, nil
}

type remoteFile struct {
	io.ReadCloser
	files io.Closer
}

func (f *remoteFile) Close() error { return errors.Join(f.ReadCloser.Close(), f.files.Close()) }

// writeWhole writes the file name with write: whole, or not at all. It replaces an existing file,
// such as one from an earlier attempt, which has the same bytes.
func writeWhole(ctx context.Context, name string, write func(io.Writer) error) (err error) {
	dir := ""
	if !isRemote(name) {
		dir = filepath.Dir(name)
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(dir, ".symtool-beam-*.tmp")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // it was renamed, or the write failed
	defer tmp.Close()
	w := bufio.NewWriterSize(tmp, 256<<10)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return err
	}
	if isRemote(name) {
		return upload(ctx, name, tmp)
	}
	if err := errors.Join(tmp.Chmod(0o644), tmp.Close()); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// upload copies a file into another file system. The file appears there when it is closed, so
// upload ends the context first if copying fails: half a file must not appear.
func upload(ctx context.Context, name string, f *os.File) error {
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	files, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer files.Close()
	out, err := files.OpenWrite(ctx, name)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	if _, err := io.Copy(out, f); err != nil {
		cancel()
		out.Close()
		return fmt.Errorf("%s: %w", name, err)
	}
	return out.Close()
}
