package testenv

import (
	"errors"
	"io"
)

// ErrFull is the error of a FullWriter.
var ErrFull = errors.New("no space")

// FullWriter takes Left bytes, and then fails as a full disk does.
type FullWriter struct{ Left int }

func (w *FullWriter) Write(p []byte) (int, error) {
	if w.Left -= len(p); w.Left < 0 {
		return 0, ErrFull
	}
	return len(p), nil
}

// CancelingReader calls Cancel when it is read, so that a context ends while a file is read.
type CancelingReader struct {
	io.ReaderAt
	Cancel func()
}

func (r CancelingReader) ReadAt(p []byte, off int64) (int, error) {
	r.Cancel()
	return r.ReaderAt.ReadAt(p, off)
}
