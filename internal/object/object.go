// Package object defines what a binary is, whatever its container: a CPU, sections with
// bytes at addresses, symbols, ids. The container's package (such as
// internal/object/elfobj) makes a File when it opens a file; readers of debug
// information, checks and walkers know nothing else of it.
//
// # A container
//
// Opening a file fills in the fields of File and its Sections. What is read later, or
// may be damaged, is accessed through the interface Container. A container embeds
// SectionsOnly and implements the methods for what its format has:
//
//   - Section translates names: callers ask for __DWARF,__debug_info as ".debug_info".
//   - Input reads the file, and Piece is the Contents of a section in it: mapped, inflated,
//     within Limits. Counts and offsets in the file are checked before memory is allocated
//     for what they describe.
//   - Symbols returns names as compilers mangle them.
//   - DebugChecker is for a container with separate debug files, and DebugLocator if these are
//     elsewhere than ELF's. A Fixer applies the relocations of an object file.
//   - BuildID need not be a build-id: a PE has the GUID and age of its PDB, Mach-O a UUID.
//     ModuleID returns it in the form used in MODULE records.
//   - If a path contains several binaries (a universal Mach-O file), each becomes a File,
//     all with the same path.
//
// If package arch lacks the CPU, Arch is nil and ModuleCPU its name in MODULE: symbol files
// then have functions and lines, but no STACK CFI.
//
// Addresses are those that the linker assigned and that DWARF uses. RVAs are relative to
// File.Base: the lowest page that is loaded, a PE's preferred image base, the address of
// a Mach-O header.
package object

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt/arch"
)

// Kind is the purpose of a file.
type Kind uint8

// The kinds of files.
const (
	Other       Kind = iota
	Executable       // loaded at fixed addresses
	Shared           // a library, or a program that can be loaded at any address
	Relocatable      // input for a linker, or a kernel module; symtool assigns addresses
	Core             // the memory of a process
)

// File is a binary, or a file that describes one. Its fields must not be changed. All
// methods except Close may be called concurrently.
type File struct {
	Path string // as given; may be empty
	Size int64  // of the file, in bytes

	Kind     Kind
	KindName string // the container's name for Kind: ET_DYN
	Title    string // Kind in words: "shared library or PIE", "DLL"; may be ""

	Format   string // the container: ELF, PE, Mach-O
	NameFrom string // where Name finds its result: DT_SONAME, PDB
	PDB      string // name of the PDB that describes the file and has its id, or ""
	Terms    Terms

	OS   string     // as in MODULE records: Linux, windows, mac, ios
	Arch *arch.Arch // nil for an unknown CPU
	CPU  string     // the container's name for the CPU: EM_X86_64

	ModuleCPU string // the CPU's name in MODULE, if it differs from Arch's: arm64e

	// ISABit is the bit in the address of a symbol, or in a pointer to code, that selects
	// an instruction set; 0 if there is none.
	ISABit uint64

	AddrSize  int              // bytes of an address, 4 or 8
	Order     binary.ByteOrder // of data
	CodeOrder binary.ByteOrder // of instructions

	Base  uint64 // the address to which RVAs are relative
	Entry uint64 // where execution starts; 0 if there is no such address

	// Sections are in the order of the file. There are none if the section headers are lost.
	Sections []*Section
	// Segments is what is loaded, if that is not the Sections themselves.
	Segments []*Section

	Container

	closer io.Closer // nil if Close has nothing else to close

	execOnce sync.Once
	exec     []Range
}

// Terms holds a container's names for what all containers have, and what users can do when they build a file to add
// what it lacks. The texts are for users: no code depends on them.
type Terms struct {
	Tables     [2]string // names of the symbol tables, by Table: .symtab, "exports"
	Unwind     []string  // the sections that describe how frames are unwound
	UnwindLead string    // what leads to such a section in a file that has none by that name

	ID         string // what identifies a build: "a build-id"
	Debug      string // how to create debug information
	Identify   string // how to create the ID
	UnwindMake string // how to create the Unwind sections,
	UnwindKeep string // and how to keep them
	UnwindElse string // where else unwind rules are, or ""

	UnwindAlone string // for a debug file that never has the Unwind sections: where they are, and what to do

	// ByBuildID reports whether separate debug files are found by their build-id, in folders, on servers and in
	// packages.
	ByBuildID bool
}

// GoTable is the section with Go's table of functions. The linker's flags -s and -w leave it in the file, as the
// runtime itself needs it: the names of functions, and how far the stack pointer is below the return address at each
// instruction. Read as .symtab and .debug_frame (Container.Embedded), it serves Go programs as MiniDebugInfo serves
// others.
const GoTable = ".gopclntab"

// Container reads parts of a file on demand. Errors are *bin.Error.
type Container interface {
	// Section returns the section with an ELF name (".debug_info", ".eh_frame"), or nil.
	// Containers with other section names translate. If several match, it returns the
	// first that has bytes.
	Section(name string) *Section
	// Located returns a section of a file that has lost its section headers, if
	// something that is loaded leads to it, or nil. If there is an error, the end of the
	// section may be a guess.
	Located(name string) (*Section, error)

	// Symbols calls fn with the symbols of a table, in order. The Symbol is reused; its
	// Name is valid until ReleaseSymbols. A missing table has no symbols. Symbols with
	// errors are left out; the first error is returned at the end.
	Symbols(t Table, fn func(*Symbol)) error
	// SymbolNames returns the bytes into which Symbol.NameOff is an offset.
	SymbolNames(t Table) ([]byte, error)
	HasSymbols(t Table) bool
	ReleaseSymbols()

	// BuildID returns the id that the file was given when it was built, or nil; ContentID
	// returns an id computed from its code. ModuleID converts either to the form used in
	// MODULE. CodeID returns the value of INFO CODE_ID, or "": the build-id, if it is not
	// nil, or the id under which symbol servers keep the file itself, with its name.
	BuildID() []byte
	ContentID() []byte
	ModuleID(id []byte) string
	CodeID(buildID []byte, name string) string

	// Name returns the name that a library gives itself, or "". NameLost reports whether
	// it has such a name that is missing from this file.
	Name() (string, error)
	NameLost() bool

	// Moved returns the number to add, modulo 2^64, to an address in debug, which
	// describes the file, to get the address of the same code in the file.
	Moved(debug *File) (uint64, error)
	// Supplement returns the link to the file that holds what several debug files
	// share, or nil. DebugLink returns the link to the debug file.
	Supplement() (*Link, error)
	// SupplementID returns the id by which other files link to this one as a supplementary file.
	SupplementID() []byte
	DebugLink() (name string, crc uint32, ok bool)
	// Embedded opens the file with additional symbols that is contained in this one.
	// It returns nil if there is none.
	Embedded() (*File, error)

	// Pointer returns the value that the loader stores at an address where the file has
	// a 0. It returns 0 if there is none, or if it depends on other files.
	Pointer(addr uint64) uint64
	// Pointers calls fn with each address at which the loader stores the address of something in the file, and with that.
	Pointers(fn func(addr, value uint64))
	// SectionsNamed returns the loaded sections called name that have bytes, if there may be several, as in
	// relocatable files. It returns nil if Section is sufficient.
	SectionsNamed(name string) []*Section
	// FunctionStarts returns where functions begin, and DataInCode where code contains data, if the container records
	// that separately from its symbols. Both lists are sorted. If there is damage, they return an error along with
	// what was read before it.
	FunctionStarts() ([]uint64, error)
	DataInCode() ([]Range, error)
	// AddrOf returns the address of the byte at an offset in the file. It reports false if the byte is not known to
	// be loaded.
	AddrOf(offset uint64) (addr uint64, ok bool)
	// CodeOffset returns the offset in the file at which the loader's first mapping with code begins.
	CodeOffset() (offset uint64, ok bool)
	// Imports calls fn with the address of each word in which the loader stores the address of a function, of this or
	// another file, and with the function's symbol. The name is valid until ReleaseSymbols. If there is damage, Imports
	// returns an error after calling fn for what was read before it.
	Imports(fn func(word uint64, s *Symbol)) error
	// DebugMap lists the objects from which the file was linked, in the linker's order, if its debug information may
	// still be in them. If there is damage, it returns an error, and objects or functions are missing.
	DebugMap() ([]MappedObject, error)

	// Problems returns problems with what could not be placed or relocated so far.
	Problems() []bin.Problem

	Close() error
}

// Link is a reference to a supplementary file.
type Link struct {
	Section string // the section that contains the link
	Name    string // a path, relative to the folder of the file
	ID      []byte // build-id of the supplementary file, or the checksum in its .debug_sup
}

// Range is [Start, End), in addresses of the file.
type Range struct{ Start, End uint64 }

// Ranges joins Ranges and finds the gaps between them.
var Ranges = span.Type[Range]{
	Ends: func(r Range) (start, end uint64) { return r.Start, r.End },
	Make: func(start, end uint64) Range { return Range{start, end} },
}

// ModuleID returns an id as Breakpad writes it for ELF: its first 16
// bytes as a GUID, whose first three fields are numbers in the file's byte
// order, and age 0. Short ids are padded with zeros (Breakpad,
// src/common/linux/file_id.cc).
func ModuleID(id []byte, order binary.ByteOrder) string {
	return fmt.Sprintf("%X0", bin.SwapGUID(id, order))
}

// Of returns the File in a symfmt.Binary, or nil if binary is nil.
func Of(binary any) (*File, error) {
	f, ok := binary.(*File)
	if binary != nil && !ok {
		return nil, fmt.Errorf("a %T is not a binary that package dwarf2sym opened", binary)
	}
	return f, nil
}

// ID returns the id in the MODULE record of a file without a separate debug file, or
// with one that has the same build-id. It returns "" if an id can neither be found
// nor computed.
func (f *File) ID() string {
	id := f.BuildID()
	if id == nil {
		id = f.ContentID()
	}
	if id == nil {
		return ""
	}
	return f.ModuleID(id)
}

// SectionsNamed returns the loaded sections called name that have bytes.
func (f *File) SectionsNamed(name string) []*Section {
	if all := f.Container.SectionsNamed(name); len(all) > 0 {
		return all
	}
	if s := f.Section(name); s != nil && s.HasData() {
		return []*Section{s}
	}
	return nil
}

// CloseWith makes Close close c as well.
func (f *File) CloseWith(c io.Closer) { f.closer = c }

// Close closes the file and removes all temporary files.
func (f *File) Close() error {
	err := f.Container.Close()
	if f.closer != nil {
		err = cmp.Or(err, f.closer.Close())
		f.closer = nil
	}
	return err
}

// HasSections reports whether the file has section headers.
func (f *File) HasSections() bool { return len(f.Sections) > 0 }

// Loaded returns the sections of the file or, if it has none, its segments.
func (f *File) Loaded() []*Section {
	if f.HasSections() {
		return f.Sections
	}
	return f.Segments
}

// HasDWARF reports whether there is a .debug_info with bytes.
func (f *File) HasDWARF() bool {
	s := f.Section(".debug_info")
	return s != nil && s.HasData()
}

// HasCode reports whether the file contains code. Files with debug information
// often have only the headers of sections with code.
func (f *File) HasCode() bool {
	return slices.ContainsFunc(f.Loaded(), func(s *Section) bool { return s.IsCode() && s.HasData() })
}

// ExecRanges returns the ranges where code can be: sections with code or, if there are
// none, the segments. Sections come first because a segment also covers headers and
// read-only data between them. The ranges are sorted and do not touch; they must not
// be changed.
func (f *File) ExecRanges() []Range {
	f.execOnce.Do(func() { f.exec = Ranges.Join(f.CodeRanges()) })
	return f.exec
}

// CodeRanges is like ExecRanges, but does not join sections or segments: what begins in
// one does not continue in the next. The ranges are sorted; they overlap where sections
// do.
func (f *File) CodeRanges() []Range {
	all := codeOf(f.Sections)
	if len(all) == 0 {
		all = codeOf(f.Segments)
	}
	all = slices.DeleteFunc(all, func(r Range) bool { return r.Start == r.End })
	slices.SortFunc(all, func(a, b Range) int { return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End)) })
	return all
}

func codeOf(sections []*Section) []Range {
	isCode := func(s *Section) bool { return s.IsCode() && !s.Unplaced }
	n := 0 // counted first, as a file may have 65,000
	for _, s := range sections {
		if isCode(s) {
			n++
		}
	}
	out := make([]Range, 0, n)
	for _, s := range sections {
		if isCode(s) {
			// A range ends at the end of the address space, at the latest.
			out = append(out, Range{s.Addr, s.Addr + min(s.MemSize, math.MaxUint64-s.Addr)})
		}
	}
	return out
}

// Executable reports whether there can be code at addr.
func (f *File) Executable(addr uint64) bool {
	_, found := slices.BinarySearchFunc(f.ExecRanges(), addr, func(r Range, a uint64) int {
		switch {
		case r.End <= a:
			return -1
		case r.Start > a:
			return 1
		}
		return 0
	})
	return found
}

// ErrOtherBuild is the kind of the error for a file whose build-id is not the one wanted.
var ErrOtherBuild = errors.New("another build")
