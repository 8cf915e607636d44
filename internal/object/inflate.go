package object

import (
	"bufio"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// What Contents.Compression returns.
const (
	Zlib = "zlib"
	Zstd = "zstd"
)

// Compressed says that the bytes are size bytes compressed, after a header of skip bytes.
func (p *Piece) Compressed(compression string, skip int64, size uint64) {
	if size > math.MaxInt64 {
		p.Refuse(p.Errorf(0, "declares %d bytes of uncompressed contents", size))
		return
	}
	p.compression, p.skip, p.size = compression, skip, int64(size)
}

// gnuZlib begins a ".zdebug" section; 8 bytes of size follow, big-endian in any
// file (binutils, bfd/compress.c).
const (
	gnuZlib     = "ZLIB"
	gnuZlibSize = 12
)

// ReadGNUHeader reads the header of a ".zdebug" section. One that compressing would have made
// longer is stored without.
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

// A zstd frame asks for a window that the decoder has to hold. maxWindow is what
// zstd itself accepts by default (RFC 8878, section 3.1.1.1.2, leaves
// the limit to the decoder), but nothing needs more than the whole contents;
// except that an encoder that does not know the size writes the window of its
// level, 8 MiB at level 19.
const (
	minWindow = 8 << 20
	maxWindow = 128 << 20
)

const (
	// inflateChunk is the part in which contents are inflated that are not kept in memory.
	inflateChunk = 256 << 10
	// plainRatio is the ratio up to which a declared size is believed, because
	// honest debug sections reach it.
	plainRatio = 16
)

// inflateAll returns the contents. The declared size is within the budget, but may be false: a size
// that the output of compilers does not reach is inflated once without storing it before memory is
// allocated.
func (p *Piece) inflateAll() ([]byte, error) {
	drop := func([]byte) error { return nil }
	if p.size > inflateChunk && p.size/plainRatio > p.packed {
		if err := p.inflateTo(drop); err != nil {
			return nil, err
		}
	}
	data := make([]byte, p.size+1) // one more, which shows that too much is there
	if err := p.inflate(data, drop); err != nil {
		return nil, err
	}
	return data[:p.size:p.size], nil
}

// inflateTo calls emit with the contents, part by part.
func (p *Piece) inflateTo(emit func([]byte) error) error {
	return p.inflate(make([]byte, min(inflateChunk, p.size+1)), emit)
}

// inflate decompresses into buf again and again, and calls emit with what came. No more than
// the declared size comes out, and exactly that without an error. It charges nothing.
func (p *Piece) inflate(buf []byte, emit func([]byte) error) error {
	return p.decompress(func(r io.Reader) error {
		for done := int64(0); ; {
			n, err := fill(r, buf)
			done += int64(n)
			if done > p.size {
				return p.Errorf(uint64(p.size), "compressed data holds more than the declared %d bytes", p.size)
			}
			if err := emit(buf[:n]); err != nil {
				return err
			}
			if err != nil {
				return p.checkEnd(done, err)
			}
		}
	})
}

// fill reads until buf is full. Before that it ends only with an error, io.EOF at the end.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) && err == nil {
		var got int
		got, err = r.Read(buf[n:])
		n += got
	}
	return n, err
}

// checkEnd returns the error of contents that ended with err after done bytes.
func (p *Piece) checkEnd(done int64, err error) error {
	switch {
	case err != io.EOF:
		return p.Wrap(uint64(done), BareError(err), "compressed data")
	case done < p.size:
		return p.Errorf(uint64(done), "compressed data ends after %d of the declared %d bytes", done, p.size)
	}
	return nil
}

// decompress calls use with a reader of the decompressed contents.
func (p *Piece) decompress(use func(io.Reader) error) error {
	return p.in.Guard(p.name, func() error {
		in := bufio.NewReaderSize(io.NewSectionReader(p.in.Reader, p.off+p.skip, p.packed-p.skip), 64<<10)
		r, err := p.decoder(in)
		if err != nil {
			return p.Wrap(0, BareError(err), "compressed data")
		}
		defer r.Close()
		return use(r)
	})
}

func (p *Piece) decoder(in *bufio.Reader) (io.ReadCloser, error) {
	if p.compression == Zstd {
		window := uint64(min(max(p.size, minWindow), maxWindow))
		d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return nil, err
		}
		return d.IOReadCloser(), nil
	}
	r, err := zlib.NewReader(in)
	if err != nil {
		return nil, err
	}
	return &zlibStreams{r, in}, nil
}

// zlibStreams reads zlib streams one after the other: "ld -r" of old joins
// ".zdebug" sections without inflating them.
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
		return n, io.EOF // padding; the size shows whether something is missing
	}
	return n, nil
}
