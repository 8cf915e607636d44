package object

// Section is a piece of a file with a name and a place in memory.
type Section struct {
	Name string // "" when the file has no name for it
	Addr uint64 // in relocatable files what the container's package says

	// FileSize is its bytes in the file, compressed or not; of one without bytes those
	// in memory. MemSize is its bytes in memory.
	FileSize, MemSize uint64

	Alloc    bool // it is in memory when the file is loaded
	Exec     bool // it holds instructions
	Unplaced bool // there is no place for it among addresses

	Contents
}

// IsCode reports whether the section is code in memory, here or in the file that this
// one describes.
func (s *Section) IsCode() bool { return s.Alloc && s.Exec }

// Holds reports whether addr is in the bytes that the section has in the file.
func (s *Section) Holds(addr uint64) bool { return addr-s.Addr < s.FileSize }

// Contents gives the bytes of a section, uncompressed and relocated. It may be used
// concurrently. Errors are *bin.Error.
type Contents interface {
	// HasData reports whether the file claims to hold bytes. Debug files have none in
	// place of code.
	HasData() bool
	// Stripped reports that the section has its bytes in the file that this one
	// describes.
	Stripped() bool
	// Size returns the number of bytes that Data returns; 0 without data.
	Size() int64
	// Compression returns "zlib" or "zstd", "" for contents that are stored.
	Compression() string
	// Data returns the contents, which are kept until Release and must not be changed.
	Data() ([]byte, error)
	// Map returns them mapped from the file, if they are many. Access must be under
	// debug.SetPanicOnFault. Drop gives back the memory of what was examined.
	Map() ([]byte, error)
	Drop()
	// Open returns the contents for reading piece by piece.
	Open() (Source, error)
	// Release drops what the others keep. Slices from Data stay valid.
	Release()
}

// Source gives pieces of a section's contents, uncompressed and relocated. It may be used
// concurrently, with a buf for each goroutine.
type Source interface {
	// Size is the number of bytes of the contents.
	Size() int64
	// Bytes returns n bytes at off. They are in buf, which is replaced when it
	// is too small, or in memory that the Source holds. The result may be the
	// buf of the next call to this Source, but of no other, and must not be
	// changed. Errors are *bin.Error.
	Bytes(off, n int64, buf []byte) ([]byte, error)
}

// Gradual is implemented by Sources whose contents are inflated as far as they are asked for. The
// error of what is damaged is that of the piece that needs it; that of no bytes at the end needs all.
type Gradual interface {
	Ready() int64 // bytes that are inflated
}
