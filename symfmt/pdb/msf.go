package pdb

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/symtool/symtool/internal/bin"
)

// magic is the beginning of files of Visual C++ 7 and later.
const magic = "Microsoft C/C++ MSF 7.00\r\n\x1aDS\x00\x00\x00"

// HeadSize is the number of bytes at the beginning of a file by which Match recognises a PDB.
const HeadSize = len(magic)

// Match reports whether a file that begins with head is a PDB that Read supports.
func Match(head []byte) bool {
	n := min(len(head), len(magic))
	return n >= 24 && string(head[:n]) == magic[:n]
}

const (
	superSize = 56
	noStream  = 0xffff
	noSize    = 0xffffffff // size of a stream that was removed
)

// container is an MSF file: streams, whose bytes are in blocks anywhere in the file. Streams are
// read on demand, and never more of them than the file has bytes.
type container struct {
	file    string
	r       io.ReaderAt
	size    int64
	block   int64 // size in bytes
	streams []stream
}

// stream is a list of blocks.
type stream struct {
	size   int64
	blocks []uint32
}

func (c *container) errorf(format string, args ...any) error {
	return &bin.Error{File: c.file, Msg: fmt.Sprintf(format, args...)}
}

func open(r io.ReaderAt, size int64, file string) (*container, error) {
	c := &container{file: file, r: r, size: size}
	head := make([]byte, min(size, superSize))
	if err := c.read(head, 0); err != nil {
		return nil, err
	}
	if len(head) < superSize || string(head[:len(magic)]) != magic {
		return nil, c.errorf("%s", kindOf(head))
	}
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(head[at:]) }
	c.block = int64(u32(32))
	if c.block < 512 || c.block > 32768 || c.block&(c.block-1) != 0 {
		return nil, c.errorf("blocks of %d bytes, want a power of two from 512 to 32768", c.block)
	}
	return c, c.readDirectory(int64(u32(44)), int64(u32(52)))
}

// kindOf describes a file that is not an MSF file.
func kindOf(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("BSJB")):
		return "a portable PDB of .NET, which describes no native code"
	case bytes.HasPrefix(head, []byte("Microsoft C/C++ program database 2.00")):
		return "a PDB of Visual C++ 6 or earlier, which is not supported"
	case bytes.HasPrefix(head, []byte("MSCF")):
		return "a cabinet: extract the PDB in it (cabextract)"
	}
	return "not a PDB file"
}

// readDirectory reads the sizes and the blocks of all streams. mapAt is the block with the list
// of the directory's blocks.
func (c *container) readDirectory(size, mapAt int64) error {
	if size > c.size {
		return c.errorf("directory of %d bytes in a file of %d", size, c.size)
	}
	list, err := c.blockList(4*c.count(size), func(i int64) int64 { return mapAt + i })
	if err != nil {
		return err
	}
	at := func(i int64) int64 { return int64(binary.LittleEndian.Uint32(list[4*i:])) }
	dir, err := c.blockList(size, at)
	if err != nil {
		return err
	}
	cur := bin.New("directory", dir, binary.LittleEndian)
	n := int64(cur.U32())
	if 4*n > int64(cur.Len()) {
		return c.errorf("%d streams in a directory of %d bytes", n, size)
	}
	c.streams = make([]stream, n)
	for i := range c.streams {
		if s := cur.U32(); s != noSize {
			c.streams[i].size = int64(s)
		}
	}
	for i := range c.streams {
		s := &c.streams[i]
		blocks := c.count(s.size)
		if s.size > c.size || 4*blocks > int64(cur.Len()) {
			return c.errorf("stream %d of %d bytes in a file of %d", i, s.size, c.size)
		}
		s.blocks = make([]uint32, blocks)
		for k := range s.blocks {
			s.blocks[k] = cur.U32()
		}
	}
	return nil
}

// count returns the number of blocks needed for a size in bytes.
func (c *container) count(size int64) int64 { return (size + c.block - 1) / c.block }

// blockList reads the blocks that hold size bytes; at returns the number of each.
func (c *container) blockList(size int64, at func(i int64) int64) ([]byte, error) {
	if size > c.size {
		return nil, c.errorf("blocks of %d bytes in a file of %d", size, c.size)
	}
	data := make([]byte, size)
	for i := int64(0); i*c.block < size; i++ {
		part := data[i*c.block : min((i+1)*c.block, size)]
		if err := c.read(part, at(i)*c.block); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// read fills buf from an offset of the file.
func (c *container) read(buf []byte, off int64) error {
	if off < 0 || off > c.size || int64(len(buf)) > c.size-off {
		return &bin.Error{File: c.file, Offset: uint64(max(off, 0)), Msg: fmt.Sprintf("want %d bytes, in a file of %d", len(buf), c.size)}
	}
	if n, err := c.r.ReadAt(buf, off); n < len(buf) {
		return &bin.Error{File: c.file, Offset: uint64(off), Err: err}
	}
	return nil
}

// stream returns stream i, or an empty one if it does not exist.
func (c *container) stream(i int) *reader {
	if i < 0 || i >= len(c.streams) || i == noStream {
		return &reader{c: c, index: i, s: &stream{}}
	}
	return &reader{c: c, index: i, s: &c.streams[i]}
}

// reader reads the bytes of a stream.
type reader struct {
	c     *container
	index int
	s     *stream
	pos   int64
}

// ReadAt implements io.ReaderAt.
func (r *reader) ReadAt(buf []byte, off int64) (n int, err error) {
	for n < len(buf) {
		if off >= r.s.size {
			return n, io.EOF
		}
		first, within := off/r.c.block, off%r.c.block
		run := int64(1) // blocks that are adjacent in the file
		for end := within + int64(len(buf)-n); run*r.c.block < end && first+run < int64(len(r.s.blocks)) && r.s.blocks[first+run] == r.s.blocks[first]+uint32(run); run++ {
		}
		part := buf[n:min(int64(len(buf)), int64(n)+min(run*r.c.block-within, r.s.size-off))]
		if err := r.c.read(part, int64(r.s.blocks[first])*r.c.block+within); err != nil {
			return n, err
		}
		n, off = n+len(part), off+int64(len(part))
	}
	return n, nil
}

// Read implements io.Reader.
func (r *reader) Read(buf []byte) (int, error) {
	n, err := r.ReadAt(buf, r.pos)
	r.pos += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// all returns the whole stream.
func (r *reader) all() ([]byte, error) { return r.part(0, r.s.size) }

// part returns n bytes at an offset.
func (r *reader) part(off, n int64) ([]byte, error) { return r.partIn(nil, off, n) }

// partIn is like part, but uses the memory of buf if it is large enough.
func (r *reader) partIn(buf []byte, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > r.s.size || n > r.s.size-off {
		return nil, r.errorf(uint64(max(off, 0)), "want %d bytes, in a stream of %d", n, r.s.size)
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := r.ReadAt(buf, off); err != nil {
		return nil, err
	}
	return buf, nil
}

func (r *reader) errorf(off uint64, format string, args ...any) error {
	return &bin.Error{File: r.c.file, Section: fmt.Sprintf("stream %d", r.index), Offset: off, Msg: fmt.Sprintf(format, args...)}
}
