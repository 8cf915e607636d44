package elfobj

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

type compression uint8

const (
	stored compression = iota
	zlibbed
	zstandard
)

// gnuZlib begins a ".zdebug" section; 8 bytes of size follow, big-endian in any
// file (binutils, bfd/compress.c).
const (
	gnuZlib     = "ZLIB"
	gnuZlibSize = 12
)

// readCompression fills comp, skip and size of a compressed section (gABI
// chapter 4, "Compression header").
func (s *Section) readCompression() error {
	switch {
	case s.Flags&elf.SHF_COMPRESSED != 0:
		return s.readChdr()
	case len(s.Name) > 7 && s.Name[:7] == ".zdebug" && s.FileSize >= gnuZlibSize:
		return s.readGNU()
	}
	return nil
}

func (s *Section) readGNU() error {
	head := make([]byte, gnuZlibSize)
	if err := s.readAt(head, 0); err != nil {
		return err
	}
	if string(head[:4]) != gnuZlib {
		return nil // stored: compressing would have made it longer
	}
	return s.setCompression(zlibbed, gnuZlibSize, binary.BigEndian.Uint64(head[4:]))
}

func (s *Section) readChdr() error {
	if s.Flags&elf.SHF_ALLOC != 0 {
		return s.errorf(0, "SHF_COMPRESSED together with SHF_ALLOC")
	}
	skip := chdrForm.size(s.file)
	if s.FileSize < skip {
		return s.errorf(0, "compression header of %d bytes, want %d", s.FileSize, skip)
	}
	head := make([]byte, skip)
	if err := s.readAt(head, 0); err != nil {
		return err
	}
	var h elf.Chdr64
	chdrForm.decode(s.file, head, &h)
	s.Align = h.Addralign
	switch elf.CompressionType(h.Type) {
	case elf.COMPRESS_ZLIB:
		return s.setCompression(zlibbed, int64(skip), h.Size)
	case elf.COMPRESS_ZSTD:
		return s.setCompression(zstandard, int64(skip), h.Size)
	}
	return s.errorf(0, "compression type %d, want 1 (zlib) or 2 (zstd)", h.Type)
}

func (s *Section) setCompression(comp compression, skip int64, size uint64) error {
	if size > math.MaxInt64 {
		return s.errorf(0, "declares %d bytes of uncompressed contents", size)
	}
	s.comp, s.skip, s.size = comp, skip, int64(size)
	return nil
}

// inflateChunk is the piece in which inflated bytes are handed on.
const inflateChunk = 256 << 10

// A zstd frame asks for a window that the decoder has to hold. maxWindow is what
// zstd itself accepts by default (RFC 8878, section 3.1.1.1.2, leaves
// the limit to the decoder), but nothing needs more than the whole contents;
// except that an encoder that does not know the size writes the window of its
// level, 8 MiB at level 19.
const (
	minWindow = 8 << 20
	maxWindow = 128 << 20
)

// inflate hands the contents to emit, piece by piece. No more than the declared
// size comes out, and exactly that without an error. It charges nothing.
func (s *Section) inflate(emit func([]byte) error) error {
	return s.file.guard(s.label(), func() error {
		in := bufio.NewReaderSize(io.NewSectionReader(s.file.r, int64(s.Offset)+s.skip, int64(s.FileSize)-s.skip), 64<<10)
		r, err := s.decoder(in)
		if err != nil {
			return s.wrap(0, err, "compressed data")
		}
		defer r.Close()
		return s.copyExactly(r, emit)
	})
}

func (s *Section) copyExactly(r io.Reader, emit func([]byte) error) error {
	buf := make([]byte, min(inflateChunk, s.size+1))
	for done := int64(0); ; {
		n, err := r.Read(buf)
		if int64(n) > s.size-done {
			return s.errorf(uint64(s.size), "compressed data holds more than the declared %d bytes", s.size)
		}
		if n > 0 {
			if err := emit(buf[:n]); err != nil {
				return err
			}
			done += int64(n)
		}
		switch {
		case err == io.EOF && done == s.size:
			return nil
		case err == io.EOF:
			return s.errorf(uint64(done), "compressed data ends after %d of the declared %d bytes", done, s.size)
		case err != nil:
			return s.wrap(uint64(done), bareError(err), "compressed data")
		}
	}
}

func (s *Section) decoder(in *bufio.Reader) (io.ReadCloser, error) {
	if s.comp == zstandard {
		window := uint64(min(max(s.size, minWindow), maxWindow))
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
	if err != io.EOF || n > 0 {
		if err == io.EOF {
			err = nil
		}
		return n, err
	}
	if _, err := z.in.Peek(1); err != nil {
		return 0, io.EOF
	}
	if z.ReadCloser.(zlib.Resetter).Reset(z.in, nil) != nil {
		return 0, io.EOF // padding; the size shows whether something is missing
	}
	return 0, nil
}
