package object

import "cmp"

// Section is a part of a file with a name and an address range in memory.
type Section struct {
	Name string // "" if the file has none

	// Known is the section's ELF name, by which Container.Section finds it, for containers with other
	// names; "" for those that use ELF's names.
	Known string

	Addr uint64 // assigned by the container's package for relocatable files

	// FileSize is the number of bytes in the file, compressed or not. For a section
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

// Called returns the section's ELF name.
func (s *Section) Called() string { return cmp.Or(s.Known, s.Name) }

// Holds reports whether addr is in the bytes that the section has in the file.
func (s *Section) Holds(addr uint64) bool { return addr-s.Addr < s.FileSize }

// Contents provides the bytes of a section, uncompressed and relocated. It may be
// used concurrently. Errors are *bin.Error.
type Contents interface {
	// HasData reports whether the file claims to have bytes for the section. Debug files
	// have none for sections with code.
	HasData() bool
	// Stripped reports whether the section's bytes are in the file that this one
	// describes.
	Stripped() bool
	// Size returns the number of bytes that Data returns, or 0 without data.
	Size() int64
	// Compression returns "zlib" or "zstd", or "" for uncompressed contents.
	Compression() string
	// Data returns the contents, which are cached until Release and must not be changed.
	Data() ([]byte, error)
	// Map is like Data, but maps large contents from the file. They must be
	// accessed under debug.SetPanicOnFault. Drop releases the memory of what was
	// accessed.
	Map() ([]byte, error)
	Drop()
	// Open returns the contents for reading piece by piece.
	Open() (Source, error)
	// Release drops what the other methods cache. Slices that Data returned stay valid.
	Release()
}

// Source provides pieces of a section's contents, uncompressed and relocated. It may be
// used concurrently, with a buf for each goroutine.
type Source interface {
	// Size returns the size of the contents in bytes.
	Size() int64
	// Bytes returns n bytes at off. They are in buf, in a new slice if buf is
	// too small, or in memory that the Source holds. The result must not be
	// changed. It may be passed as buf to the next call for this Source, but
	// not for another one. Errors are *bin.Error.
	Bytes(off, n int64, buf []byte) ([]byte, error)
}

// Viewer is implemented by Sources whose contents may be mapped from the file.
type Viewer interface {
	// View returns all contents, mapped as by Contents.Map, or nil if only Bytes can read them.
	View() []byte
}

// ViewOf returns the contents of s, mapped as by Contents.Map, or nil if they are not mapped.
func ViewOf(s Source) []byte {
	if v, ok := s.(Viewer); ok {
		return v.View()
	}
	return nil
}

// Gradual is implemented by Sources whose contents are inflated on demand. Damage causes an error
// only in reads that need the damaged bytes.
type Gradual interface {
	Ready() int64 // number of bytes inflated so far
}

// StrippedUnwind returns the first section for unwinding for which f has only the header, because the bytes are in
// the file that f describes. It returns nil if there is none.
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
