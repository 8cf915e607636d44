// Package elfobj opens ELF files of unknown quality: every count, offset and
// size is checked against the file before anything is allocated for it, and a
// section that is damaged costs that section only. It is not named elf, as its
// files and their callers import debug/elf beside it.
//
// debug/elf reads the sections and the segments if it can. It is not hardened: it
// rejects a whole file for one bad section name, offset or compression header,
// inflates a compressed section name table without a limit and copies each name.
// This package decodes the tables of files that debug/elf rejects, or for which it
// might need too much memory. It reads contents, symbols and notes from the bytes.
// The layouts follow the System V gABI, chapters 4 (object files) and 5
// (program loading).
//
// # Where we differ
//
//   - from debug/elf: a section that lies outside the file or has a bad name
//     gives an entry in File.Damaged, and reading its bytes gives an error
//     (TestDamageCostsTheSection). A version other than EV_CURRENT, a name
//     table of another type, extended numbers that were not needed, and more
//     than 65,535 segments are read (TestWhatDebugELFRefuses,
//     TestManySegments);
//   - from Breakpad: a build-id note counts only when its owner is "GNU"; a
//     Linux vmlinux begins with a Xen note of the same type number
//     (TestBuildID).
package elfobj

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// File is an ELF file. Its fields must not be changed. All methods except Close may
// be called concurrently.
type File struct {
	object.SectionsOnly // provides what ELF leaves to other containers

	Path string // as given by the caller; may be empty
	Size int64  // of the file, in bytes

	Class   elf.Class
	Order   binary.ByteOrder
	OSABI   elf.OSABI
	Type    elf.Type
	Machine elf.Machine
	Flags   uint32 // e_flags; processor-specific
	Entry   uint64 // e_entry

	// TableEnd is the offset of the end of the section headers, where most files
	// end; 0 if the ELF header does not give it. The file may be shorter.
	TableEnd uint64

	Sections []*Section // by index; [0] is the null section. Empty without section headers
	Segments []Segment  // program headers

	// Damaged lists section headers that are damaged, in order of the table.
	Damaged []bin.Problem

	in     *object.Input
	closer io.Closer
	byName map[string]int32

	// For relocatable files:
	joined     map[string]*Section // sections that were joined, by name
	unplaced   []bin.Problem       // sections that have no address
	valuesOnce sync.Once
	values     []uint64 // addresses of symbols, by number
	valuesErr  error
}

// Segment is a program header; sizes are in bytes. An Offset or FileSize beyond
// MaxInt64, and so beyond any file, is stored as MaxInt64.
type Segment struct {
	Type     elf.ProgType
	Flags    elf.ProgFlag
	Offset   uint64 // p_offset, from the start of the file
	Addr     uint64 // p_vaddr
	FileSize uint64
	MemSize  uint64
	Align    uint64
	PhysAddr uint64 // p_paddr
}

// Open opens the ELF file at path. Errors are *bin.Error; for a file that is not
// ELF the message says what it is.
func Open(path string, lim object.Limits) (*File, error) {
	file, size, err := OpenFile(path, lim)
	if err != nil {
		return nil, err
	}
	f, err := NewFile(file, size, path, lim)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.CloseWith(file)
	return f, nil
}

// OpenFile opens a regular file, whatever its contents, and returns its size.
func OpenFile(path string, lim object.Limits) (*os.File, int64, error) {
	// A named pipe would block in open(2), so look first.
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, &bin.Error{File: path, Err: bin.WithoutPath(err)}
	}
	if what := irregular(st.Mode()); what != "" {
		return nil, 0, notBinaryError(path, what)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, &bin.Error{File: path, Err: bin.WithoutPath(err)}
	}
	if lim.Opened != nil {
		lim.Opened(path)
	}
	if st, err = file.Stat(); err != nil {
		file.Close()
		return nil, 0, &bin.Error{File: path, Err: bin.WithoutPath(err)}
	}
	return file, st.Size(), nil
}

// ErrNotBinary is the kind of the error for a file that is not ELF. As files of other containers are recognised
// first, such a file is not a binary. The error's cause says what it is.
var ErrNotBinary = errors.New("not a binary")

func notBinaryError(path, what string) error {
	return &bin.Error{File: path, Msg: ErrNotBinary.Error(), Err: errors.New(what), Kind: ErrNotBinary}
}

func irregular(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode.IsRegular():
		return ""
	}
	return "not a regular file"
}

// NewFile reads the headers of the ELF file in the first size bytes of r. path
// is used in messages and for finding debug files. Errors are *bin.Error.
// Closing the File does not close r.
func NewFile(r io.ReaderAt, size int64, path string, lim object.Limits) (*File, error) {
	f := &File{Path: path, Size: size, in: object.NewInput(r, size, path, lim)}
	if err := f.in.Guard("", f.readHeaders); err != nil {
		return nil, err
	}
	return f, nil
}

// CloseWith makes Close close c as well.
func (f *File) CloseWith(c io.Closer) { f.closer = c }

// Close closes the file and removes all temporary files.
func (f *File) Close() error {
	for _, s := range f.Sections {
		s.Release()
	}
	if f.closer == nil {
		return nil
	}
	err := f.closer.Close()
	f.closer = nil
	return err
}

// Section implements object.Container.
func (f *File) Section(name string) *object.Section { return plain(f.Header(name)) }

// Header returns the header of the section called name, or nil. ".debug_x" also finds
// ".zdebug_x". If several match, it returns the first that has bytes, or else the
// first.
func (f *File) Header(name string) *Section {
	plain := f.named(name)
	if plain != nil && plain.HasData() {
		return plain
	}
	const debug = ".debug_"
	if len(name) > len(debug) && name[:len(debug)] == debug {
		if z := f.named(".z" + name[1:]); z != nil && (plain == nil || z.HasData()) {
			return z
		}
	}
	return plain
}

func (f *File) named(name string) *Section {
	if s := f.joined[name]; s != nil {
		return s
	}
	if i, ok := f.byName[name]; ok {
		return f.Sections[i]
	}
	return nil
}

// sectionOfType returns the first section of a type, preferably with bytes.
func (f *File) sectionOfType(t elf.SectionType) *Section {
	var first *Section
	for _, s := range f.Sections {
		if s.Type != t {
			continue
		}
		if s.HasData() {
			return s
		}
		if first == nil {
			first = s
		}
	}
	return first
}

// errorf returns an error about the file; offset is from its start.
func (f *File) errorf(offset uint64, format string, args ...any) *bin.Error {
	return f.in.Errorf(offset, format, args...)
}
