package elfobj

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/symtool/symtool/internal/object"
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

// A zstd frame asks for a window that the decoder has to hold. maxWindow is what
// zstd itself accepts by default (RFC 8878, section 3.1.1.1.2, leaves
// the limit to the decoder), but nothing needs more than the whole contents;
// except that an encoder that does not know the size writes the window of its
// level, 8 MiB at level 19.
const (
	minWindow = 8 << 20
	maxWindow = 128 << 20
)

// inflate decompresses into buf again and again, and calls emit with what came. No more than
// the declared size comes out, and exactly that without an error. It charges nothing.
func (s *Section) inflate(buf []byte, emit func([]byte) error) error {
	return s.decompress(func(r io.Reader) error {
		for done := int64(0); ; {
			n, err := fill(r, buf)
			done += int64(n)
			if done > s.size {
				return s.errorf(uint64(s.size), "compressed data holds more than the declared %d bytes", s.size)
			}
			if err := emit(buf[:n]); err != nil {
				return err
			}
			if err != nil {
				return s.checkEnd(done, err)
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
func (s *Section) checkEnd(done int64, err error) error {
	switch {
	case err != io.EOF:
		return s.wrap(uint64(done), object.BareError(err), "compressed data")
	case done < s.size:
		return s.errorf(uint64(done), "compressed data ends after %d of the declared %d bytes", done, s.size)
	}
	return nil
}

// inflateChunk is the piece in which contents are inflated that are not kept in memory.
const inflateChunk = 256 << 10

// inflateTo calls emit with the contents, piece by piece.
func (s *Section) inflateTo(emit func([]byte) error) error {
	return s.inflate(make([]byte, min(inflateChunk, s.size+1)), emit)
}

// inflateAll returns the contents.
func (s *Section) inflateAll() ([]byte, error) {
	data := make([]byte, s.size+1) // one more, which shows that too much is there
	if err := s.inflate(data, func([]byte) error { return nil }); err != nil {
		return nil, err
	}
	return data[:s.size:s.size], nil
}

// decompress calls use with a reader of the decompressed section.
func (s *Section) decompress(use func(io.Reader) error) error {
	return s.file.guard(s.label(), func() error {
		in := bufio.NewReaderSize(io.NewSectionReader(s.file.r, int64(s.Offset)+s.skip, int64(s.FileSize)-s.skip), 64<<10)
		r, err := s.decoder(in)
		if err != nil {
			return s.wrap(0, object.BareError(err), "compressed data")
		}
		defer r.Close()
		return use(r)
	})
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
