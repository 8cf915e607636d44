package dump

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/scratch"
)

// content is a copy of a member of a package. Small ones are in memory, others in a temporary file without a name.
type content struct {
	name   string // the member's path in the package
	size   int64
	memory object.Memory
	file   *os.File
	refs   int // number of parts that use it
}

// inMemory is the maximum size in bytes of a member that is kept in memory.
const inMemory = 64 << 10

// keep copies a member of at most limit bytes. An error of the member itself is r's own error or a *bin.SizeError;
// any other error comes from the temporary file.
func keep(r io.Reader, name string, limit int64) (*content, error) {
	r = bin.LimitReader(r, limit)
	head := make([]byte, inMemory)
	n, err := bin.Fill(r, head)
	c := &content{name: name, size: int64(n), memory: head[:n]}
	if errors.Is(err, io.EOF) {
		c.memory = append(object.Memory(nil), c.memory...)
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	if c.file, err = scratch.File(""); err != nil {
		return nil, fmt.Errorf("a temporary file: %w", err)
	}
	size, broken, err := bin.CopySparse(c.file, io.MultiReader(bytesOf(c.memory), r))
	c.size, c.memory = size, nil
	if err != nil {
		err = fmt.Errorf("a temporary file: %w", err)
	}
	if err == nil {
		err = broken
	}
	if err != nil {
		c.file.Close()
		return nil, err
	}
	return c, nil
}

func bytesOf(m object.Memory) io.Reader { return io.NewSectionReader(m, 0, int64(len(m))) }

// contents returns the copy for random access.
func (c *content) contents() io.ReaderAt {
	if c.file != nil {
		return c.file
	}
	return c.memory
}

// ReadAt implements io.ReaderAt.
func (c *content) ReadAt(p []byte, off int64) (int, error) { return c.contents().ReadAt(p, off) }

// Size implements archive.Spooled.
func (c *content) Size() int64 { return c.size }

// Close implements archive.Spooled.
func (c *content) Close() error {
	if c.file == nil {
		return nil
	}
	return c.file.Close()
}

// release ends one use of the copy. The last one closes it.
func (c *content) release() {
	if c.refs--; c.refs == 0 {
		c.Close()
	}
}
