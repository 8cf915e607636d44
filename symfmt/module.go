package symfmt

import (
	"bytes"
	"crypto"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/vars"
)

// RVA is an address relative to the module's load base, in bytes.
type RVA = arch.RVA

// FileID is the number of a FILE record, and OriginID of an INLINE_ORIGIN
// record, as in the text: any value, not an index.
type (
	FileID   uint32
	OriginID uint32
)

// Module is one binary and its symbols: the records of one Breakpad symbol
// file. Slices are in the order of the file that was read; the writer puts
// them into canonical order (order.go).
type Module struct {
	OS   string // "Linux", "mac", "windows", ...
	Arch string // "x86_64", ...; arch.ByName finds its registers
	ID   string // upper-case hexadecimal digits as written: GUID and age
	Name string // base name; may contain spaces

	Infos   []Info
	Files   []File
	Origins []InlineOrigin
	Funcs   []Func
	Publics []Public
	Wins    []StackWin
	CFI     CFITable

	Vars *vars.Info // parameters and local variables; nil if the file has none

	Digest bool // the text has a digest (INFO DIGEST, which is not in Infos); Write makes a new one

	Contents map[string]Contents // of source files, by the names of Files; nil unless the reader was asked for them
}

// SplitVars returns the module without its variables, and a module with only the variables, or
// nil if there are none. Both share their contents with m.
func (m *Module) SplitVars() (symbols, variables *Module) {
	if m.Vars == nil {
		return m, nil
	}
	apart := *m
	apart.Vars = nil
	return &apart, &Module{OS: m.OS, Arch: m.Arch, ID: m.ID, Name: m.Name, Vars: m.Vars, Digest: m.Digest}
}

// Info is an INFO record, known or unknown. Value is the rest of the line.
type Info struct{ Key, Value string }

// CodeID returns the id in an INFO CODE_ID record, without the file name that may
// follow; "" for any other record.
func (in *Info) CodeID() string {
	if in.Key != "CODE_ID" {
		return ""
	}
	id, _, _ := strings.Cut(in.Value, " ")
	return id
}

// CodeFile returns the name of the binary, which follows the id of INFO CODE_ID in symbol
// files of Windows programs; "" if there is none.
func (in *Info) CodeFile() string {
	if in.Key != "CODE_ID" {
		return ""
	}
	_, name, _ := strings.Cut(in.Value, " ")
	return strings.TrimSpace(name)
}

// File is a FILE record.
type File struct { // 24 bytes
	ID   FileID
	Name string
}

// InlineOrigin is an INLINE_ORIGIN record. HasFile is set for the old form,
// which has a file number, or -1 for none, between number and name.
type InlineOrigin struct { // 32 bytes
	ID      OriginID
	HasFile bool
	Name    string
	File    int64
}

// Func is a FUNC record with its INLINE and line records.
type Func struct { // 72 bytes
	RVA       RVA
	Size      uint64 // in bytes
	ParamSize uint64 // bytes of arguments on the stack
	Name      string // in source form
	Multiple  bool   // "m": several symbols share this code
	Body      Body   // INLINE and line records, packed (body.go)
}

// Public is a PUBLIC record.
type Public struct { // 40 bytes
	RVA       RVA
	ParamSize uint64
	Name      string
	Multiple  bool
}

// Range is a piece of code, [RVA, RVA+Size).
type Range struct { // 16 bytes
	RVA  RVA
	Size uint64
}

// Extents holds the ranges of a binary's code and of its PUBLICs. A symbol file
// records neither.
type Extents struct {
	// Base is the address that RVAs are relative to, as the linker assigned it.
	// It is 0 for position-independent code and relocatable files.
	Base uint64

	// Code holds the sections with code or, in a file without sections, the
	// segments, sorted by address.
	Code []Range

	// Publics holds the PUBLICs whose ELF symbols have a size, sorted by address.
	Publics []Range
}

// Inline is an INLINE record.
type Inline struct { // 48 bytes
	Depth    uint32 // nesting level; 0 is inlined into the FUNC itself
	CallLine uint32 // line of the call
	CallFile FileID // file of the call; 0 if NoFile
	Origin   OriginID
	NoFile   bool    // the call's file is unknown, as in the old form
	Ranges   []Range // never empty in a valid file
}

// Hull returns the smallest range that contains all ranges of an INLINE.
func (in *Inline) Hull() Range {
	var lo, hi RVA
	for i, r := range in.Ranges {
		if end := r.RVA + RVA(r.Size); i == 0 || end > hi {
			hi = end
		}
		if i == 0 || r.RVA < lo {
			lo = r.RVA
		}
	}
	return Range{lo, uint64(hi - lo)}
}

// Line is a line record: [RVA, RVA+Size) comes from line Num of File. Num 0
// means that the compiler gave no line for the code.
type Line struct { // 24 bytes
	RVA  RVA
	Size uint64
	Num  uint32
	File FileID
}

// Binary is an open binary or separate debug file: the source of a Module's symbols. Package
// dwarf2sym opens binaries; it, lint and symsframe take what they need from them. No type outside
// this module may implement the interface. All methods except Close may be called concurrently.
type Binary interface {
	// ID returns the id for the MODULE record, or "" if the file provides none.
	ID() string
	// BuildID returns the id that the linker gave the file, or nil.
	BuildID() []byte
	// HasCode reports whether the file holds code. A separate debug file does not.
	HasCode() bool
	// HasDWARF reports whether the file holds debug information.
	HasDWARF() bool
	// Close closes the file and removes its temporary files.
	Close() error
}

// MaxInlineDepth limits the depth of inlining where chains of inlined functions
// are followed. Each piece of code costs a walk through all depths, so without a
// limit a FUNC would take time quadratic in its INLINEs. Sentry's symbolic reads
// 512 levels from Breakpad's text; compilers stay below 100.
const MaxInlineDepth = 1024

// Equal reports whether m and o have the same records in the same order,
// regardless of how bodies are packed and rules numbered.
func (m *Module) Equal(o *Module) bool {
	return m.OS == o.OS && m.Arch == o.Arch && m.ID == o.ID && m.Name == o.Name &&
		slices.Equal(m.Infos, o.Infos) &&
		slices.Equal(m.Files, o.Files) &&
		slices.Equal(m.Origins, o.Origins) &&
		slices.EqualFunc(m.Funcs, o.Funcs, func(a, b Func) bool { return a.equal(&b) }) &&
		slices.Equal(m.Publics, o.Publics) &&
		slices.Equal(m.Wins, o.Wins) &&
		m.CFI.equal(&o.CFI) && m.Vars.Equal(o.Vars)
}

// equal reports whether f and o are the same record with the same INLINE and
// line records.
func (f *Func) equal(o *Func) bool {
	if f.RVA != o.RVA || f.Size != o.Size || f.ParamSize != o.ParamSize || f.Name != o.Name || f.Multiple != o.Multiple {
		return false
	}
	return bytes.Equal(f.Body.data, o.Body.data) || f.equalInlines(o) && f.equalLines(o)
}

func (f *Func) equalInlines(o *Func) bool {
	a, b := f.InlineReader(), o.InlineReader()
	for a.Next() {
		if !b.Next() || !a.Inline.equal(&b.Inline) {
			return false
		}
	}
	return !b.Next()
}

func (f *Func) equalLines(o *Func) bool {
	a, b := f.LineReader(), o.LineReader()
	for a.Next() {
		if !b.Next() || a.Line != b.Line {
			return false
		}
	}
	return !b.Next()
}

// equal reports whether in and o are the same record.
func (in *Inline) equal(o *Inline) bool {
	return in.Depth == o.Depth && in.CallLine == o.CallLine && in.NoFile == o.NoFile &&
		(in.NoFile || in.CallFile == o.CallFile) && in.Origin == o.Origin && slices.Equal(in.Ranges, o.Ranges)
}

func (t *CFITable) equal(o *CFITable) bool {
	return slices.EqualFunc(t.Blocks, o.Blocks, func(a, b CFIBlock) bool { return t.sameBlock(&a, o, &b) })
}

// SourceFrame is a function at an address, as the debug information of a binary describes it, with
// details that a symbol file cannot hold. What is unknown is "" or 0.
type SourceFrame struct {
	Linkage string // the mangled name, as the linker knows it
	Name    string // the name in the source, without enclosing scopes
	Inlined bool

	// The place of the address in the source: for the innermost function from the line table, for the others
	// where they call the next inner function.
	File                        SourceFile
	Line, Column, Discriminator uint32

	// Where the function is declared.
	StartFile SourceFile
	StartLine uint32

	// Start is where the function's code begins, if the code is contiguous.
	Start    RVA
	HasStart bool
}

// SourceFile is a file that debug information names.
type SourceFile struct {
	Path     string // in the compilation directory, if it is a relative path
	Relative string // without the compilation directory
	// InCompDir reports whether the line table places the file directly in the compilation directory; Relative may
	// then still contain a folder.
	InCompDir bool
	Contents  Contents
}

// Contents identifies the contents of a source file as it was compiled, according to debug information.
type Contents struct {
	Hash crypto.Hash // MD5, SHA1 or SHA256; 0 for none
	Sum  string      // in lower-case hexadecimal digits; "" for none
	Size uint64      // in bytes; 0 if it is unknown
}

// FullName returns the linker's name of the function or, if it is unknown, the name in the source.
func (f *SourceFrame) FullName() string {
	if f.Linkage != "" {
		return f.Linkage
	}
	return f.Name
}
