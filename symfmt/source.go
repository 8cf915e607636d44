package symfmt

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/symtool/symtool/internal/zst"
)

// Compressed text may be maxTextRatio times as long as the bytes it was read from,
// plus freeText. Symbol files compress 4 to 15 times, so this limits only files made
// to exhaust memory: zstd packs a gigabyte of one record into 100 KB.
const (
	maxTextRatio = 50
	freeText     = 1 << 20
)

// MaxText is the most text that is copied to memory or a temporary file where a
// symbol file does not allow random access. The largest have 1 or 2 GB, but a few
// KB may decompress to any length, and a pipe may deliver any.
const MaxText = 4 << 30

// The first bytes of compressed data.
var (
	gzipMagic = []byte{0x1f, 0x8b}
	zstdMagic = []byte(zst.Magic)
)

// textSource is the text of a symbol file, decompressed and without a byte order mark.
type textSource struct {
	in          *input
	head        *bufio.Reader // buffers in
	text        io.Reader
	compression string      // "gzip", "zstd" or ""
	zstd        *zst.Reader // text, if it is compressed with zstd
	n           int64       // bytes of text read so far
}

// input remembers a failure of the file itself, to distinguish it from damaged
// compressed data.
type input struct {
	r   io.Reader
	n   int64 // bytes read so far
	err error
}

func (in *input) Read(p []byte) (int, error) {
	n, err := in.r.Read(p)
	in.n += int64(n)
	if err != nil && err != io.EOF {
		in.err = err
	}
	return n, err
}

// errDamaged marks compressed data that ends or breaks in the middle.
type errDamaged struct {
	format string
	err    error
}

func (e *errDamaged) Error() string { return e.format + " data: " + e.err.Error() }
func (e *errDamaged) Unwrap() error { return e.err }

// open examines the first bytes of r.
func open(r io.Reader) (*textSource, error) {
	in := &input{r: r}
	head := bufio.NewReaderSize(in, 64<<10)
	s := &textSource{in: in, head: head}
	magic, err := head.Peek(4)
	if err != nil && err != io.EOF {
		return nil, err
	}
	switch {
	case bytes.HasPrefix(magic, gzipMagic):
		s.compression = "gzip"
		z, err := gzip.NewReader(head)
		if err != nil {
			return s, s.failure(err)
		}
		s.text = z
	case bytes.HasPrefix(magic, zstdMagic):
		s.compression = "zstd"
		z, err := zst.NewReader(head)
		if err != nil {
			return s, s.failure(err)
		}
		s.text, s.zstd = z, z
	default:
		s.text = head
	}
	return s, nil
}

// Match reports whether a file begins like a symbol file: with a MODULE record.
func Match(head []byte) bool {
	return bytes.HasPrefix(bytes.TrimPrefix(head, []byte(utf8BOM)), []byte(kindNames[KindModule]+" "))
}

// IsCompressed reports whether Decompress would decompress a file with these
// first four bytes.
func IsCompressed(magic []byte) bool {
	return bytes.HasPrefix(magic, gzipMagic) || bytes.HasPrefix(magic, zstdMagic)
}

// Decompress returns the text of a symbol file that may be compressed, and its
// compression: "gzip", "zstd" or "". Damaged compressed data makes the text's
// Read return an error.
func Decompress(r io.Reader) (text io.Reader, compression string, err error) {
	s, err := open(r)
	if err != nil {
		return nil, "", err
	}
	return s, s.compression, nil
}

// Read implements io.Reader.
func (s *textSource) Read(p []byte) (int, error) {
	n, err := s.text.Read(p)
	s.n += int64(n)
	if s.compression != "" {
		if packed := s.packed(); s.n > freeText+maxTextRatio*packed {
			return 0, &errDamaged{s.compression, fmt.Errorf("%d bytes decompress to more than %d: the limit is %d times as many plus %d MB", packed, s.n-int64(n), maxTextRatio, freeText>>20)}
		}
	}
	if err != nil && err != io.EOF {
		err = s.failure(err)
	}
	return n, err
}

// packed returns the number of compressed bytes used so far. Bytes that were read ahead of the
// decoder do not count: they would allow megabytes of text.
func (s *textSource) packed() int64 {
	if s.zstd != nil {
		return s.zstd.Taken()
	}
	return s.in.n - int64(s.head.Buffered())
}

// failure distinguishes a failing file from damaged data.
func (s *textSource) failure(err error) error {
	if s.in != nil && s.in.err != nil {
		return s.in.err
	}
	if s.compression == "" {
		return err
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return &errDamaged{s.compression, err}
}

// utf16Probe is how many bytes are examined to detect UTF-16.
const utf16Probe = 64

const utf8BOM = "\xef\xbb\xbf"

// bomLength returns the length of a UTF-8 byte order mark at the start of text,
// and rejects UTF-16, recognised by its mark or by a NUL in every second byte,
// which no symbol file has. Windows shells write both kinds when output is
// redirected.
func bomLength(head []byte) (int, error) {
	if bytes.HasPrefix(head, []byte(utf8BOM)) {
		return len(utf8BOM), nil
	}
	order := ""
	switch {
	case bytes.HasPrefix(head, []byte{0xff, 0xfe}) || nulsAt(head, 1):
		order = "LE"
	case bytes.HasPrefix(head, []byte{0xfe, 0xff}) || nulsAt(head, 0):
		order = "BE"
	default:
		return 0, nil
	}
	return 0, fmt.Errorf("text in UTF-16%s, want UTF-8: convert it, for example with iconv -f UTF-16%s -t UTF-8", order, order)
}

// nulsAt reports whether, of each pair of bytes, the one at i is NUL and the
// other is not.
func nulsAt(head []byte, i int) bool {
	if len(head) < 8 {
		return false
	}
	for p := 0; p+1 < min(len(head), utf16Probe); p += 2 {
		if head[p+i] != 0 || head[p+1-i] == 0 {
			return false
		}
	}
	return true
}

// NewText returns the text of a symbol file, which may be compressed with gzip
// or zstd, without a byte order mark. compression is "gzip", "zstd" or "".
func NewText(r io.Reader) (text io.Reader, compression string, err error) {
	src, err := open(r)
	if err != nil {
		return nil, "", err
	}
	b := bufio.NewReaderSize(src, bufferSize)
	head, err := b.Peek(utf16Probe)
	if err != nil && err != io.EOF {
		return nil, src.compression, err
	}
	bom, err := bomLength(head)
	if err != nil {
		return nil, src.compression, err
	}
	b.Discard(bom)
	return b, src.compression, nil
}
