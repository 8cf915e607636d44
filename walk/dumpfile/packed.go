package dumpfile

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/internal/unpack"
)

// packings lists the compressions that dumps come in, for people.
const packings = "gzip, zstd, xz or lz4"

// filePacking returns the compression of a file, or nil. It also returns nil for a file that cannot
// be read; the next reader reports the error.
func filePacking(f *os.File) *unpack.Packing {
	magic := make([]byte, unpack.MagicSize)
	n, _ := f.ReadAt(magic, 0)
	return unpack.Find(magic[:n])
}

// headOf returns the first bytes of the contents of a compressed file.
func headOf(p *unpack.Packing, r io.Reader) []byte {
	z, err := p.Open(r)
	if err != nil {
		return nil
	}
	defer z.Close()
	head := make([]byte, sniffSize)
	n, _ := io.ReadFull(z, head)
	return head[:n]
}

// inflate unpacks a file into a temporary file without a name, which the system removes however the
// process ends.
func inflate(ctx context.Context, p *unpack.Packing, f *os.File, size int64, o Options) (*contents, error) {
	z, err := p.Open(bufio.NewReaderSize(f, 256<<10))
	if err != nil {
		return nil, p.Damaged(err)
	}
	defer z.Close()
	c, err := spool(ctx, z, o)
	var tooLong *limitError
	if errors.As(err, &tooLong) {
		err = fmt.Errorf("%s data: %w when unpacked", p.Name, err)
	}
	if err != nil {
		return nil, err
	}
	if c.broken != nil {
		if c.broken = p.Damaged(c.broken); c.size == 0 {
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

// spool copies r into a temporary file without a name. If r fails, the contents end there, and
// broken is the reason.
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
	n, broken, err := bin.CopySparse(tmp, io.LimitReader(bin.ContextReader(ctx, r), limit+1))
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

// temporary marks an error as being about a temporary file rather than the dump.
func temporary(err error) error { return fmt.Errorf("a temporary file for the dump: %w", err) }

// maxPacking is the largest ratio of dump.Dump.Size to the compressed size: an attacker can produce
// unpacked bytes at no cost.
const maxPacking = 16

func countedSize(unpacked, packed int64) int64 { return min(unpacked, maxPacking*packed) }
