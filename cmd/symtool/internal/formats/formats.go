// Package formats has the table of the formats that symtool reads and writes.
package formats

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve/store"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/symjson"
	"github.com/symtool/symtool/symfmt/symlist"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
)

// Format is a format of convert. One with read or write holds symbols, which pass through a
// symfmt.Module. The others hold dumps.
type Format struct {
	Name  string                 // value of --from and --to
	Title string                 // for messages: "a symbol file"
	Exts  []string               // of file names
	match func(head []byte) bool // by the first headSize bytes; nil if these do not identify it

	// Read reads symbols, which are valid until use returns; nil if they are not read.
	Read func(ctx context.Context, c *Job, in *Input, use func(*Symbols) error) error
	// Losses are what write leaves out; nil for nothing.
	Losses func(c *Job, m *symfmt.Module) []symfmt.Loss
	// Holds are the records that the format is for; nil for all.
	Holds []symfmt.Kind
	// Advice is what may be done about losses, "" for nothing; may be nil.
	Advice func(c *Job, m *symfmt.Module) string
	// Write writes symbols; nil if they are not written.
	Write func(ctx context.Context, c *Job, m *symfmt.Module, out io.Writer) error

	Dump   bool // of crashed processes: package walk reads and writes it
	Text   bool // what is written may go to a terminal
	Packed bool // may be compressed with gzip or zstd, which --gzip and --zstd do
	piped  bool // not packed, but read from a pipe or out of gzip or zstd all the same

	ReadFlags  []string // flags that only some formats have: as input,
	WriteFlags []string // and as output
}

// headSize is how much of a file identifies its format.
const headSize = 64

// EditFlags are the flags of all formats of symbols that are written.
var EditFlags = []string{"no-inlines", "no-cfi", "only-cfi", "prefix-map", "rename-module", "map", "map-file", "map-var", "map-links", "map-manifest", "map-list"}

// All are all formats of convert, in the order in which contents are looked at.
// It is a function, because rows refer to functions that look at the list.
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
		listFormat("perfmap", "a perf map", ".map", symlist.PerfMap, symlist.MatchPerfMap),
		listFormat("nm", "a list of nm", ".nm", symlist.NM, symlist.MatchNM),
	}
	for _, f := range dumpfile.Formats() {
		row := Format{Name: f.Name, Title: f.Title, Exts: f.Exts, Dump: true}
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
func (f *Format) Writes() bool { return f.Write != nil || f.Dump }

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

// Named returns the format with a name; nil if there is none.
func Named(name string) *Format {
	all := All()
	if i := slices.IndexFunc(all, func(f Format) bool { return f.Name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// OfContent is the format that the beginning of a file identifies; nil if none matches.
func OfContent(head []byte) *Format {
	all := All()
	if i := slices.IndexFunc(all, func(f Format) bool { return f.match != nil && f.match(head) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// OfName is the format that the extension of a file's name stands for, and its compression,
// "" for none.
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
	Dropped  int    // Problems that are not in problems
	Passed   func() // for symfmt.WriteOptions; may be nil
	Image    Image
}

// Image is what is known of the binary that symbols are of, besides a Module.
type Image struct {
	Base    uint64           // link-time address of RVA 0
	Order   binary.ByteOrder // nil if it is not known, as Base then is not
	Section uint64           // address of .sframe; 0 without
}

// Convertible is the format of a file in another format of symbols than Breakpad's, or of a core;
// nil if its content matches none.
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

// ConvertibleText is convertible for a text, which may be compressed, and cut.
func ConvertibleText(in io.Reader) *Format {
	text, _, err := symfmt.NewText(in)
	if err != nil {
		return nil
	}
	head := make([]byte, headSize)
	n, _ := io.ReadFull(text, head)
	head = head[:n]
	if elfcore.Sniff(head) {
		return Named(dumpfile.Core) // which the contents of ELF files do not show
	}
	if f := OfContent(head); f != nil && f.Read != nil && !symfmt.Match(head) {
		return f
	}
	return nil
}

// Convert says how to proceed with a file of the format where a symbol file is wanted.
func (f *Format) Convert() string {
	if f.Read == nil {
		return "not a symbol file but " + f.Title
	}
	return fmt.Sprintf("not a symbol file but %s: convert it with symtool convert --to breakpad", f.Title)
}
