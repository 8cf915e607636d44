package elfobj

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Section is a section header and the way to the section's contents.
type Section struct {
	object.Section // Addr in relocatable files is what place.go says

	Index   int
	Type    elf.SectionType
	Flags   elf.SectionFlag
	Offset  uint64 // sh_offset, from the start of the file
	Link    uint32
	Info    uint32
	Align   uint64 // in bytes, of the contents, uncompressed
	Entsize uint64

	file  *File
	reloc *relocations // to be applied; nil in other than relocatable files
	parts []*Section   // which hold the contents, when several were joined

	comp compression
	skip int64 // length of the compression header
	size int64 // of the contents, uncompressed, as declared
	bad  error // why the contents cannot be had

	mu     sync.Mutex
	data   []byte // contents, when loaded
	mapped []byte // contents, when mapped, behind before bytes of a page
	before int64
	spill  *os.File // contents, when inflated to a temporary file
}

func newSection(f *File, index int, h elf.SectionHeader) *Section {
	s := &Section{
		Section: object.Section{
			Name: h.Name, Addr: h.Addr, FileSize: h.FileSize, MemSize: h.FileSize,
			Alloc: h.Flags&elf.SHF_ALLOC != 0 && h.Type != elf.SHT_NULL, Exec: h.Flags&elf.SHF_EXECINSTR != 0,
		},
		Index: index, Type: h.Type, Flags: h.Flags, Offset: h.Offset,
		Link: h.Link, Info: h.Info, Align: h.Addralign, Entsize: h.Entsize, file: f,
	}
	s.Contents = s
	return s
}

// HasData reports whether the file claims to hold bytes for the section. It is
// false for SHT_NOBITS, which is what debug files have in place of code.
func (s *Section) HasData() bool {
	return s.Type != elf.SHT_NOBITS && s.Type != elf.SHT_NULL && s.FileSize > 0
}

// Stripped reports whether the section has its bytes in another file (SHT_NOBITS).
func (s *Section) Stripped() bool { return s.Type == elf.SHT_NOBITS }

// Size returns the number of bytes that Data returns, uncompressed; 0 without data.
func (s *Section) Size() int64 { return s.size }

// Compressed reports whether the contents have to be inflated.
func (s *Section) Compressed() bool { return s.comp != stored }

// Compression returns "zlib" or "zstd", "" for contents that are stored.
func (s *Section) Compression() string {
	return map[compression]string{zlibbed: "zlib", zstandard: "zstd"}[s.comp]
}

// label names the section in messages.
func (s *Section) label() string {
	if s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("section %d", s.Index)
}

// errorf makes an error at an offset of the uncompressed contents.
func (s *Section) errorf(offset uint64, format string, args ...any) *bin.Error {
	return s.wrap(offset, nil, format, args...)
}

func (s *Section) wrap(offset uint64, cause error, format string, args ...any) *bin.Error {
	return &bin.Error{File: s.file.Path, Section: s.label(), Offset: offset,
		Msg: fmt.Sprintf(format, args...), Err: cause}
}

// inspect checks the section's place in the file and reads its compression
// header.
func (s *Section) inspect() {
	if s.size != 0 || s.bad != nil || !s.HasData() {
		return
	}
	size := uint64(s.file.Size)
	if s.Offset > size || s.FileSize > size-s.Offset {
		s.bad = s.errorf(0, "%d bytes at offset %#x do not fit into the file of %d bytes", s.FileSize, s.Offset, size)
		return
	}
	s.size = int64(s.FileSize)
	if err := s.readCompression(); err != nil {
		s.size, s.bad = 0, err
	}
}

// Data returns the contents, uncompressed and relocated. They are kept until Release and must
// not be changed. A section without bytes gives an error, one of size 0 does
// not. Errors are *bin.Error.
func (s *Section) Data() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data != nil || s.Type == elf.SHT_NULL {
		return s.data, nil
	}
	if s.Type == elf.SHT_NOBITS {
		return nil, s.errorf(0, "has no bytes in this file (SHT_NOBITS)")
	}
	if s.bad != nil {
		return nil, s.bad
	}
	if !s.file.held.Take(s.size) {
		return nil, s.errorf(0, "%d bytes of contents would exceed the limit of %d bytes in memory for a file of %d bytes",
			s.size, s.file.lim.HeldBytes(s.file.Size), s.file.Size)
	}
	data, err := s.load()
	if err == nil && s.reloc != nil {
		if err = s.reloc.prepare(); err == nil {
			err = s.reloc.apply(data, 0, nil)
		}
	}
	if err != nil {
		s.file.held.Give(s.size)
		return nil, err
	}
	s.data = data
	return data, nil
}

// plainRatio is the ratio up to which a declared size is believed, because
// honest debug sections reach it.
const plainRatio = 16

// load reads or inflates the contents. The declared size is within the budget, but
// may be false: a size that the output of compilers does not reach is inflated once
// without storing it before memory is allocated.
func (s *Section) load() ([]byte, error) {
	if s.parts != nil {
		return s.loadParts(make([]byte, 0, s.size))
	}
	if s.comp == stored {
		if m, ok := s.file.r.(memory); ok && s.reloc == nil && s.Offset <= uint64(len(m)) && uint64(s.size) <= uint64(len(m))-s.Offset {
			return m[s.Offset:][:s.size:s.size], nil
		}
		data := make([]byte, s.size)
		return data, s.readAt(data, 0)
	}
	if s.size > inflateChunk && uint64(s.size)/plainRatio > s.FileSize {
		if err := s.inflateTo(func([]byte) error { return nil }); err != nil {
			return nil, err
		}
	}
	return s.inflateAll()
}

// memory is a file in memory, whose sections need not be copied.
type memory []byte

func (m memory) ReadAt(p []byte, off int64) (int, error) { return bytes.NewReader(m).ReadAt(p, off) }

// readAt fills buf from offset off of the bytes in the file.
func (s *Section) readAt(buf []byte, off int64) error {
	if err := s.file.readAt(buf, int64(s.Offset)+off); err != nil {
		return s.wrap(uint64(off), err.(*bin.Error).Err, "reading %d bytes", len(buf))
	}
	return nil
}

// Release drops the contents that Data and Open keep. Slices that were handed
// out by Data stay valid; a Source and what Map returned do not.
func (s *Section) Release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.data != nil {
		s.file.held.Give(s.size)
		s.data = nil
	}
	s.unmap()
	if s.spill != nil {
		s.file.disk.Give(s.size)
		s.spill.Close()
		s.spill = nil
	}
}
