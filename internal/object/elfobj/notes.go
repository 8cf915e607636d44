package elfobj

import (
	"debug/elf"
	"encoding/binary"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

const (
	ntGNUBuildID = 3
	ownerGNU     = "GNU\x00"
)

// maxNotes is the maximum number of bytes that are searched for a build-id
// note, per section or segment. Programs have a few hundred bytes of notes;
// only cores have more.
const maxNotes = 1 << 20

// BuildID returns the contents of the NT_GNU_BUILD_ID note whose owner is
// "GNU", or nil. Sections are searched before segments: a debug file keeps the
// program headers of the binary, whose offsets mean nothing in it.
func (f *File) BuildID() []byte {
	left := max(f.Size, maxNotes) // exceeded only if notes overlap
	for _, s := range f.Sections {
		if s.Type == elf.SHT_NOTE && s.HasData() && s.piece.Damage() == nil && s.Compression() == "" {
			if id := f.noteAt(s.Offset, s.FileSize, s.Align, &left); id != nil {
				return id
			}
		}
	}
	for i := range f.Segments {
		if p := &f.Segments[i]; p.Type == elf.PT_NOTE {
			if id := f.noteAt(p.Offset, p.FileSize, p.Align, &left); id != nil {
				return id
			}
		}
	}
	return nil
}

// noteAt searches size bytes of the file at off.
func (f *File) noteAt(off, size, align uint64, left *int64) []byte {
	if off >= uint64(f.Size) {
		return nil
	}
	size = min(size, uint64(f.Size)-off, maxNotes)
	if *left -= int64(size); *left < 0 {
		return nil
	}
	data := make([]byte, size)
	if f.in.ReadAt(data, int64(off)) != nil {
		return nil
	}
	// Notes are padded to 4 bytes; some linkers pad to 8 if the alignment is 8
	// (gABI chapter 5, "Note section"; Linux ABI, .note.gnu.property).
	first, second := uint64(4), uint64(8)
	if align == 8 {
		first, second = second, first
	}
	if id := FindBuildID(data, first, f.Order); id != nil {
		return id
	}
	return FindBuildID(data, second, f.Order)
}

// FindBuildID is like BuildID, for the bytes of a note section or segment whose
// notes are padded to align, 4 or 8.
func FindBuildID(data []byte, align uint64, order binary.ByteOrder) (id []byte) {
	EachNote(data, align, order, func(n Note) bool {
		if n.Type == ntGNUBuildID && string(n.Name) == ownerGNU && len(n.Desc) > 0 {
			id = n.Desc
		}
		return id == nil
	})
	return id
}

// Note is an entry of a note section or segment.
type Note struct {
	Type   uint32
	Name   []byte // the owner, with its NUL if there is one
	Desc   []byte // the contents
	Offset uint64 // of Desc, from the start of the section or segment
}

// EachNote calls fn with each note in data until fn returns false. Notes are padded
// to align. EachNote returns an error at a note that does not fit into data, after
// calling fn with those before it. Name and Desc are parts of data.
func EachNote(data []byte, align uint64, order binary.ByteOrder, fn func(Note) bool) error {
	c := bin.New("", data, order)
	pad := func() { c.Skip(min(-uint64(c.Pos())&(align-1), uint64(c.Len()))) }
	for c.Len() >= 12 {
		nameSize, descSize := c.U32(), c.U32()
		n := Note{Type: c.U32(), Name: c.Bytes(uint64(nameSize))}
		pad()
		n.Offset = c.Offset()
		n.Desc = c.Bytes(uint64(descSize))
		pad()
		if err := c.Err(); err != nil {
			return err
		}
		if !fn(n) {
			return nil
		}
	}
	return nil
}

// DebugLink returns the file name and CRC-32 in .gnu_debuglink.
func (f *File) DebugLink() (name string, crc uint32, ok bool) {
	data, ok := f.linkData(".gnu_debuglink")
	if !ok {
		return "", 0, false
	}
	return object.ParseDebugLink(data, f.Order)
}

func (f *File) linkData(section string) ([]byte, bool) {
	s := f.Section(section)
	if s == nil || !s.HasData() {
		return nil, false
	}
	data, err := s.Data()
	return data, err == nil
}

const (
	textHashed = 4096 // bytes of .text that are hashed
	guidSize   = 16
)

// ContentID implements object.Container: it returns the id of a file without a build-id, or nil if it has no code. If
// it has a section .text or "text", the id is Breakpad's: its first 4096 bytes, XORed in steps of 16 bytes (Breakpad,
// src/common/linux/file_id.cc, HashElfTextSection). If the section's size is not a multiple of 16, the last step goes
// beyond its end, as in Breakpad. For all other files the id is made from the code that flags mark, whatever its
// sections are called: in relocatable files, each function may have its own. The bytes are those in the file, without
// relocations.
func (f *File) ContentID() []byte {
	for _, s := range []*Section{f.named(".text"), f.named("text")} {
		if s != nil && s.Type == elf.SHT_PROGBITS && s.HasData() {
			return f.breakpadHash(s)
		}
	}
	return object.CodeHash(f.in, f.codeParts())
}

func (f *File) breakpadHash(s *Section) []byte {
	if s.piece.Damage() != nil {
		return nil
	}
	n := (min(s.FileSize, textHashed) + guidSize - 1) &^ (guidSize - 1)
	data := make([]byte, min(n, uint64(f.Size)-s.Offset))
	if f.in.ReadAt(data, int64(s.Offset)) != nil {
		return nil
	}
	return object.XORHash(data)
}

// codeParts returns the parts of the file that are code: sections or, if the section headers are lost, the segments
// with code.
func (f *File) codeParts() (all []object.Range) {
	for _, s := range f.Sections {
		if s.IsCode() && s.HasData() {
			all = append(all, object.Range{Start: s.Offset, End: s.Offset + s.FileSize})
		}
	}
	for i := range f.Segments {
		if p := &f.Segments[i]; len(f.Sections) == 0 && p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			all = append(all, object.Range{Start: p.Offset, End: p.Offset + p.FileSize})
		}
	}
	return all
}
