// Package xz reads files compressed with xz, with bounded memory.
package xz

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mikelolasagasti/xz"
)

// Magic is the first bytes of a file (The .xz file format 1.2.0, 2.1.1.1).
const Magic = "\xfd7zXZ\x00"

// MaxDictionary is the largest dictionary that is accepted, in bytes: that of "xz -9".
const MaxDictionary = 64 << 20

type reader struct{ z *xz.Reader }

// readers are those that were closed, as a header of a few bytes can ask for a large dictionary, which costs time.
var readers sync.Pool

// NewReader reads the header of an xz file, and returns the contents of all its streams, which are checked by their
// checksums and their index. It may read more of r than it needs. Data that end too early give io.ErrUnexpectedEOF.
func NewReader(r io.Reader) (io.ReadCloser, error) {
	var err error
	z, ok := readers.Get().(*xz.Reader)
	if ok {
		err = z.Reset(r)
	} else {
		z, err = xz.NewReader(r, MaxDictionary)
	}
	if err != nil {
		return nil, damage(err)
	}
	return &reader{z}, nil
}

// Read implements io.Reader.
func (r *reader) Read(p []byte) (int, error) {
	if r.z == nil {
		return 0, io.ErrClosedPipe
	}
	n, err := r.z.Read(p)
	return n, damage(err)
}

// Close implements io.Closer.
func (r *reader) Close() error {
	if r.z != nil {
		_ = r.z.Reset(bytes.NewReader(nil)) // lets go of what was read
		readers.Put(r.z)
		r.z = nil
	}
	return nil
}

var (
	errDamaged    = errors.New("damaged")
	errHeader     = errors.New("no header of xz")
	errDictionary = fmt.Errorf("a dictionary of more than %d bytes", MaxDictionary)
	errFilter     = errors.New("a filter or an option that is not supported")
	errCheck      = errors.New("a kind of checksum that is not supported")
)

// damage returns what an error of the library means. One of the reader below stays.
func damage(err error) error {
	switch err {
	case xz.ErrBuf:
		return io.ErrUnexpectedEOF
	case xz.ErrData:
		return errDamaged
	case xz.ErrFormat:
		return errHeader
	case xz.ErrMemlimit:
		return errDictionary
	case xz.ErrOptions:
		return errFilter
	case xz.ErrUnsupportedCheck:
		return errCheck
	}
	return err
}
