// Package object defines what a binary is, whatever its container: a CPU, sections with
// bytes at addresses, symbols, ids. The container's package (such as
// internal/object/elfobj) makes a File when it opens a file; readers of debug
// information, checks and walkers know nothing else of it.
//
// # A container
//
// Opening a file fills in the fields of File and its Sections. What is read later, or
// may be damaged, is behind the interface Container. A container embeds Bare and
// implements the methods for what it has:
//
//   - Section translates names: callers ask for __DWARF,__debug_info as ".debug_info".
//   - Input reads the file, and Piece is the Contents of a section in it: mapped, inflated,
//     within Limits. Counts and offsets in the file are checked before memory is allocated
//     for what they describe.
//   - BuildID need not be a build-id: a PE has the GUID and age of its PDB, Mach-O a UUID.
//     ModuleID returns the form that the MODULE record has.
//   - A path with several binaries in it (a universal Mach-O file) gives a File each, with
//     the path of all.
//
// Addresses are those that the linker assigned. RVAs count from File.Base: the lowest
// page that is loaded, a PE's preferred image base, the address of a Mach-O header.
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

// Kind is what a file is for.
type Kind uint8

// The kinds.
const (
	Other       Kind = iota
	Executable       // at fixed addresses
	Shared           // a library, or a program that can be loaded anywhere
	Relocatable      // input of a linker, or a kernel module: symtool assigns addresses
	Core             // the memory of a process
)

// File is a binary, or a file that describes one. Its fields must not be changed. All
// methods but Close may be called concurrently.
type File struct {
	Path string // as given; may be empty
	Size int64  // of the file, in bytes

	Kind     Kind
	KindName string // the container's name of it: ET_DYN
	Title    string // the same in words: "shared library or PIE", "DLL"; "" if there are none

	Format   string // the container: ELF, PE, Mach-O
	NameFrom string // where Name gets its result: DT_SONAME, PDB
	PDB      string // name of the PDB with the file's id that describes it; "" if it names none
	Terms    Terms

	OS   string     // as in MODULE: Linux, windows, mac, ios
	Arch *arch.Arch // nil if symtool does not know the CPU
	CPU  string     // the container's name of it: EM_X86_64

	ModuleCPU string // the name in MODULE, if it is not that of Arch: arm64e

	// ISABit is the bit that selects an instruction set in the address of a symbol, or of
	// a pointer to code; 0 if there is none.
	ISABit uint64

	AddrSize  int              // bytes of an address, 4 or 8
	Order     binary.ByteOrder // of data
	CodeOrder binary.ByteOrder // of instructions

	Base  uint64 // the address that RVAs count from
	Entry uint64 // where execution starts; 0 if nowhere

	// Sections are in the order of the file; there are none if it has lost their headers.
	Sections []*Section
	// Segments are what is loaded, if that is not the Sections themselves.
	Segments []*Section

	Container

	closer io.Closer // nil if Close has nothing else to close

	execOnce sync.Once
	exec     []Range
}

// Terms are the names that a container has for what all have, and what those who build a file do to give it what it
// lacks. They are for people: no code depends on them.
type Terms struct {
	Tables     [2]string // of symbols, by Table: .symtab, "exports"
	Unwind     []string  // the sections that describe how frames are unwound
	UnwindLead string    // what leads to such a section in a file that has none of that name

	ID         string // of a build: "a build-id"
	Debug      string // makes debug information
	Identify   string // makes the ID
	UnwindMake string // makes the Unwind sections,
	UnwindKeep string // and keeps them
	UnwindElse string // where else there are rules, "" if nowhere

	UnwindAlone string // of a debug file that never has the Unwind sections: where they are, and what to do

	// ByBuildID reports whether separate debug files are kept under the build-id, in folders, on servers and in
	// packages.
	ByBuildID bool
}

// Container reads parts of a file on request. Errors are *bin.Error.
type Container interface {
	// Section returns the section with an ELF name (".debug_info", ".eh_frame"), or nil.
	// Containers that name these sections otherwise translate. Of several sections it
	// returns the first that has bytes.
	Section(name string) *Section
	// Located returns the section of a name in a file that has lost its section headers,
	// if something that is loaded leads to it, or nil. If there is an error, the end of
	// the section may be a guess.
	Located(name string) (*Section, error)

	// Symbols calls fn with the symbols of a table, in its order. The Symbol is reused;
	// its Name is valid until ReleaseSymbols. A missing table has no symbols. The error
	// is that of the first symbol that was left out.
	Symbols(t Table, fn func(*Symbol)) error
	// SymbolNames returns the bytes that Symbol.NameOff is an offset in.
	SymbolNames(t Table) ([]byte, error)
	HasSymbols(t Table) bool
	ReleaseSymbols()

	// BuildID returns the id that the file was given when it was built, or nil;
	// ContentID one that is computed from its code. ModuleID returns the form that MODULE
	// has of either. CodeID returns the value of INFO CODE_ID, or "": the build-id, if it
	// is not nil, or the id under which symbol servers keep the file itself, with its name.
	BuildID() []byte
	ContentID() []byte
	ModuleID(id []byte) string
	CodeID(buildID []byte, name string) string

	// Name returns the name that a library gives itself, or "". NameLost reports whether
	// it has such a name that is not in this file.
	Name() (string, error)
	NameLost() bool

	// Moved returns what to add, modulo 2^64, to an address in debug, which describes
	// the file, to get the address of the same code in the file.
	Moved(debug *File) (uint64, error)
	// Supplement returns the link to the file that holds what several debug files
	// share, or nil; DebugLink returns the link to the debug file.
	Supplement() (*Link, error)
	// SupplementID returns the id by which others link to the file as such a file.
	SupplementID() []byte
	DebugLink() (name string, crc uint32, ok bool)
	// Embedded opens the file with further symbols that is contained in this one, or
	// returns nil.
	Embedded() (*File, error)

	// Pointer returns the value that the loader stores at an address where the file has
	// a 0, or 0 if there is none or it depends on other files.
	Pointer(addr uint64) uint64
	// SectionsNamed returns the sections of a name that are loaded and have bytes, if there may be several, as in
	// relocatable files; nil if Section says it all.
	SectionsNamed(name string) []*Section
	// FunctionStarts returns where functions begin, and DataInCode where code has data, if the container says so apart
	// from its symbols. Both lists are sorted. The error is that of damage; what was read before it is returned.
	FunctionStarts() ([]uint64, error)
	DataInCode() ([]Range, error)
	// AddrOf returns the address of the byte at an offset in the file, if it is known to be loaded.
	AddrOf(offset uint64) (addr uint64, ok bool)
	// CodeOffset returns where in the file the loader's first mapping with code begins.
	CodeOffset() (offset uint64, ok bool)
	// Imports calls fn with the address of each word in which the loader stores the address of a function of another
	// file, and with the function's symbol. The name is valid until ReleaseSymbols. The error is that of damage; what
	// was read before it counts.
	Imports(fn func(word uint64, name []byte)) error
	// DebugMap lists the objects that the file was linked from, in the order of the linker, if its debug information
	// may have stayed in them. The error is that of damage, for which objects or functions are missing.
	DebugMap() ([]MappedObject, error)

	// Problems returns what could not yet be placed or relocated.
	Problems() []bin.Problem

	Close() error
}

// Link names a supplementary file.
type Link struct {
	Section string // that has the link
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

// Of returns the File that is in a symfmt.Binary; nil for nil.
func Of(binary any) (*File, error) {
	f, ok := binary.(*File)
	if binary != nil && !ok {
		return nil, fmt.Errorf("a %T is not a binary that package dwarf2sym opened", binary)
	}
	return f, nil
}

// ID returns the id in the MODULE record of a file without a separate debug file, or
// with one of the same build-id; "" if the file has nothing to make one of.
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

// SectionsNamed returns the sections of a name that are loaded and have bytes.
func (f *File) SectionsNamed(name string) []*Section {
	if all := f.Container.SectionsNamed(name); len(all) > 0 {
		return all
	}
	if s := f.Section(name); s != nil && s.HasData() {
		return []*Section{s}
	}
	return nil
}

// CloseWith makes Close close c, too.
func (f *File) CloseWith(c io.Closer) { f.closer = c }

// Close closes the file and all temporary files.
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

// Loaded returns the sections of the file or, if it has none, what is loaded.
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

// HasCode reports whether the file holds code. Files with debug information often
// only have the headers of sections with code.
func (f *File) HasCode() bool {
	return slices.ContainsFunc(f.Loaded(), func(s *Section) bool { return s.IsCode() && s.HasData() })
}

// ExecRanges returns where code can be: sections with code or, if there are none, the
// segments. Sections come first because a segment also covers headers and read-only
// data between them. The ranges are sorted and do not touch; they must not be changed.
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
	n := 0 // counted first: a file may have 65,000
	for _, s := range sections {
		if isCode(s) {
			n++
		}
	}
	out := make([]Range, 0, n)
	for _, s := range sections {
		if isCode(s) {
			// The range ends with the address space.
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
