package peobj

import (
	"bytes"
	"debug/pe"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/klauspost/compress/zlib"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// section is a section header and the way to the section's contents.
type section struct {
	object.Section

	rva    uint32
	offset uint32 // in the file
	raw    uint32 // bytes in the file that are the section's
	flags  uint32
	file   *File

	zlib bool  // the contents are compressed
	size int64 // of the contents, uncompressed, as declared
	bad  error // why the contents cannot be had

	mu     sync.Mutex
	data   []byte // contents, when loaded
	mapped []byte // contents, when mapped, behind before bytes of a page
	before int64
}

// newSection decodes a section header.
func (f *File) newSection(index int, h []byte) *section {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(h[at:]) }
	s := &section{rva: u32(12), offset: u32(20), raw: u32(16), flags: u32(36), file: f}
	memory := u32(8)
	if memory == 0 {
		memory = s.raw // of old linkers
	}
	s.raw = min(s.raw, memory)
	name, err := f.sectionName(h[:8])
	if err != nil {
		f.problems = append(f.problems, bin.Problem{Lost: fmt.Sprintf("name of section %d", index+1), Err: err})
	}
	s.Section = object.Section{
		Name: name, Addr: f.imageBase + uint64(s.rva), FileSize: uint64(memory), MemSize: uint64(memory),
		Exec: s.flags&(pe.IMAGE_SCN_MEM_EXECUTE|pe.IMAGE_SCN_CNT_CODE) != 0,
	}
	// Drivers discard code for their start, too.
	s.Alloc = s.Exec || s.flags&pe.IMAGE_SCN_MEM_DISCARDABLE == 0
	s.Contents = s
	if s.HasData() {
		s.FileSize = uint64(s.raw)
		s.inspect()
	}
	return s
}

// sectionName returns a section's name: of 8 bytes, or /N or //BASE64 for one at an offset of
// the string table after the COFF symbols.
func (f *File) sectionName(field []byte) (string, error) {
	name := string(bytes.TrimRight(field, "\x00"))
	if !strings.HasPrefix(name, "/") {
		return name, nil
	}
	var at uint64
	if digits, ok := strings.CutPrefix(name, "//"); ok {
		b, err := base64.RawStdEncoding.DecodeString(strings.Repeat("A", (8-len(digits))%8) + digits)
		if err != nil {
			return name, f.errorf(0, "section name %q: want // and 6 digits of base 64", name)
		}
		for _, c := range b {
			at = at<<8 | uint64(c)
		}
	} else {
		var err error
		if at, err = strconv.ParseUint(name[1:], 10, 32); err != nil {
			return name, f.errorf(0, "section name %q: want / and an offset in the string table", name)
		}
	}
	long, err := f.stringAt(at)
	if err != nil {
		return name, err
	}
	return long, nil
}

// maxSectionName is the length of the longest section name that is read.
const maxSectionName = 256

// stringAt returns a string of the table after the COFF symbols.
func (f *File) stringAt(at uint64) (string, error) {
	table := f.stringTable()
	if table == 0 || at < 4 || at > uint64(f.size) || table > f.size-int64(at) {
		return "", f.errorf(uint64(table), "name at %#x: beyond the string table", at)
	}
	start := table + int64(at)
	data, err := f.read(start, min(maxSectionName, f.size-start))
	if err != nil {
		return "", err
	}
	n := bytes.IndexByte(data, 0)
	if n < 0 {
		return "", f.errorf(uint64(start), "name at %#x has no end in %d bytes", at, len(data))
	}
	return string(data[:n]), nil
}

// stringTable returns the offset of the string table; 0 without COFF symbols.
func (f *File) stringTable() int64 {
	h := &f.header
	if h.PointerToSymbolTable == 0 {
		return 0
	}
	return int64(h.PointerToSymbolTable) + coffSymbolSize*int64(h.NumberOfSymbols)
}

// HasData reports whether the file claims to hold bytes for the section. Debug files of
// "objcopy --only-keep-debug" have a size and no offset for code.
func (s *section) HasData() bool {
	return s.offset != 0 && s.raw > 0 && s.flags&pe.IMAGE_SCN_CNT_UNINITIALIZED_DATA == 0
}

// Stripped implements object.Contents.
func (s *section) Stripped() bool { return !s.HasData() }

// Size implements object.Contents.
func (s *section) Size() int64 { return s.size }

// Compression implements object.Contents.
func (s *section) Compression() string {
	if s.zlib {
		return "zlib"
	}
	return ""
}

// gnuZlib begins a ".zdebug" section, which Go's linker writes; 8 bytes of size follow,
// big-endian in any file (binutils, bfd/compress.c).
const (
	gnuZlib     = "ZLIB"
	gnuZlibSize = 12
)

// inspect checks the section's place in the file, and reads its compression header.
func (s *section) inspect() {
	off, raw := int64(s.offset), int64(s.raw)
	if off > s.file.size || raw > s.file.size-off {
		s.bad = s.errorf(0, "%d bytes at offset %#x do not fit into the file of %d bytes", raw, off, s.file.size)
		return
	}
	s.size = raw
	if !strings.HasPrefix(s.Name, ".zdebug_") || raw < gnuZlibSize {
		return
	}
	head, err := s.file.read(off, gnuZlibSize)
	if err != nil {
		s.bad = err
		return
	}
	if string(head[:4]) == gnuZlib {
		s.zlib = true
		if s.size = int64(binary.BigEndian.Uint64(head[4:])); s.size < 0 {
			s.size, s.bad = 0, s.errorf(4, "declares %d bytes of uncompressed contents", uint64(s.size))
		}
	}
}

func (s *section) errorf(offset uint64, format string, args ...any) *bin.Error {
	return &bin.Error{File: s.file.path, Section: s.Name, Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// check returns why there are no contents, nil if there are.
func (s *section) check() error {
	if !s.HasData() {
		return s.errorf(0, "has no bytes in this file")
	}
	return s.bad
}

// Data implements object.Contents.
func (s *section) Data() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data != nil {
		return s.data, nil
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	if !s.file.held.Take(s.size) {
		return nil, s.errorf(0, "%d bytes of contents would exceed the limit of %d bytes in memory for a file of %d bytes",
			s.size, s.file.lim.HeldBytes(s.file.size), s.file.size)
	}
	data, err := s.load()
	if err != nil {
		s.file.held.Give(s.size)
		return nil, err
	}
	s.data = data
	return data, nil
}

// load reads or inflates the contents. The declared size is within the budget, but may be
// false: memory grows with what is there.
func (s *section) load() ([]byte, error) {
	if !s.zlib {
		return s.file.read(int64(s.offset), s.size)
	}
	packed := io.NewSectionReader(s.file.r, int64(s.offset)+gnuZlibSize, int64(s.raw)-gnuZlibSize)
	r, err := zlib.NewReader(packed)
	if err == nil {
		defer r.Close()
		var data []byte
		if data, err = bin.ReadUpTo(io.LimitReader(r, s.size+1), s.size+1); err == nil && int64(len(data)) == s.size {
			return data, nil
		}
		if err == nil {
			return nil, s.errorf(0, "compressed data holds %d bytes, want the declared %d", len(data), s.size)
		}
	}
	e := s.errorf(0, "compressed data")
	e.Err = err
	return nil, e
}

// mapOver is the size from which Map maps a section: below it reading costs less.
const mapOver = 4 << 20

// Map implements object.Contents.
func (s *section) Map() ([]byte, error) {
	file := s.file.file()
	if file == nil || s.zlib || s.size < mapOver || !bin.CanMap || s.check() != nil {
		return s.Data()
	}
	s.mu.Lock()
	if s.mapped == nil {
		before := int64(s.offset) % int64(os.Getpagesize())
		m, err := bin.MapFile(file, int64(s.offset)-before, s.size+before)
		if err != nil {
			s.mu.Unlock()
			return s.Data()
		}
		s.mapped, s.before = m, before
	}
	defer s.mu.Unlock()
	return s.mapped[s.before:][:s.size:s.size], nil
}

// Drop implements object.Contents.
func (s *section) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mapped != nil {
		bin.DropPages(s.mapped)
	}
}

// Release implements object.Contents.
func (s *section) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data != nil {
		s.file.held.Give(s.size)
		s.data = nil
	}
	if s.mapped != nil {
		bin.UnmapFile(s.mapped)
		s.mapped = nil
	}
}

// Open implements object.Contents.
func (s *section) Open() (object.Source, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	if !s.zlib {
		return &source{s, s.file.r, int64(s.offset)}, nil
	}
	data, err := s.Data()
	if err != nil {
		return nil, err
	}
	return &source{s, bytes.NewReader(data), 0}, nil
}

// source is a section at an offset of a file.
type source struct {
	s    *section
	r    io.ReaderAt
	base int64
}

// Size implements object.Source.
func (p *source) Size() int64 { return p.s.size }

// Bytes implements object.Source.
func (p *source) Bytes(off, n int64, buf []byte) ([]byte, error) {
	if off < 0 || n < 0 || off > p.s.size || n > p.s.size-off {
		return nil, p.s.errorf(uint64(max(off, 0)), "%d bytes wanted, the section has %d", n, p.s.size)
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if got, err := p.r.ReadAt(buf, p.base+off); int64(got) != n {
		if err == nil || err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		e := p.s.errorf(uint64(off)+uint64(got), "reading %d bytes", n)
		e.Err = object.BareError(err)
		return nil, e
	}
	return buf, nil
}
