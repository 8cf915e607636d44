// Package object defines what a binary is to symtool, whatever its container: a CPU,
// sections with bytes at addresses, symbols, ids. A File is made by the container's
// package (internal/object/elfobj) when it opens a file, and is all that readers of debug
// information, checks and walkers know of it.
//
// # A container
//
// Opening a file fills in the facts of File and its Sections; what is read later, or
// may be damaged, is after Container. A container that has no such thing embeds Bare
// and writes the methods that differ:
//
//   - Section translates names: __DWARF,__debug_info is asked for as ".debug_info".
//   - Input reads the file, and Piece is the Contents of a section in it: mapped, inflated,
//     within Limits. Counts and offsets of the file are checked before memory is allocated
//     for them.
//   - BuildID need not be a build-id: a PE has the GUID and age of its PDB, Mach-O a UUID.
//     ModuleID writes it as MODULE has it.
//   - A path with several binaries in it (a universal Mach-O file) gives a File each, with
//     the path of all.
//
// Addresses are those that the linker gave. RVAs count from File.Base: the lowest page
// that is loaded, a PE's preferred image base, the address of a Mach-O header.
package object

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
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
	Relocatable      // input of a linker, or a module of the kernel: addresses are ours
	Core             // the memory of a process
)

// File is a binary, or a file that describes one. Its fields must not be changed. All
// methods but Close may be called concurrently.
type File struct {
	Path string // as given; may be empty
	Size int64  // of the file, in bytes

	Kind     Kind
	KindName string // as the container calls it: ET_DYN

	Format   string // the container: ELF, PE
	NameFrom string // what has the name that Name returns: DT_SONAME, PDB

	OS   string     // as MODULE has it: Linux, windows
	Arch *arch.Arch // nil: one that symtool does not know
	CPU  string     // as the container calls it: EM_X86_64

	// ISABit is the bit that selects an instruction set in the address of a symbol, or of
	// a pointer to code; 0 if there is none.
	ISABit uint64

	AddrSize  int              // bytes of an address, 4 or 8
	Order     binary.ByteOrder // of data
	CodeOrder binary.ByteOrder // of instructions

	Base  uint64 // the address that RVAs count from
	Entry uint64 // where execution starts; 0 for none

	// Sections are those of the file, in its order; none if it has lost their headers.
	Sections []*Section
	// Segments are what is loaded, where that is not the Sections themselves.
	Segments []*Section

	Container

	execOnce sync.Once
	exec     []Range
}

// Container is what a container's package reads when it is asked. Errors are
// *bin.Error.
type Container interface {
	// Section returns the section with an ELF name (".debug_info", ".eh_frame"), or nil.
	// Containers with other names for what DWARF calls so translate them. Of several
	// it is the first that has bytes.
	Section(name string) *Section
	// SectionsNamed returns all sections of a name that are loaded and have bytes, which
	// may be several in a relocatable file; in any other it returns that of Section.
	SectionsNamed(name string) []*Section
	// Located returns the section of a name in a file that has lost its section headers,
	// where what is loaded leads to it; nil if nothing does. With an error the end of
	// the section may be a guess.
	Located(name string) (*Section, error)

	// Symbols calls fn for the symbols of a table, in its order. The Symbol is reused;
	// its Name stays valid until ReleaseSymbols. A table that is missing has none. The
	// error is about the first that was left out.
	Symbols(t Table, fn func(*Symbol)) error
	// SymbolNames returns the bytes that Symbol.NameOff counts in.
	SymbolNames(t Table) ([]byte, error)
	HasSymbols(t Table) bool
	ReleaseSymbols()

	// BuildID returns the id that the file was given when it was built, nil without one;
	// ContentID one made of its code. ModuleID writes either as MODULE has it. CodeID
	// writes what INFO CODE_ID has, "" for nothing: the build-id, if it is not nil, or the
	// id by which symbol servers have the file itself.
	BuildID() []byte
	ContentID() []byte
	ModuleID(id []byte) string
	CodeID(buildID []byte) string

	// Name returns the name that a library has for itself, "" without one. NameLost
	// reports that it has one, which is not in this file.
	Name() (string, error)
	NameLost() bool

	// Moved returns what to add, modulo 2^64, to an address of debug, which describes
	// the file, to get that of the same code in the file.
	Moved(debug *File) (uint64, error)
	// Supplement returns the link to the file that holds what several debug files
	// share, nil without one; DebugLink that to the debug file.
	Supplement() (*Link, error)
	DebugLink() (name string, crc uint32, ok bool)
	// Embedded opens the file with further symbols that the file contains, or nil.
	Embedded() (*File, error)

	// Pointer returns the value that the loader puts at an address where the file has
	// a 0, as far as it does not depend on other files; 0 for none.
	Pointer(addr uint64) uint64
	// Problems returns what could not be placed or relocated so far.
	Problems() []bin.Problem

	Close() error
}

// Link names a supplementary file.
type Link struct {
	Section string // with the link
	Name    string // path, relative to the folder of the file
	ID      []byte // build-id of the supplementary file, or the checksum in its .debug_sup
}

// Range is [Start, End), in addresses of the file.
type Range struct{ Start, End uint64 }

// Ranges joins Ranges.
var Ranges = span.Type[Range]{
	Ends: func(r Range) (start, end uint64) { return r.Start, r.End },
	Make: func(start, end uint64) Range { return Range{start, end} },
}

// ModuleID writes an id as Breakpad does for ELF: its first 16
// bytes as a GUID, whose first three fields are numbers in the file's byte
// order, and age 0. Short ids are filled up with zeros (Breakpad,
// src/common/linux/file_id.cc).
func ModuleID(id []byte, order binary.ByteOrder) string {
	return fmt.Sprintf("%X0", bin.SwapGUID(id, order))
}

// Of returns the File that a symfmt.Binary is; nil for nil.
func Of(binary any) (*File, error) {
	f, ok := binary.(*File)
	if binary != nil && !ok {
		return nil, fmt.Errorf("a %T is not a binary that package dwarf2sym opened", binary)
	}
	return f, nil
}

// ID returns the id of the MODULE record of a file without a separate debug file, or
// with one of the same build-id; "" if nothing in it makes one.
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

// HasSections reports whether the file has section headers.
func (f *File) HasSections() bool { return len(f.Sections) > 0 }

// Loaded returns the sections of the file, or what is loaded in place of them.
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

// ExecRanges returns where code can be: sections with code, and without such sections
// the segments. Sections come first because a segment also covers headers and read-only
// data between them. The ranges are sorted and do not touch; they must not be changed.
func (f *File) ExecRanges() []Range {
	f.execOnce.Do(func() { f.exec = Ranges.Join(f.CodeRanges()) })
	return f.exec
}

// CodeRanges is like ExecRanges, with each section, or segment, on its own: what begins
// in one does not go on in the next. The ranges are sorted; where sections overlap, so
// do they.
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
	n := 0 // a file has one, or 65,000
	for _, s := range sections {
		if isCode(s) {
			n++
		}
	}
	out := make([]Range, 0, n)
	for _, s := range sections {
		if isCode(s) {
			// Truncated at the end of the address space.
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

// ErrOtherBuild is the kind of the error of a file that has another build-id than the
// one wanted.
var ErrOtherBuild = errors.New("another build")

// Tried is a place where no debug file was found.
type Tried struct {
	Path, Why  string
	OtherBuild bool // there is one, of another build
}

func (t Tried) String() string { return t.Path + ": " + t.Why }

// Lines returns what String makes of each place.
func Lines(tried []Tried) []string {
	var lines []string
	for _, t := range tried {
		lines = append(lines, t.String())
	}
	return lines
}
