package symserver

import (
	"io"
	"net/http"
	"os"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
)

// incoming is the body of an upload. It remembers why it could not be read, to distinguish a client
// that is gone from a damaged file.
type incoming struct {
	w   *recorder
	in  io.Reader
	due int64 // number of bytes left until the client gets more time
	err error
}

// incomingOf returns the body of a request, of up to the size that the server accepts.
func (s *Server) incomingOf(w *recorder, r *http.Request) *incoming {
	body := http.MaxBytesReader(w.ResponseWriter, r.Body, s.cfg.MaxUpload)
	return &incoming{w: w, in: bin.ContextReader(r.Context(), body)}
}

// Read implements io.Reader. The client must send each piece within the time that it has to read one.
func (b *incoming) Read(p []byte) (int, error) {
	if b.due <= 0 {
		_ = b.w.control.SetReadDeadline(time.Now().Add(b.w.stall))
		b.due = piece
	}
	n, err := b.in.Read(p)
	b.due -= int64(n)
	if err != nil && err != io.EOF && b.err == nil {
		b.err = err
	}
	return n, err
}

// spool is an upload in a temporary file.
type spool struct {
	*os.File
	size int64
}

// storageError is a failure of this machine, as opposed to one of the client.
type storageError struct{ error }

func (e *storageError) Unwrap() error { return e.error }

// newSpool copies an upload to a temporary file.
func newSpool(in io.Reader) (*spool, error) {
	f, err := scratch.File("")
	if err != nil {
		return nil, &storageError{bin.WithoutPath(err)}
	}
	sp := &spool{File: f}
	to := &spoolWriter{f: f}
	if sp.size, err = io.Copy(to, in); to.err != nil {
		err = &storageError{bin.WithoutPath(to.err)}
	}
	if err != nil {
		sp.Close()
		return nil, err
	}
	return sp, nil
}

// whole returns the spool from its beginning.
func (sp *spool) whole() io.Reader { return io.NewSectionReader(sp.File, 0, sp.size) }

// spoolWriter distinguishes errors of writing from errors of reading.
type spoolWriter struct {
	f   *os.File
	err error
}

func (w *spoolWriter) Write(b []byte) (int, error) {
	n, err := w.f.Write(b)
	w.err = err
	return n, err
}
