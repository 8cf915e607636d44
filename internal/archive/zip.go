package archive

import (
	"compress/bzip2"
	"errors"
	"io"

	"github.com/klauspost/compress/zip"

	"github.com/symtool/symtool/internal/zst"
)

// Compression methods of zip archives (APPNOTE.TXT, 4.4.5) that archive/zip does not support.
const (
	zipBzip2     = 12
	zipZstd      = 93
	zipEncrypted = 1 // a flag bit
)

var errEncrypted = errors.New("encrypted")

// zip reads a zip archive: an Android package, a wheel, a jar, an iOS app. Its directory is at its end.
func (w *walker) zip(in *input) error {
	if in.at == nil {
		spooled, err := w.Spool(in.member())
		if err != nil {
			return err
		}
		defer spooled.Close()
		in.at, in.size = spooled, spooled.Size()
	}
	r, err := zip.NewReader(in.at, in.size)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // these names are never written to
		return err
	}
	r.RegisterDecompressor(zipBzip2, func(r io.Reader) io.ReadCloser { return io.NopCloser(bzip2.NewReader(r)) })
	r.RegisterDecompressor(zipZstd, zstdMember)
	for _, f := range r.File {
		if w.done() {
			return nil
		}
		if f.Mode().IsRegular() && f.UncompressedSize64 > 0 {
			w.zipMember(in, f)
		}
	}
	return nil
}

// zstdMember returns a reader of a member's contents, or one that returns the error that prevents reading
// them.
func zstdMember(r io.Reader) io.ReadCloser {
	z, err := zst.NewReader(r)
	if err != nil {
		return unreadable{err}
	}
	return z
}

// unreadable is a member that cannot be opened.
type unreadable struct{ err error }

func (u unreadable) Read([]byte) (int, error) { return 0, u.err }
func (u unreadable) Close() error             { return nil }

func (w *walker) zipMember(in *input, f *zip.File) {
	var r io.ReadCloser
	err := errEncrypted
	if f.Flags&zipEncrypted == 0 {
		r, err = f.Open()
	}
	if err != nil {
		w.problem(in, f.Name, err)
		return
	}
	defer r.Close()
	w.member(in, f.Name, w.charged(r))
}
