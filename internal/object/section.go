package object

import "cmp"

// Section is a piece of a file with a name and a place in memory.
type Section struct {
	Name string // "" if the file has none

	// Known is ELF's name of it, by which Container.Section finds it, in a container with other names;
	// "" in those with ELF's.
	Known string

	Addr uint64 // in relocatable files assigned by the container's package

	// FileSize is the number of bytes in the file, compressed or not; for a section
	// without bytes it is MemSize, the number of bytes in memory.
	FileSize, MemSize uint64

	Alloc    bool // it is in memory when the file is loaded
	Exec     bool // it holds instructions
	Unplaced bool // it does not fit into the address space

	Contents
}

// IsCode reports whether the section is code in memory. Its bytes may be in the file that
// this one describes.
func (s *Section) IsCode() bool { return s.Alloc && s.Exec }

// Called returns ELF's name of the section.
func (s *Section) Called() string { return cmp.Or(s.Known, s.Name) }

// Holds reports whether addr is in the bytes that the section has in the file.
func (s *Section) Holds(addr uint64) bool { return addr-s.Addr < s.FileSize }

// Contents gives the bytes of a section, uncompressed and relocated. It may be used
// concurrently. Errors are *bin.Error.
type Contents interface {
	// HasData reports whether the file claims to hold bytes. Debug files have no bytes for
	// sections with code.
	HasData() bool
	// Stripped reports whether the section's bytes are in the file that this one
	// describes.
	Stripped() bool
	// Size returns the number of bytes that Data returns; 0 without data.
	Size() int64
	// Compression returns "zlib" or "zstd", "" for contents that are stored.
	Compression() string
	// Data returns the contents, which are kept until Release and must not be changed.
	Data() ([]byte, error)
	// Map is like Data, but maps large contents from the file. Access must be under
	// debug.SetPanicOnFault. Drop gives back the memory of what was examined.
	Map() ([]byte, error)
	Drop()
	// Open returns the contents for reading piece by piece.
	Open() (Source, error)
	// Release drops what the other methods keep. Slices from Data stay valid.
	Release()
}

// Source gives pieces of a section's contents, uncompressed and relocated. It may be used
// concurrently, with a buf for each goroutine.
type Source interface {
	// Size returns the number of bytes of the contents.
	Size() int64
	// Bytes returns n bytes at off. They are in buf, in a new slice if buf is
	// too small, or in memory that the Source holds. The result must not be
	// changed. It may be the buf of the next call to this Source, but not to
	// another. Errors are *bin.Error.
	Bytes(off, n int64, buf []byte) ([]byte, error)
}

// Viewer is implemented by Sources whose contents may be mapped from the file.
type Viewer interface {
	// View returns all contents, mapped as by Contents.Map, or nil if Bytes is the only way to them.
	View() []byte
}

// ViewOf returns the contents of s, mapped as by Contents.Map, or nil if they are not.
func ViewOf(s Source) []byte {
	if v, ok := s.(Viewer); ok {
		return v.View()
	}
	return nil
}

// Gradual is implemented by Sources whose contents are inflated on demand. Damage is an error for the
// reads that need the damaged bytes.
type Gradual interface {
	Ready() int64 // number of bytes inflated so far
}

// StrippedUnwind returns the first section for unwinding that f has only the header of, as its bytes are in the file
// that f describes; nil if there is none.
func (f *File) StrippedUnwind() *Section {
	for _, name := range f.Terms.Unwind {
		for _, s := range f.Sections {
			if s.Called() == name && s.Alloc && s.Stripped() {
				return s
			}
		}
	}
	return nil
}
