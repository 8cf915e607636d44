// Package unpack reads compressed files: each compression that dumps, packages and archives come in, by its first
// bytes, with bounded memory.
package unpack

import (
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/pierrec/lz4/v4"

	"github.com/symtool/symtool/internal/xz"
	"github.com/symtool/symtool/internal/zst"
)

// Packing is a compression.
type Packing struct {
	Name  string
	magic string // the first bytes of a file
	// Open returns the contents of a compressed file. It may read more of the file than it returns.
	Open func(io.Reader) (io.ReadCloser, error)
}

// packings lists all compressions. Packages use gzip, xz, zstd or bzip2; systemd-coredump writes zstd, lz4 before
// version 246, and xz before version 229.
var packings = []Packing{
	{"gzip", "\x1f\x8b", func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
	{"zstd", zst.Magic, func(r io.Reader) (io.ReadCloser, error) { return zst.NewReader(r) }},
	{"xz", xz.Magic, xz.NewReader},
	{"lz4", "\x04\x22\x4d\x18", func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(lz4.NewReader(r)), nil }},
	{"bzip2", "BZh", func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil }},
}

// MagicSize is the length of the longest magic.
const MagicSize = len(xz.Magic)

// Find returns the compression of a file that begins with head, or nil.
func Find(head []byte) *Packing {
	for i := range packings {
		if bytes.HasPrefix(head, []byte(packings[i].magic)) {
			return &packings[i]
		}
	}
	return nil
}

// Damaged wraps err in an error that names the compression of the damaged data.
func (p *Packing) Damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s data: %w", p.Name, err)
}
