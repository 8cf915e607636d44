package elfobj

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/symtool/symtool/internal/inflate"
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

// decoder decompresses into out from pos on, after the last inflate.Window bytes that it gave, and
// returns the end of what it filled: before len(out) only with an error, io.EOF at the end.
type decoder interface {
	Decode(out []byte, pos int) (int, error)
}

// inflate hands the contents to emit, piece by piece. No more than the declared
// size comes out, and exactly that without an error. It charges nothing.
func (s *Section) inflate(emit func([]byte) error) error {
	return s.decompress(func(d decoder) error {
		buf := make([]byte, inflate.Window+min(inflateChunk, s.size+1))
		pos := 0 // up to which buf was handed on
		for done := int64(0); ; {
			end, err := d.Decode(buf, pos)
			done += int64(end - pos)
			if done <= s.size && end > pos {
				if err := emit(buf[pos:end]); err != nil {
					return err
				}
			}
			if err != nil || done > s.size {
				return s.checkEnd(done, err)
			}
			pos = copy(buf, buf[end-inflate.Window:])
		}
	})
}

// inflateAll returns the contents.
func (s *Section) inflateAll() (data []byte, err error) {
	err = s.decompress(func(d decoder) error {
		data = make([]byte, s.size+1) // one more, which shows that too much is there
		n, err := d.Decode(data, 0)
		return s.checkEnd(int64(n), err)
	})
	if err != nil {
		return nil, err
	}
	return data[:s.size:s.size], nil
}

// checkEnd returns the error of contents that ended with err after done bytes, or had too many.
func (s *Section) checkEnd(done int64, err error) error {
	switch {
	case done > s.size:
		return s.errorf(uint64(s.size), "compressed data holds more than the declared %d bytes", s.size)
	case err == io.EOF && done < s.size:
		return s.errorf(uint64(done), "compressed data ends after %d of the declared %d bytes", done, s.size)
	case err != io.EOF:
		return s.wrap(uint64(done), object.BareError(err), "compressed data")
	}
	return nil
}

// decompress calls use with what decompresses the section.
func (s *Section) decompress(use func(decoder) error) error {
	return s.file.guard(s.label(), func() error {
		in := io.NewSectionReader(s.file.r, int64(s.Offset)+s.skip, int64(s.FileSize)-s.skip)
		if s.comp != zstandard {
			return use(inflate.NewReader(in))
		}
		window := uint64(min(max(s.size, minWindow), maxWindow))
		d, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return s.wrap(0, err, "compressed data")
		}
		defer d.Close()
		return use(zstdDecoder{d})
	})
}

// zstdDecoder keeps its window itself.
type zstdDecoder struct{ r *zstd.Decoder }

func (z zstdDecoder) Decode(out []byte, pos int) (int, error) {
	for pos < len(out) {
		n, err := z.r.Read(out[pos:])
		pos += n
		if err != nil {
			return pos, err
		}
	}
	return pos, nil
}
