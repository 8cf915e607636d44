package elfobj

import (
	"debug/elf"
	"fmt"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Section is a section header with access to the section's contents.
type Section struct {
	object.Section // place.go assigns Addr in relocatable files

	Index   int
	Type    elf.SectionType
	Flags   elf.SectionFlag
	Offset  uint64 // sh_offset, from the start of the file
	Link    uint32
	Info    uint32
	Align   uint64 // in bytes, of the uncompressed contents
	Entsize uint64

	file  *File
	piece *object.Piece // the Contents of Section
	reloc *relocations  // to be applied; nil unless the file is relocatable
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
	switch h.Type {
	case elf.SHT_NOBITS: // code, in debug files
		s.setPiece(object.AbsentPiece(f.in, s.label(), "has no bytes in this file (SHT_NOBITS)"))
	case elf.SHT_NULL:
		s.setPiece(object.NewPiece(f.in, s.label(), 0, 0))
	default:
		s.setPiece(object.NewPiece(f.in, s.label(), h.Offset, h.FileSize))
		s.readCompression()
	}
	return s
}

func (s *Section) setPiece(p *object.Piece) { s.piece, s.Contents = p, p }

// label names the section in messages.
func (s *Section) label() string {
	if s.Name != "" {
		return s.Name
	}
	return fmt.Sprintf("section %d", s.Index)
}

// errorf returns an error at an offset in the uncompressed contents.
func (s *Section) errorf(offset uint64, format string, args ...any) *bin.Error {
	return s.piece.Errorf(offset, format, args...)
}

// readCompression reads the header of compressed contents (gABI chapter 4, "Compression header").
func (s *Section) readCompression() {
	switch {
	case !s.HasData() || s.piece.Damage() != nil:
	case s.Flags&elf.SHF_COMPRESSED != 0:
		if err := s.readChdr(); err != nil {
			s.piece.Refuse(err)
		}
	case len(s.Name) > 7 && s.Name[:7] == ".zdebug":
		s.piece.ReadGNUHeader()
	}
}

func (s *Section) readChdr() error {
	if s.Flags&elf.SHF_ALLOC != 0 {
		return s.errorf(0, "SHF_COMPRESSED together with SHF_ALLOC")
	}
	skip := chdrForm.size(s.file)
	if s.FileSize < skip {
		return s.errorf(0, "compression header of %d bytes, want %d", s.FileSize, skip)
	}
	head := make([]byte, skip)
	if err := s.piece.ReadAt(head, 0); err != nil {
		return err
	}
	var h elf.Chdr64
	chdrForm.decode(s.file, head, &h)
	s.Align = h.Addralign
	switch elf.CompressionType(h.Type) {
	case elf.COMPRESS_ZLIB:
		s.piece.Compressed(object.Zlib, int64(skip), h.Size)
	case elf.COMPRESS_ZSTD:
		s.piece.Compressed(object.Zstd, int64(skip), h.Size)
	default:
		return s.errorf(0, "compression type %d, want 1 (zlib) or 2 (zstd)", h.Type)
	}
	return nil
}
