package object

import (
	"bytes"
	"fmt"
	"io"

	"github.com/symtool/symtool/internal/bin"
)

// Input is the bytes of a file, and the budgets for its sections. All methods may be
// called concurrently.
type Input struct {
	Path   string // for messages
	Size   int64  // in bytes
	Reader io.ReaderAt
	Limits Limits

	Held Budget // for bytes of sections in memory
	Disk Budget // for bytes of sections in temporary files
}

// NewInput returns an Input for the first size bytes of r, with the budgets that lim gives a file
// of that size.
func NewInput(r io.ReaderAt, size int64, path string, lim Limits) *Input {
	in := &Input{Path: path, Size: size, Reader: r, Limits: lim}
	in.Held.Set(lim.HeldBytes(size))
	in.Disk.Set(lim.DiskBytes(size))
	return in
}

// Memory is a Reader for an Input that is in memory: its sections need not be copied.
type Memory []byte

// ReadAt implements io.ReaderAt.
func (m Memory) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }

// Errorf returns an error about the file; offset is from its start.
func (in *Input) Errorf(offset uint64, format string, args ...any) *bin.Error {
	return &bin.Error{File: in.Path, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// Guard runs fn and turns a panic into an error: decoders may meet bytes that their authors did not
// expect. It contains the only recover in the packages that read containers.
func (in *Input) Guard(section string, fn func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &bin.Error{File: in.Path, Section: section, Msg: fmt.Sprintf("reader panicked: %v", r)}
		}
	}()
	return fn()
}

// ReadAt fills buf from off. The caller has checked that the range is inside the file.
func (in *Input) ReadAt(buf []byte, off int64) error {
	if got, err := readFull(in.Reader, buf, off); err != nil {
		return &bin.Error{File: in.Path, Offset: uint64(off) + uint64(got), Err: err}
	}
	return nil
}

// Read returns n bytes at off. It checks that the file has them before it allocates memory.
func (in *Input) Read(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > in.Size || n > in.Size-off {
		return nil, in.Errorf(uint64(max(off, 0)), "%d bytes wanted, the file has %d", n, in.Size)
	}
	buf := make([]byte, n)
	return buf, in.ReadAt(buf, off)
}

// readFull fills buf from off. If it fails, got is the number of bytes read before that.
func readFull(r io.ReaderAt, buf []byte, off int64) (got int, err error) {
	got, err = r.ReadAt(buf, off)
	switch {
	case got == len(buf):
		return got, nil
	case err == nil, err == io.EOF:
		return got, io.ErrUnexpectedEOF
	}
	return got, bin.WithoutPath(err)
}
