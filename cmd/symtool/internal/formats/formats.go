// Package formats defines the table of the formats that symtool reads and writes. All lists them;
// Open detects the format of a file.
package formats

import (
	"context"
	"encoding/binary"
	"io"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/filekind"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symlist"
	"github.com/symtool/symtool/walk/dumpfile"
)

// Format is one of convert's formats. A format with Read or Write holds symbols, which pass through
// a symfmt.Module. The others hold dumps.
type Format struct {
	filekind.Kind        // Match is nil for dumps, which package dumpfile recognizes
	Name          string // value of --from and --to
	Exts          []string

	// Read reads symbols and calls use with them; they are valid until use returns. It is nil if
	// symtool does not read the format.
	Read func(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error
	// Losses returns what Write would leave out. It is nil if Write leaves out nothing.
	Losses func(c *Job, m *symfmt.Module) []symfmt.Loss
	// Holds lists the records that the format exists for; nil for all.
	Holds []symfmt.Kind
	// Advice returns what can be done about losses, or "". It may be nil.
	Advice func(c *Job, m *symfmt.Module) string
	// Write writes symbols. It is nil if symtool does not write the format.
	Write func(ctx context.Context, c *Job, m *symfmt.Module, out io.Writer) error

	Binary bool // must be dumped, with its debug file if necessary
	Dump   bool // holds a crashed process: package walk reads and writes it
	dump   dumpfile.Format
	Text   bool // the output may go to a terminal
	Packed bool // may be compressed with gzip or zstd, as --gzip and --zstd do
	piped  bool // not Packed, but can still be read from a pipe or compressed
	named  bool // a file that Match does not recognise is refused even if --from names the format

	ReadFlags  []string // flags for input that only some formats have
	WriteFlags []string // flags for output that only some formats have
}

// EditFlags are the flags shared by all formats of symbols that can be written.
var EditFlags = []string{"no-inlines", "no-cfi", "only-cfi", "prefix-map", "rename-module", "map", "map-file", "map-var", "map-links", "map-manifest", "map-list"}

// All returns all of convert's formats, in the order in which they are matched against contents. It
// is a function because rows refer to functions that use the list.
func All() []Format {
	all := []Format{
		{
			Kind: filekind.Breakpad, Name: "breakpad", Exts: []string{".sym"}, Text: true, Packed: true,
			Read: readBreakpad, Losses: breakpadLosses, Write: writeBreakpad,
			WriteFlags: []string{"old-inline-origin", "digest", "crlf"},
		},
		{
			Kind: filekind.SFrame, Name: "sframe", Exts: []string{".sframe"},
			Read: readSFrame, Losses: sframeLosses, Holds: onlyRules, Write: writeSFrame,
			ReadFlags: []string{"address"}, WriteFlags: []string{"sframe-version", "address", "add"},
		},
		jsonFormat("json", filekind.JSON, false, "json-names", "json-indent"),
		jsonFormat("jsonl", filekind.JSONLines, true, "json-names"),
		gsymFormat(),
		symcacheFormat(),
		elfFormat(),
		dumpedFormat("macho", filekind.MachO, []string{".dylib"}, readBinary, "cfi", "debug-dir", "arch"),
		dumpedFormat("pe", filekind.PE, []string{".exe", ".dll", ".sys"}, readBinary, "cfi", "debug-dir"),
		dumpedFormat("pdb", filekind.PDB, []string{".pdb"}, readWhole),
		listFormat("perfmap", filekind.PerfMap, ".map", symlist.PerfMap),
		listFormat("nm", filekind.NM, ".nm", symlist.NM),
	}
	for _, f := range dumpfile.Formats() {
		row := Format{Kind: filekind.Kind{Title: f.Title}, Name: f.Name, Exts: f.Exts, Dump: true, dump: f}
		if f.Name == dumpfile.Core {
			row.ReadFlags = []string{"binaries"}
		}
		all = append(all, row)
	}
	return all
}

// Reads reports whether convert reads the format.
func (f *Format) Reads() bool { return f.Read != nil || f.Dump }

// Writes reports whether convert writes the format.
func (f *Format) Writes() bool { return f.Write != nil || f.Dump && f.dump.Writable() }

// onlyRules lists the records that SFrame holds.
var onlyRules = []symfmt.Kind{symfmt.KindCFIInit}

// OnlyRules reports whether the format holds no symbols besides STACK CFI.
func (f *Format) OnlyRules() bool { return slices.Equal(f.Holds, onlyRules) }

// Names returns the names of the formats for which is returns true.
func Names(is func(*Format) bool) (names []string) {
	for _, f := range All() {
		if is(&f) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Named returns the format with the given name, or nil.
func Named(name string) *Format {
	all := All()
	if i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// OfContent returns the format of a file that begins with head, or nil.
func OfContent(head []byte) *Format {
	all := All()
	if i := slices.IndexFunc(all, func(f Format) bool { return f.Match != nil && f.Match(head) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// OfName returns the format that a file name's extension stands for, and the file's compression or
// "".
func OfName(path string) (f *Format, compression string) {
	for _, c := range store.Compressions {
		if rest, ok := strings.CutSuffix(path, c.Ext); ok {
			path, compression = rest, c.Name
		}
	}
	all := All()
	i := slices.IndexFunc(all, func(f Format) bool {
		return slices.ContainsFunc(f.Exts, func(ext string) bool { return strings.HasSuffix(path, ext) }) && (compression == "" || f.Packed)
	})
	if i < 0 {
		return nil, ""
	}
	return &all[i], compression
}

// Symbols is a module with the problems found in it.
type Symbols struct {
	Module   *symfmt.Module
	Problems []bin.Problem
	Dropped  int    // number of problems not in Problems
	Passed   func() // for symfmt.WriteOptions; may be nil
	Image    Image
}

// Image describes the binary of some symbols, as far as the Module does not.
type Image struct {
	Base    uint64           // link-time address of RVA 0
	Order   binary.ByteOrder // nil if unknown; Base is then unknown, too
	Section uint64           // address of .sframe, or 0
}
