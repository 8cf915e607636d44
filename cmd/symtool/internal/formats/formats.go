// Package formats defines the table of the formats that symtool reads and writes. All lists them;
// Open detects that of a file.
package formats

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
	"github.com/symtool/symtool/symfmt/symjson"
	"github.com/symtool/symtool/symfmt/symlist"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// Format is one of convert's formats. One with Read or Write holds symbols, which pass
// through a symfmt.Module. The others hold dumps.
type Format struct {
	Name  string                 // value of --from and --to
	Title string                 // for messages: "a symbol file"
	Exts  []string               // of file names
	match func(head []byte) bool // by the first headSize bytes; nil if these do not identify it

	// Read reads symbols, which are valid until use returns; nil if symtool does not read the
	// format.
	Read func(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error
	// Losses returns what Write would leave out; nil if nothing.
	Losses func(c *Job, m *symfmt.Module) []symfmt.Loss
	// Holds lists the records that the format exists for; nil means all.
	Holds []symfmt.Kind
	// Advice returns what may be done about losses, or ""; may be nil.
	Advice func(c *Job, m *symfmt.Module) string
	// Write writes symbols; nil if symtool does not write the format.
	Write func(ctx context.Context, c *Job, m *symfmt.Module, out io.Writer) error

	Binary bool // is dumped, if need be with its debug file
	Dump   bool // holds a crashed process: package walk reads and writes it
	dump   dumpfile.Format
	Text   bool // the output may go to a terminal
	Packed bool // may be compressed with gzip or zstd, which --gzip and --zstd do
	piped  bool // not packed, but can be read from a pipe or compressed all the same
	named  bool // a file that match does not recognise is refused even if --from names the format

	ReadFlags  []string // flags that only some formats have for input,
	WriteFlags []string // and for output
}

// headSize is the length of a file's start that identifies its format.
const headSize = 64

// EditFlags are the flags shared by all formats of symbols that can be written.
var EditFlags = []string{"no-inlines", "no-cfi", "only-cfi", "prefix-map", "rename-module", "map", "map-file", "map-var", "map-links", "map-manifest", "map-list"}

// All returns all of convert's formats in the order in which contents are
// matched. It is a function because rows refer to functions that use the list.
func All() []Format {
	all := []Format{
		{
			Name: "breakpad", Title: "a symbol file", Exts: []string{".sym"}, match: symfmt.Match, Text: true, Packed: true,
			Read: readBreakpad, Losses: breakpadLosses, Write: writeBreakpad,
			WriteFlags: []string{"old-inline-origin", "crlf"},
		},
		{
			Name: "sframe", Title: "an SFrame section", Exts: []string{".sframe"},
			match: func(head []byte) bool { return sframe.Magic(head) != nil },
			Read:  readSFrame, Losses: sframeLosses, Holds: onlyRules, Write: writeSFrame,
			ReadFlags: []string{"address"}, WriteFlags: []string{"sframe-version", "address", "add"},
		},
		jsonFormat("json", "a JSON document", false, symjson.MatchDocument, "json-names", "json-indent"),
		jsonFormat("jsonl", "JSON Lines", true, symjson.MatchLines, "json-names"),
		gsymFormat(),
		symcacheFormat(),
		elfFormat(),
		dumpedFormat("macho", "a Mach-O file", []string{".dylib"}, objfile.MachO, readBinary, "cfi", "debug-dir", "arch"),
		dumpedFormat("pe", "a PE file", []string{".exe", ".dll", ".sys"}, func(head []byte) bool { return bytes.HasPrefix(head, []byte("MZ")) }, readBinary, "cfi", "debug-dir"),
		dumpedFormat("pdb", "a PDB", []string{".pdb"}, pdb.Match, readWhole),
		listFormat("perfmap", "a perf map", ".map", symlist.PerfMap, symlist.MatchPerfMap),
		listFormat("nm", "output of nm", ".nm", symlist.NM, symlist.MatchNM),
	}
	for _, f := range dumpfile.Formats() {
		row := Format{Name: f.Name, Title: f.Title, Exts: f.Exts, Dump: true, dump: f}
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

// onlyRules are the records that SFrame holds.
var onlyRules = []symfmt.Kind{symfmt.KindCFIInit}

// OnlyRules reports whether the format has no place for symbols besides STACK CFI.
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

// OfContent returns the format identified by the start of a file, or nil.
func OfContent(head []byte) *Format {
	all := All()
	if i := slices.IndexFunc(all, func(f Format) bool { return f.match != nil && f.match(head) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// OfBinary returns the format of a binary, or of a PDB, that begins with head; nil for other files.
func OfBinary(head []byte) *Format {
	if f := OfContent(head); f != nil && f.Binary {
		return f
	}
	return nil
}

// OfName returns the format that a file name's extension stands for, and its compression or
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

// Symbols is a module with its problems.
type Symbols struct {
	Module   *symfmt.Module
	Problems []bin.Problem
	Dropped  int    // number of problems not in Problems
	Passed   func() // for symfmt.WriteOptions; may be nil
	Image    Image
}

// Image describes the binary of some symbols, as far as a Module does not.
type Image struct {
	Base    uint64           // link-time address of RVA 0
	Order   binary.ByteOrder // nil if unknown; Base is then unknown, too
	Section uint64           // address of .sframe, or 0
}

// Convertible returns the format of a file with symbols in a format other than Breakpad's, or of
// a core; nil if its content matches none.
func Convertible(path string) *Format {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	in, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer in.Close()
	return ConvertibleText(in)
}

// ConvertibleText is like Convertible, for a text that may be compressed or truncated.
func ConvertibleText(in io.Reader) *Format {
	text, _, err := symfmt.NewText(in)
	if err != nil {
		return nil
	}
	head := make([]byte, headSize)
	n, _ := io.ReadFull(text, head)
	head = head[:n]
	if elfcore.Sniff(head) {
		return Named(dumpfile.Core) // which the first bytes of an ELF file do not show
	}
	if f := OfContent(head); f != nil && f.Read != nil && !symfmt.Match(head) {
		return f
	}
	return nil
}

// Convert describes how to proceed with a file of this format where a symbol file is expected.
func (f *Format) Convert() string {
	if f.Read == nil {
		return "not a symbol file but " + f.Title
	}
	return fmt.Sprintf("not a symbol file but %s: convert it with symtool convert --to breakpad", f.Title)
}
