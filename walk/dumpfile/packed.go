package dumpfile

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
)

// packing is a row of the table of compressions.
type packing struct {
	name  string
	magic string // the first bytes of a file
	open  func(io.Reader) (unpacker, error)
}

// unpacker returns the contents of a compressed file.
type unpacker interface {
	io.Reader
	Close() error
}

// maxZstdWindow bounds the memory that a frame's header can ask of the zstd decoder (RFC 8878,
// 3.1.1.1.2): what zstd --long writes, and the most that zstd reads by default.
const maxZstdWindow = 128 << 20

// packings are all compressions. systemd-coredump writes zstd, before version 246 lz4, and before
// version 229 xz.
var packings = []packing{
	{"gzip", "\x1f\x8b", func(r io.Reader) (unpacker, error) { return gzip.NewReader(r) }},
	{"zstd", "\x28\xb5\x2f\xfd", func(r io.Reader) (unpacker, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow), zstd.WithDecoderMaxMemory(1<<63))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	}},
	{"xz", xzMagic, func(r io.Reader) (unpacker, error) { return io.NopCloser(&xzReader{in: bufio.NewReader(r)}), nil }},
	{"lz4", "\x04\x22\x4d\x18", func(r io.Reader) (unpacker, error) { return io.NopCloser(lz4.NewReader(r)), nil }},
}

// maxMagic is the length of the longest magic.
const maxMagic = len(xzMagic)

// packingOf returns the compression of a file that begins with these bytes, or nil.
func packingOf(head []byte) *packing {
	for i := range packings {
		if bytes.HasPrefix(head, []byte(packings[i].magic)) {
			return &packings[i]
		}
	}
	return nil
}

// filePacking returns the compression of a file, or nil. For a file that cannot be read it returns
// nil; the next reader returns the error.
func filePacking(f *os.File) *packing {
	magic := make([]byte, maxMagic)
	n, _ := f.ReadAt(magic, 0)
	return packingOf(magic[:n])
}

// packingNames lists the compressions for people.
func packingNames() string {
	var names []string
	for i := range packings {
		names = append(names, packings[i].name)
	}
	n := len(names) - 1
	return strings.Join(names[:n], ", ") + " or " + names[n]
}

// damaged says of which compression damaged data are.
func (p *packing) damaged(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("%s data: %w", p.name, err)
}

// head returns the first bytes of the contents.
func (p *packing) head(r io.Reader) []byte {
	z, err := p.open(r)
	if err != nil {
		return nil
	}
	defer z.Close()
	head := make([]byte, sniffSize)
	n, _ := io.ReadFull(z, head)
	return head[:n]
}

// unpack inflates a file into a temporary file without a name, which the system removes however
// the process ends.
func (p *packing) unpack(ctx context.Context, f *os.File, size int64, o Options) (*contents, error) {
	z, err := p.open(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return nil, p.damaged(err)
	}
	defer z.Close()
	c, err := spool(ctx, z, o)
	var tooLong *limitError
	if errors.As(err, &tooLong) {
		err = fmt.Errorf("%s data: %w when unpacked", p.name, err)
	}
	if err != nil {
		return nil, err
	}
	if c.broken != nil {
		if c.broken = p.damaged(c.broken); c.size == 0 {
			c.Close()
			return nil, c.broken
		}
	}
	c.size = countedSize(c.size, size)
	return c, nil
}

// limitError is the error for more than Options.MaxUnpacked bytes.
type limitError struct{ limit int64 }

func (e *limitError) Error() string { return fmt.Sprintf("more than %d bytes", e.limit) }

// spool copies r into a temporary file without a name. If r fails, the contents are what came
// before, and broken is the reason.
func spool(ctx context.Context, r io.Reader, o Options) (*contents, error) {
	limit := o.MaxUnpacked
	if limit == 0 {
		limit = defaultMaxUnpacked
	}
	tmp, err := scratch.File(o.TempDir)
	if err != nil {
		return nil, temporary(err)
	}
	defer tmp.Close()
	n, broken, err := copySparse(tmp, io.LimitReader(bin.ContextReader(ctx, r), limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, temporary(err)
	case n > limit:
		return nil, &limitError{limit}
	}
	c, err := hold(tmp, n)
	if err != nil {
		return nil, err
	}
	c.broken, c.size = broken, n
	return c, nil
}

// temporary says that an error is not about the dump's own file.
func temporary(err error) error { return fmt.Errorf("a temporary file for the dump: %w", err) }

// sparseBlock is the unit in which zeros are left out of a temporary file. Most of a large core is
// zeros, which cost no place on a disk that way.
const sparseBlock = 64 << 10

// copySparse copies r to a new file. It returns the number of bytes, the error of r and that of
// the file.
func copySparse(f *os.File, r io.Reader) (n int64, broken, err error) {
	block, zeros := make([]byte, sparseBlock), make([]byte, sparseBlock)
	for broken == nil && err == nil {
		var k int
		k, broken = bin.Fill(r, block)
		if !bytes.Equal(block[:k], zeros[:k]) {
			_, err = f.WriteAt(block[:k], n)
		}
		n += int64(k)
	}
	if errors.Is(broken, io.EOF) {
		broken = nil
	}
	if err == nil {
		err = f.Truncate(n)
	}
	return n, broken, err
}

// maxPacking is the largest ratio of dump.Dump.Size to the compressed size: unpacked bytes cost
// their author nothing.
const maxPacking = 16

func countedSize(unpacked, packed int64) int64 { return min(unpacked, maxPacking*packed) }
