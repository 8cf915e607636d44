package symdiff

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
)

// Source is a symbol file that can be read more than once: first to its end, then
// here and there for details.
type Source struct {
	Name string // for messages
	text io.ReaderAt
	size int64
	file *os.File // to be closed

	// Compression is what the text was found in: "gzip", "zstd" or "".
	Compression string
	// damage ended compressed data.
	damage error
}

// NewSource returns a text of size bytes that is not compressed.
func NewSource(name string, text io.ReaderAt, size int64) *Source {
	return &Source{Name: name, text: text, size: size}
}

// OpenSource opens a symbol file. One that is compressed, or no regular file, is
// copied into a temporary file, which has no name.
func OpenSource(path string) (*Source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && st.IsDir() {
		err = fmt.Errorf("%s: is a directory, want a symbol file", path)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	if st.Mode().IsRegular() {
		var magic [4]byte
		n, _ := f.ReadAt(magic[:], 0)
		if !symfmt.IsCompressed(magic[:n]) {
			return &Source{Name: path, text: f, size: st.Size(), file: f}, nil
		}
	}
	defer f.Close()
	return Spool(path, f)
}

// Spool copies a symbol file that cannot be read twice into a temporary file,
// without compression. Text beyond symfmt.MaxText is dropped if it is compressed,
// and an error otherwise.
func Spool(name string, r io.Reader) (*Source, error) { return spool(name, r, symfmt.MaxText) }

// spool is like Spool, with a limit of its own.
func spool(name string, r io.Reader, most int64) (*Source, error) {
	s := &Source{Name: name}
	text, compression, err := symfmt.Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.Compression = compression
	err = s.fill(func(w io.Writer) error {
		_, err := io.Copy(w, bin.LimitReader(text, most))
		var broken *os.PathError
		if err != nil && compression != "" && !errors.As(err, &broken) {
			s.damage, err = fmt.Errorf("%s: %w", name, err), nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// SpoolModule writes a module into a temporary file.
func SpoolModule(name string, m *symfmt.Module, opts symfmt.WriteOptions) (*Source, error) {
	s := &Source{Name: name}
	if err := s.fill(func(w io.Writer) error { return symfmt.Write(w, m, opts) }); err != nil {
		return nil, err
	}
	return s, nil
}

// fill makes the temporary file.
func (s *Source) fill(write func(io.Writer) error) error {
	f, err := os.CreateTemp("", "symtool-diff-*.sym")
	if err != nil {
		return err
	}
	os.Remove(f.Name())
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: copy to a temporary file: %w", s.Name, err)
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		f.Close()
		return err
	}
	s.text, s.file, s.size = f, f, size
	return nil
}

// Close gives back what OpenSource and its like took.
func (s *Source) Close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// reader reads the text from offset from up to to.
func (s *Source) reader(from, to int64) io.Reader { return io.NewSectionReader(s.text, from, to-from) }
