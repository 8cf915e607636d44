package upload

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
)

// body is the content of a request. It can be opened any number of times.
type body struct {
	open    func() (io.ReadCloser, error)
	size    int64 // in bytes
	sha     [sha256.Size]byte
	md5     [md5.Size]byte
	checked bool // sha and md5 are known
}

// bodyError is a failure of the content to send, not of the server.
type bodyError struct{ err error }

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

var errChanged = errors.New("the file changed while it was read")

// bytesBody returns a body in memory.
func bytesBody(b []byte) *body {
	out := newDigest()
	out.Write(b)
	made := out.of(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil })
	return &made
}

// reader opens the body. What it returns has the size and the bytes that the body had when it was
// examined, or fails before its end, so that the server does not receive a whole request.
func (b *body) reader(progress func(sent int64)) (*bodyReader, error) {
	in, err := b.open()
	if err != nil {
		return nil, &bodyError{err}
	}
	return &bodyReader{in: in, b: b, sha: sha256.New(), progress: progress}, nil
}

type bodyReader struct {
	in       io.ReadCloser
	b        *body
	sha      hash.Hash
	sent     int64
	err      error // of the body itself
	progress func(sent int64)
}

func (r *bodyReader) Close() error { return r.in.Close() }

func (r *bodyReader) Read(p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	left := r.b.size - r.sent
	if left == 0 {
		return 0, io.EOF
	}
	if int64(len(p)) > left {
		p = p[:left]
	}
	n, err := r.in.Read(p)
	r.sha.Write(p[:n])
	r.sent += int64(n)
	switch {
	case err == io.EOF && r.sent < r.b.size:
		r.err = &bodyError{errChanged}
	case err != nil && err != io.EOF:
		r.err = &bodyError{err}
	case r.sent == r.b.size && r.b.checked && !bytes.Equal(r.sha.Sum(nil), r.b.sha[:]):
		r.err = &bodyError{errChanged}
	}
	if r.err != nil {
		return 0, r.err
	}
	if r.progress != nil && n > 0 {
		r.progress(r.sent)
	}
	return n, nil
}
