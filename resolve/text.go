package resolve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/scratch"
	"github.com/symtool/symtool/symfmt"
)

// text is random access to the text of a symbol file.
type text interface {
	io.ReaderAt
	io.Closer
}

// memoryText holds a small text.
type memoryText struct{ *bytes.Reader }

func (memoryText) Close() error { return nil }

// heldText is the longest text that is kept in memory when the file itself
// cannot be used; a longer one is written to a temporary file.
const heldText = 4 << 20

// openText indexes the symbol file in f and returns its text. Text that is not
// compressed is read from f itself, which it then owns.
func openText(ctx context.Context, f *os.File, name string) (*index, text, []symfmt.Problem, error) {
	return openTextFrom(f, bin.ContextReader(ctx, f), name, symfmt.MaxText, 0)
}

// openTextFrom is like openText for a file that is read through in. A compressed text has at most
// most bytes, and the index at most mostIndex; 0 means no limit.
func openTextFrom(f *os.File, through io.Reader, name string, most, mostIndex int64) (*index, text, []symfmt.Problem, error) {
	in, compression, err := symfmt.NewText(through)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if compression == "" {
		bom, err := skipped(f)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("%s: %w", name, err)
		}
		x, problems, err := build(in, bom, false, name, mostIndex)
		return x, f, problems, err
	}
	return unpack(bin.LimitReader(in, most), name, mostIndex)
}

// skipped returns the length of the byte order mark that the text leaves out.
func skipped(f *os.File) (uint64, error) {
	var head [3]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && err != io.EOF {
		return 0, err
	}
	if n == 3 && head == [3]byte{0xef, 0xbb, 0xbf} {
		return 3, nil
	}
	return 0, nil
}

// unpack indexes a text and keeps it while reading.
func unpack(in io.Reader, name string, mostIndex int64) (*index, text, []symfmt.Problem, error) {
	keep := &spill{}
	x, problems, err := build(io.TeeReader(in, keep), 0, true, name, mostIndex)
	if keep.err != nil {
		err = fmt.Errorf("%s: uncompressed: %w", name, keep.err)
	}
	if err != nil {
		keep.drop()
		return nil, nil, problems, err
	}
	return x, keep.text(), problems, nil
}

// spill keeps what is written to it, in memory or, when it gets long, in a
// nameless file.
type spill struct {
	held []byte
	file *os.File
	err  error // of the file
}

func (s *spill) Write(p []byte) (n int, err error) {
	if s.file == nil && len(s.held)+len(p) <= heldText {
		s.held = append(s.held, p...)
		return len(p), nil
	}
	if s.file == nil {
		s.err = s.create()
	}
	if s.err == nil {
		n, s.err = s.file.Write(p)
	}
	return n, s.err
}

func (s *spill) create() error {
	f, err := scratch.File("")
	if err != nil {
		return err
	}
	s.file = f
	_, err = f.Write(s.held)
	s.held = nil
	return err
}

func (s *spill) drop() {
	if s.file != nil {
		s.file.Close()
	}
}

func (s *spill) text() text {
	if s.file != nil {
		return s.file
	}
	return memoryText{bytes.NewReader(s.held)}
}
