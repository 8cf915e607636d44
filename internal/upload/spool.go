package upload

import (
	"bufio"
	"errors"
	"io"
	"os"

	"github.com/symtool/symtool/resolve/store"
)

// spoolError is a failure to write a temporary file, not to read an input.
type spoolError struct{ err error }

func (e *spoolError) Error() string { return "temporary file: " + e.err.Error() }
func (e *spoolError) Unwrap() error { return e.err }

// spooled is a temporary file that is compressed as it is written, so that its size is known, and
// it can be sent again, without being held in memory.
type spooled struct {
	path   string
	f      *os.File
	buffer *bufio.Writer
	z      io.WriteCloser
	sent   *digest
	err    error // the first error
	forget func(path string, exists bool)
}

func gzipWriter(w io.Writer) (io.WriteCloser, error) {
	for _, c := range store.Compressions {
		if c.Name == "gzip" {
			return c.Writer(w)
		}
	}
	return nil, errors.New("no gzip")
}

// newTemporary creates a temporary file that only its owner may read.
func (u *Uploader) newTemporary() (*os.File, error) {
	f, err := os.CreateTemp("", "symtool-upload-*")
	if err != nil {
		return nil, &spoolError{err}
	}
	u.Temporary(f.Name(), true)
	return f, nil
}

// newSpool creates a temporary file. The caller must call finish, then remove.
func (u *Uploader) newSpool(compress func(io.Writer) (io.WriteCloser, error)) (*spooled, error) {
	f, err := u.newTemporary()
	if err != nil {
		return nil, err
	}
	s := &spooled{path: f.Name(), f: f, sent: newDigest(), forget: u.Temporary}
	s.buffer = bufio.NewWriterSize(io.MultiWriter(f, s.sent), 256<<10)
	if s.z, err = compress(s.buffer); err != nil {
		f.Close()
		s.remove()
		return nil, &spoolError{err}
	}
	return s, nil
}

// Write never fails, so that a failure while the input is copied is the input's; finish
// reports failures to write the file.
func (s *spooled) Write(p []byte) (int, error) {
	if s.err == nil {
		_, s.err = s.z.Write(p)
	}
	return len(p), nil
}

func (s *spooled) finish() error {
	err := errors.Join(s.err, s.z.Close(), s.buffer.Flush(), s.f.Close())
	if err != nil {
		return &spoolError{err}
	}
	return nil
}

// remove removes the file. It does nothing if s is nil.
func (s *spooled) remove() {
	if s != nil {
		os.Remove(s.path)
		s.forget(s.path, false)
	}
}
