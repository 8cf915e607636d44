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

// Magic is the start of every xz file (The .xz file format 1.2.0, 2.1.1.1).
const Magic = "\xfd7zXZ\x00"

// MaxDictionary is the size in bytes of the largest dictionary that is accepted, which "xz -9" uses.
const MaxDictionary = 64 << 20

type reader struct{ z *xz.Reader }

// readers holds closed readers for reuse: a header of a few bytes can ask for a large dictionary, which takes time
// to make.
var readers sync.Pool

// NewReader reads the header of an xz file and returns the contents of all its streams, which are verified with
// their checksums and index. It may read more of r than it needs. Truncated data cause [io.ErrUnexpectedEOF].
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

// Read implements [io.Reader].
func (r *reader) Read(p []byte) (int, error) {
	if r.z == nil {
		return 0, io.ErrClosedPipe
	}
	n, err := r.z.Read(p)
	return n, damage(err)
}

// Close implements [io.Closer].
func (r *reader) Close() error {
	if r.z != nil {
		_ = r.z.Reset(bytes.NewReader(nil)) // releases what was read
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

// damage translates an error of the library. An error of the underlying reader is unchanged.
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
