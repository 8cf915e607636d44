package symdiff

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/symfmt"
)

// Source is a symbol file that can be read repeatedly: first to its end, later in places for
// details. It is a text or a module.
type Source struct {
	Name string // used in messages
	text io.ReaderAt
	size int64    // of the text in bytes, or the number of record positions
	most int64    // approximate length of the text, which limits what may be spent on it
	file *os.File // closed by Close

	records *symfmt.ModuleRecords // instead of a text
	module  *symfmt.Module
	closer  io.Closer // of the module

	// Compression is the compression of the file: "gzip", "zstd" or "".
	Compression string
	// damage is the error that ended compressed data.
	damage error
}

// NewSource returns a source for an uncompressed text of size bytes; name is used in messages and outputs.
func NewSource(text io.ReaderAt, size int64, name string) *Source {
	return &Source{Name: name, text: text, size: size, most: size}
}

// OpenSource opens a symbol file. If it is compressed or not a regular file, it
// is read by Spool.
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
			return &Source{Name: path, text: f, size: st.Size(), most: st.Size(), file: f}, nil
		}
	}
	defer f.Close()
	return Spool(f, path)
}

// Spool decompresses a symbol file that cannot be read twice, into memory or, if it is large, into a temporary file. Text beyond symfmt.MaxText is dropped if the file is
// compressed, and an error otherwise.
func Spool(r io.Reader, name string) (*Source, error) { return spool(r, name, symfmt.MaxText) }

// spool is like Spool, with another limit.
func spool(r io.Reader, name string, most int64) (*Source, error) {
	s := &Source{Name: name}
	text, compression, err := symfmt.Decompress(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.Compression = compression
	if err := s.read(bin.LimitReader(text, most)); err != nil {
		return nil, err
	}
	return s, nil
}

// inMemory is the size up to which a text is kept in memory rather than in a temporary file.
const inMemory = 32 << 20

// read sets the text to what r has. Damage to compressed data ends the text.
func (s *Source) read(r io.Reader) error {
	broken := func(err error) error {
		if err == nil || s.Compression == "" {
			return err
		}
		s.damage = fmt.Errorf("%s: %w", s.Name, err)
		return nil
	}
	var head bytes.Buffer
	n, err := io.CopyN(&head, r, inMemory)
	if n < inMemory {
		if err == io.EOF {
			err = nil
		}
		s.text, s.size, s.most = bytes.NewReader(head.Bytes()), n, n
		if err = broken(err); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		return nil
	}
	return s.fill(func(w io.Writer) error {
		_, err := io.Copy(w, io.MultiReader(&head, r))
		var disk *os.PathError
		if errors.As(err, &disk) {
			return err
		}
		return broken(err)
	})
}

// NewModuleSource returns a source for the symbol file of a module, which must not be changed. If c is
// non-nil, Close closes it.
func NewModuleSource(m *symfmt.Module, name string, c io.Closer) *Source {
	all := symfmt.NewModuleRecords(m)
	return &Source{Name: name, module: m, records: all, size: all.Len(), most: all.TextSize(), closer: c}
}

// fill creates the temporary file.
func (s *Source) fill(write func(io.Writer) error) error {
	f, err := scratch.File("")
	if err != nil {
		return err
	}
	if err := write(f); err != nil {
		f.Close()
		return fmt.Errorf("%s: copy to a temporary file: %w", s.Name, err)
	}
	size, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		f.Close()
		return err
	}
	s.text, s.file, s.size, s.most = f, f, size, size
	return nil
}

// Close closes and releases the source's files.
func (s *Source) Close() error {
	switch {
	case s.file != nil:
		return s.file.Close()
	case s.closer != nil:
		return s.closer.Close()
	}
	return nil
}

// reset makes rd read the records from one place up to another.
func (s *Source) reset(rd *symfmt.Reader, from, to int64) {
	if s.records != nil {
		rd.ResetRecords(s.records, from, to)
		return
	}
	rd.Reset(io.NewSectionReader(s.text, from, to-from))
}

// Bytes returns the length of the text; for a module, of the text that would be written.
func (s *Source) Bytes() int64 {
	if s.records == nil {
		return s.size
	}
	var n counter
	_ = symfmt.Write(&n, s.module, symfmt.WriteOptions{}) // a counter never fails
	return int64(n)
}

// counter counts what is written.
type counter int64

func (n *counter) Write(p []byte) (int, error) {
	*n += counter(len(p))
	return len(p), nil
}

// readVars reads the variables.
func (s *Source) readVars() (*symfmt.VarsResult, error) {
	if s.module != nil {
		return &symfmt.VarsResult{Vars: s.module.Vars}, nil
	}
	return symfmt.ReadVars(io.NewSectionReader(s.text, 0, s.size), s.Name)
}
