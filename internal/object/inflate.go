package object

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/zst"
)

// Results of Contents.Compression.
const (
	Zlib = "zlib"
	Zstd = "zstd"
)

// Compressed declares that the bytes are a header of skip bytes followed by compressed contents, which
// inflate to size bytes.
func (p *Piece) Compressed(compression string, skip int64, size uint64) {
	if size > math.MaxInt64 {
		p.Refuse(p.Errorf(0, "declares %d bytes of uncompressed contents", size))
		return
	}
	p.compression, p.skip, p.size = compression, skip, int64(size)
}

// gnuZlib begins a ".zdebug" section; the size follows in 8 bytes, big-endian
// in any file (binutils, bfd/compress.c).
const (
	gnuZlib     = "ZLIB"
	gnuZlibSize = 12
)

// ReadGNUHeader reads the header of a ".zdebug" section. A section that compression would have
// made longer is stored without a header.
func (p *Piece) ReadGNUHeader() {
	if p.bad != nil || p.packed < gnuZlibSize {
		return
	}
	head := make([]byte, gnuZlibSize)
	if err := p.ReadAt(head, 0); err != nil {
		p.Refuse(err)
		return
	}
	if string(head[:4]) == gnuZlib {
		p.Compressed(Zlib, gnuZlibSize, binary.BigEndian.Uint64(head[4:]))
	}
}

// A zstd frame specifies a window that the decoder has to hold. maxWindow is what
// zstd itself accepts by default (RFC 8878, section 3.1.1.1.2, leaves the limit to
// the decoder). A window larger than the whole contents is useless, but an encoder
// that does not know the size writes the window of its level, 8 MiB at level 19.
const (
	minWindow = 8 << 20
	maxWindow = 128 << 20
)

const (
	// inflateChunk is the number of bytes inflated at a time if contents are not kept in memory.
	inflateChunk = 256 << 10
	// plainRatio is the compression ratio up to which a declared size is trusted,
	// because honest debug sections reach it.
	plainRatio = 16
)

// room returns memory for the contents and one more byte, to detect contents that are too long. The
// declared size is within the budget, but may be false: if the ratio exceeds what compilers' output
// reaches, the contents are first inflated without storing them, before memory is allocated.
func (p *Piece) room() ([]byte, error) {
	if p.size > inflateChunk && p.size/plainRatio > p.packed {
		if err := p.inflateInto(make([]byte, inflateChunk)); err != nil {
			return nil, err
		}
	}
	return make([]byte, p.size+1), nil
}

// inflateAll returns the inflated contents.
func (p *Piece) inflateAll() ([]byte, error) {
	data, err := p.room()
	if err == nil {
		err = p.inflateInto(data)
	}
	if err != nil {
		return nil, err
	}
	return data[:p.size:p.size], nil
}

// inflateInto inflates the contents into buf, overwriting it from the start whenever it is full.
func (p *Piece) inflateInto(buf []byte) error {
	z := inflater{p: p}
	defer z.close()
	for {
		if _, err := z.next(buf); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// inflater decompresses contents. It produces no more than the declared size, and exactly that if
// there is no error. It charges no budget.
type inflater struct {
	p    *Piece
	r    io.ReadCloser // nil before the first part
	done int64         // bytes produced
}

// next fills buf. At the end it returns the rest and io.EOF; all other errors are *bin.Error.
func (z *inflater) next(buf []byte) (n int, err error) {
	err = z.p.in.Guard(z.p.name, func() error {
		if err := z.open(); err != nil {
			return err
		}
		var err error
		n, err = bin.Fill(z.r, buf)
		z.done += int64(n)
		switch p := z.p; {
		case z.done > p.size:
			return p.Errorf(uint64(p.size), "compressed data holds more than the declared %d bytes", p.size)
		case err != nil && err != io.EOF:
			return p.Wrap(uint64(z.done), bin.WithoutPath(err), "compressed data")
		case err != nil && z.done < p.size:
			return p.Errorf(uint64(z.done), "compressed data ends after %d of the declared %d bytes", z.done, p.size)
		}
		return err
	})
	return n, err
}

func (z *inflater) open() error {
	if z.r != nil {
		return nil
	}
	p := z.p
	in := bufio.NewReaderSize(io.NewSectionReader(p.in.Reader, p.off+p.skip, p.packed-p.skip), 64<<10)
	r, err := p.decoder(in)
	if err != nil {
		return p.Wrap(0, bin.WithoutPath(err), "compressed data")
	}
	z.r = r
	return nil
}

func (z *inflater) close() {
	if z.r != nil {
		z.r.Close()
	}
}

func (p *Piece) decoder(in *bufio.Reader) (io.ReadCloser, error) {
	if p.compression == Zstd {
		window := uint64(min(max(p.size, minWindow), maxWindow))
		return zst.NewReaderWindow(in, window)
	}
	r, err := zlib.NewReader(in)
	if err != nil {
		return nil, err
	}
	return &zlibStreams{r, in}, nil
}

// zlibStreams reads consecutive zlib streams: old versions of "ld -r" join ".zdebug"
// sections without inflating them.
type zlibStreams struct {
	io.ReadCloser
	in *bufio.Reader
}

func (z *zlibStreams) Read(p []byte) (int, error) {
	n, err := z.ReadCloser.Read(p)
	if err != io.EOF {
		return n, err
	}
	if _, err := z.in.Peek(1); err != nil {
		return n, err
	}
	if z.ReadCloser.(zlib.Resetter).Reset(z.in, nil) != nil {
		return n, io.EOF // padding; the size shows whether data are missing
	}
	return n, nil
}
