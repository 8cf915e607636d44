package main

import (
	"context"
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

// format is a format of convert. One with read or write holds symbols, which pass through a
// symfmt.Module. The others hold unwind information, or dumps.
type format struct {
	name  string                 // value of --from and --to
	title string                 // for messages: "a symbol file"
	exts  []string               // of file names
	match func(head []byte) bool // by the first headSize bytes; nil if these do not identify it

	// read reads symbols, which are valid until use returns; nil if they are not read.
	read func(ctx context.Context, c *formatJob, in *input, use func(*symbols) error) error
	// losses are what write leaves out; nil for nothing.
	losses func(c *formatJob, m *symfmt.Module) []symfmt.Loss
	// holds are the records that the format is for; nil for all.
	holds []symfmt.Kind
	// advice is what may be done about losses, "" for nothing; may be nil.
	advice func(c *formatJob, m *symfmt.Module) string
	// write writes symbols; nil if they are not written.
	write func(ctx context.Context, c *formatJob, m *symfmt.Module, out io.Writer) error

	// frames reads unwind information, where the format has more than STACK CFI can express;
	// writeFrames writes it.
	frames      func(ctx context.Context, c *formatJob, in *input) (*unwinding, error)
	writeFrames func(ctx context.Context, c *formatJob, u *unwinding, out io.Writer) error

	dump   bool // of crashed processes: package walk reads and writes it
	text   bool // what is written may go to a terminal
	packed bool // may be compressed with gzip or zstd, which --gzip and --zstd do
	piped  bool // not packed, but read from a pipe or out of gzip or zstd all the same

	readFlags  []string // flags that only some formats have: as input,
	writeFlags []string // and as output
}

// headSize is how much of a file identifies its format.
const headSize = 64

// The flags of all formats of symbols that are written.
var editFlags = []string{"no-inlines", "no-cfi", "only-cfi", "prefix-map", "rename-module", "map", "map-file", "map-var", "map-links", "map-manifest", "map-list"}

// formats are all formats of convert, in the order in which contents are looked at.
// It is a function, because rows refer to functions that look at the list.
func formats() []format {
	return []format{
		{
			name: "breakpad", title: "a symbol file", exts: []string{".sym"}, match: symfmt.Match, text: true, packed: true,
			read: readBreakpad, losses: breakpadLosses, write: writeBreakpad,
			writeFlags: []string{"old-inline-origin", "crlf"},
		},
		{
			name: "sframe", title: "an SFrame section", exts: []string{".sframe"},
			match: func(head []byte) bool { return sframe.Magic(head) != nil },
			read:  readSFrameSymbols, frames: readSFrameSection, writeFrames: writeSFrame,
			readFlags: []string{"address"}, writeFlags: []string{"sframe-version", "address", "add"},
		},
		jsonFormat("json", "a JSON document", false, symjson.MatchDocument, "json-names", "json-indent"),
		jsonFormat("jsonl", "JSON Lines", true, symjson.MatchLines, "json-names"),
		gsymFormat(),
		symcacheFormat(),
		elfFormat(),
		listFormat("perfmap", "a perf map", ".map", symlist.PerfMap, symlist.MatchPerfMap),
		listFormat("nm", "a list of nm", ".nm", symlist.NM, symlist.MatchNM),
		{name: dumpfile.Minidump, title: "a minidump", exts: []string{".dmp", ".mdmp"}, dump: true},
		{name: dumpfile.Core, title: "an ELF core", exts: []string{".core"}, dump: true, readFlags: []string{"binaries"}},
	}
}

func (f *format) reads() bool  { return f.read != nil || f.dump }
func (f *format) writes() bool { return f.write != nil || f.writeFrames != nil || f.dump }

// names returns the names of the formats for which is returns true.
func formatNames(is func(*format) bool) (names []string) {
	for _, f := range formats() {
		if is(&f) {
			names = append(names, f.name)
		}
	}
	return names
}

func formatNamed(name string) *format {
	all := formats()
	if i := slices.IndexFunc(all, func(f format) bool { return f.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// formatOfContent is the format that the beginning of a file identifies; nil if none matches.
func formatOfContent(head []byte) *format {
	all := formats()
	if i := slices.IndexFunc(all, func(f format) bool { return f.match != nil && f.match(head) }); i >= 0 {
		return &all[i]
	}
	return nil
}

// formatOfName is the format that the extension of a file's name stands for, and its compression,
// "" for none.
func formatOfName(path string) (f *format, compression string) {
	for _, c := range store.Compressions {
		if rest, ok := strings.CutSuffix(path, c.Ext); ok {
			path, compression = rest, c.Name
		}
	}
	all := formats()
	i := slices.IndexFunc(all, func(f format) bool {
		return slices.ContainsFunc(f.exts, func(ext string) bool { return strings.HasSuffix(path, ext) }) && (compression == "" || f.packed)
	})
	if i < 0 {
		return nil, ""
	}
	return &all[i], compression
}

// symbols is a module with its problems.
type symbols struct {
	module   *symfmt.Module
	problems []bin.Problem
	dropped  int    // problems that are not in problems
	passed   func() // for symfmt.WriteOptions; may be nil
}

// unwinding is the unwind information of a binary.
type unwinding struct {
	name  string // of the input
	abi   sframe.ABI
	funcs []sframe.Func // at addresses of the binary
	addr  uint64        // of the .sframe section that they come from, if any

	damage []bin.Problem // of the input
	lost   []bin.Problem // what SFrame has no form for
	left   []symfmt.Loss // records other than unwind information
}

// convertible is the format of a file in another format of symbols than Breakpad's, or of a core;
// nil if its content matches none.
func convertible(path string) *format {
	if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	in, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer in.Close()
	return convertibleText(in)
}

// convertibleText is convertible for a text, which may be compressed, and cut.
func convertibleText(in io.Reader) *format {
	text, _, err := symfmt.NewText(in)
	if err != nil {
		return nil
	}
	head := make([]byte, headSize)
	n, _ := io.ReadFull(text, head)
	head = head[:n]
	if elfcore.Sniff(head) {
		return formatNamed(dumpfile.Core) // which the contents of ELF files do not show
	}
	if f := formatOfContent(head); f != nil && f.read != nil && !symfmt.Match(head) {
		return f
	}
	return nil
}

// convert says how to proceed with a file of the format where a symbol file is wanted.
func (f *format) convert() string {
	if f.read == nil {
		return "no symbol file, but " + f.title
	}
	return fmt.Sprintf("no symbol file, but %s: symtool convert --to breakpad makes one of it", f.title)
}
