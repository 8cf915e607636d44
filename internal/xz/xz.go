// Package xz reads files compressed with xz, with bounded memory.
package xz

import (
	"errors"
	"fmt"
	"io"

	"github.com/mikelolasagasti/xz"
)

// Magic is the first bytes of a file (The .xz file format 1.2.0, 2.1.1.1).
const Magic = "\xfd7zXZ\x00"

// MaxDictionary is the largest dictionary that is accepted, in bytes: that of "xz -9".
const MaxDictionary = 64 << 20

type reader struct{ z *xz.Reader }

// NewReader reads the header of an xz file, and returns the contents of all its streams, which are checked by their
// checksums and their index. It may read more of r than it needs. Data that end too early give io.ErrUnexpectedEOF.
func NewReader(r io.Reader) (io.Reader, error) {
	z, err := xz.NewReader(r, MaxDictionary)
	if err != nil {
		return nil, damage(err)
	}
	return reader{z}, nil
}

// Read implements io.Reader.
func (r reader) Read(p []byte) (int, error) {
	n, err := r.z.Read(p)
	return n, damage(err)
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
