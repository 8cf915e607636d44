package upload

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"strings"
	"time"

	"github.com/klauspost/compress/flate"

	"github.com/symtool/symtool/internal/bin"
)

// entry is a file's entry for a zip, compressed, in a temporary file.
type entry struct {
	*spooled
	header zip.FileHeader
}

// pack compresses a file for a zip.
func (u *Uploader) pack(ctx context.Context, f *file) (*entry, error) {
	if f.size >= math.MaxUint32 {
		return nil, fmt.Errorf("%d bytes, want at most 4 GiB for a file in a zip", f.size)
	}
	s, err := u.newSpool(func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.DefaultCompression) })
	if err != nil {
		return nil, err
	}
	sum := crc32.NewIEEE()
	in, err := f.body.reader(nil)
	if err == nil {
		_, err = io.Copy(io.MultiWriter(sum, s), bin.ContextReader(ctx, in))
		in.Close()
	}
	if failed := s.finish(); failed != nil {
		err = failed
	}
	if err != nil {
		s.remove()
		return nil, err
	}
	e := &entry{spooled: s}
	e.header = zip.FileHeader{
		Name: strings.Join(f.parts(), "/"), Method: zip.Deflate, CRC32: sum.Sum32(),
		CompressedSize64: uint64(s.sent.size), UncompressedSize64: uint64(f.size),
		ReaderVersion: zipVersion, CreatorVersion: creatorUnix<<8 | zipVersion, ExternalAttrs: regularFile << 16,
	}
	//lint:ignore SA1019 CreateRaw takes these as they are, and Modified would add a field with a time zone.
	e.header.ModifiedDate, e.header.ModifiedTime = dosTime(u.ZipTime)
	for _, c := range []byte(e.header.Name) {
		if c >= 0x80 {
			e.header.Flags |= zipUTF8
			break
		}
	}
	return e, nil
}

// Constants of the zip format (APPNOTE.TXT, 4.4).
const (
	zipVersion  = 20 // 2.0: folders and deflate
	creatorUnix = 3  // the host system
	regularFile = 0o100644
	zipUTF8     = 1 << 11      // the name is UTF-8
	zipLocal    = 30           // bytes before a file's name, in front of the file
	zipCentral  = 46           // the same, in the central directory
	zipEnd      = 22           // bytes at the end
	zip64Extra  = 28 + 56 + 20 // what a zip of more than 4 GiB may need in addition, for a file and at the end
)

// dosTime returns a time as zips have it: in UTC, from 1980 on, in steps of two seconds.
func dosTime(t time.Time) (date, clock uint16) {
	t = t.UTC()
	if t.Year() < 1980 {
		t = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	if t.Year() > 2107 {
		t = time.Date(2107, 12, 31, 23, 59, 58, 0, time.UTC)
	}
	date = uint16((t.Year()-1980)<<9 | int(t.Month())<<5 | t.Day())
	clock = uint16(t.Hour()<<11 | t.Minute()<<5 | t.Second()/2)
	return date, clock
}

// archive is a zip being written to a temporary file.
type archive struct {
	f      *os.File
	path   string
	buffer *bufio.Writer
	sent   *digest
	z      *zip.Writer
	size   int64 // of the zip if it ended now
	files  []*Result
	forget func(path string, exists bool)
}

func (u *Uploader) newArchive() (*archive, error) {
	f, err := u.newTemporary()
	if err != nil {
		return nil, err
	}
	a := &archive{f: f, path: f.Name(), sent: newDigest(), size: zipEnd, forget: u.Temporary}
	a.buffer = bufio.NewWriterSize(io.MultiWriter(f, a.sent), 256<<10)
	a.z = zip.NewWriter(a.buffer)
	return a, nil
}

// sizeWith returns the size in bytes of the zip if it ended after another file.
func (a *archive) sizeWith(e *entry) int64 {
	size := a.size + e.sent.size + zipLocal + zipCentral + 2*int64(len(e.header.Name))
	if size > math.MaxUint32-zip64Extra {
		size += zip64Extra
	}
	return size
}

// add adds a file to the zip.
func (a *archive) add(p packed) error {
	size := a.sizeWith(p.entry)
	w, err := a.z.CreateRaw(&p.entry.header)
	if err != nil {
		return &spoolError{err}
	}
	in, err := os.Open(p.entry.path)
	if err == nil {
		_, err = io.Copy(w, in)
		in.Close()
	}
	if err != nil {
		return &spoolError{err}
	}
	a.size = size
	a.files = append(a.files, p.r)
	return nil
}

// finish writes the end of the zip.
func (a *archive) finish() (*body, error) {
	err := errors.Join(a.z.Close(), a.buffer.Flush(), a.f.Close())
	if err != nil {
		return nil, &spoolError{err}
	}
	name := a.path
	b := a.sent.of(func() (io.ReadCloser, error) { return os.Open(name) })
	return &b, nil
}

func (a *archive) remove() {
	a.f.Close()
	os.Remove(a.path)
	a.forget(a.path, false)
}
