// Package peobj opens Windows binaries (PE32, PE32+) of unknown quality: every count,
// offset and size is checked against the file before anything is allocated for it, and
// a damaged part costs that part only.
//
// The layouts are the same as in debug/pe, which is not used to open files: it reads every
// COFF symbol and copies each name at once, and rejects a whole file for one bad name
// (TestDebugPE compares the two on files that debug/pe reads).
//
// Layouts: Microsoft's "PE Format"; long section names, .gnu_debuglink and COFF symbols
// in executables are binutils'.
//
// # Rules
//
//   - RVAs are relative to ImageBase. An address in the file is ImageBase plus the RVA.
//   - The size of a section is the smaller of its sizes in the file, which is padded to
//     FileAlignment, and in memory.
//   - The module's id is the GUID and age of the first CodeView entry of the debug
//     directory (RSDS, or NB10's signature), and its name that of the PDB named there.
//     MinGW leaves the name empty: then the file's name is used. Without an entry, the id
//     is computed from the code, as for ELF files.
//   - An ARM64EC image is for arm64, although it claims to be for x64.
//   - What follows the last section (an installer's payload, a signature) is not read.
package peobj

import (
	"debug/pe"
	"encoding/binary"
	"errors"
	"io"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Magic is the start of every PE file and of every DOS program.
const Magic = "MZ"

// ErrNotPE is the kind of the error for a file that is not PE. The message says what it is.
var ErrNotPE = errors.New("not a PE file")

// File is a PE file.
type File struct {
	object.SectionsOnly

	in *object.Input

	header      pe.FileHeader
	plus        bool   // PE32+
	imageBase   uint64 // preferred load address
	imageSize   uint32 // in memory
	align       uint32 // of sections in memory
	entry       uint32 // RVA; 0 for none
	dll         bool
	directories []pe.DataDirectory
	sections    []*section
	problems    []bin.Problem

	codeView *codeView // nil if there is none
	hybrid   *hybrid   // nil except for ARM64EC
	symbols  symbolTables
}

// NewFile reads the headers of the PE file in the first size bytes of r. path is used in
// messages, and as the name of a module whose PDB has no name. Closing the File does not
// close r. Errors are *bin.Error.
func NewFile(r io.ReaderAt, size int64, path string, lim object.Limits) (*File, error) {
	f := &File{in: object.NewInput(r, size, path, lim)}
	if err := f.readHeaders(); err != nil {
		return nil, err
	}
	f.codeView, f.hybrid = f.readCodeView(), f.readHybrid()
	return f, nil
}

// Layout of the headers before the section table. The optional header limits the number of
// directories.
const (
	newHeaderAt    = 0x3c // in the DOS header: the offset of "PE\0\0"
	signatureSize  = 4
	fileHeaderSize = 20
	sectionSize    = 40
	directorySize  = 8

	magicPE32     = 0x10b
	magicPE32Plus = 0x20b
)

func (f *File) readHeaders() error {
	dos, err := f.in.Read(0, newHeaderAt+4)
	if err != nil {
		return f.notPE("a DOS program")
	}
	at := int64(binary.LittleEndian.Uint32(dos[newHeaderAt:]))
	head, err := f.in.Read(at, signatureSize+fileHeaderSize)
	if err != nil || string(head[:signatureSize]) != "PE\x00\x00" {
		return f.notPE("a DOS program")
	}
	c := bin.New("", head[signatureSize:], binary.LittleEndian)
	h := &f.header
	h.Machine, h.NumberOfSections, h.TimeDateStamp = c.U16(), c.U16(), c.U32()
	h.PointerToSymbolTable, h.NumberOfSymbols = c.U32(), c.U32()
	h.SizeOfOptionalHeader, h.Characteristics = c.U16(), c.U16()
	f.dll = h.Characteristics&pe.IMAGE_FILE_DLL != 0
	at += int64(len(head))
	if err := f.readOptional(at); err != nil {
		return err
	}
	f.readSections(at + int64(h.SizeOfOptionalHeader))
	return nil
}

// readOptional reads the optional header, which images must have.
func (f *File) readOptional(at int64) error {
	data, err := f.in.Read(at, int64(f.header.SizeOfOptionalHeader))
	if err != nil {
		return err
	}
	c := bin.NewAt("", data, uint64(at), binary.LittleEndian)
	magic := c.U16()
	if f.plus = magic == magicPE32Plus; !f.plus && magic != magicPE32 {
		return f.in.Errorf(uint64(at), "optional header with the magic number %#x, want %#x or %#x", magic, magicPE32, magicPE32Plus)
	}
	c.Seek(16)
	f.entry = c.U32()
	if f.plus {
		c.Seek(24)
		f.imageBase = c.U64()
	} else {
		c.Seek(28)
		f.imageBase = uint64(c.U32())
	}
	c.Seek(32)
	f.align = c.U32()
	c.Seek(56)
	f.imageSize = c.U32()
	c.Seek(92)
	if f.plus {
		c.Seek(108)
	}
	n := c.U32()
	if err := c.Err(); err != nil {
		return f.inFile(err)
	}
	for range min(int(n), c.Len()/directorySize) {
		f.directories = append(f.directories, pe.DataDirectory{VirtualAddress: c.U32(), Size: c.U32()})
	}
	return nil
}

// readSections reads the section headers. It reports a problem if some are missing from the
// file.
func (f *File) readSections(at int64) {
	n := int64(f.header.NumberOfSections)
	have := min(n, max(f.in.Size-at, 0)/sectionSize)
	data, err := f.in.Read(at, have*sectionSize)
	if err != nil || have < n {
		if err == nil {
			err = f.in.Errorf(uint64(at), "%d section headers, want %d", have, n)
		}
		f.problems = append(f.problems, bin.Problem{Lost: "sections", Err: err})
	}
	for i := 0; len(data) >= sectionSize; i, data = i+1, data[sectionSize:] {
		s := f.newSection(i, data[:sectionSize])
		f.sections = append(f.sections, s)
		f.SectionsOnly.Sections = append(f.SectionsOnly.Sections, &s.Section)
	}
}

// directory returns an entry of the data directories, or the zero value if there is none.
func (f *File) directory(i int) pe.DataDirectory {
	if i >= len(f.directories) {
		return pe.DataDirectory{}
	}
	return f.directories[i]
}

// at returns n bytes at an RVA, or fewer if the section ends earlier.
func (f *File) at(rva, n uint32) ([]byte, error) {
	for _, s := range f.sections {
		if off := rva - s.rva; off < s.raw && s.HasData() {
			return f.in.Read(int64(s.offset)+int64(off), int64(min(n, s.raw-off)))
		}
	}
	return nil, f.in.Errorf(0, "RVA %#x is not in a section with bytes", rva)
}

func (f *File) notPE(what string) error {
	return &bin.Error{File: f.in.Path, Msg: ErrNotPE.Error(), Err: errors.New(what), Kind: ErrNotPE}
}

// inFile adds the file's path to an error of a cursor.
func (f *File) inFile(err error) error {
	if e, ok := err.(*bin.Error); ok {
		e.File = f.in.Path
	}
	return err
}
