// Package filekind determines what a file is by its beginning. If another command reads it, the error says which.
package filekind

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/symtool/symtool/internal/archive"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/internal/unpack"
	"github.com/symtool/symtool/sframe"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/gsym"
	"github.com/symtool/symtool/symfmt/pdb"
	"github.com/symtool/symtool/symfmt/symcache"
	"github.com/symtool/symtool/symfmt/symjson"
	"github.com/symtool/symtool/symfmt/symlist"
	"github.com/symtool/symtool/walk/dumpfile"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/microdump"
	"github.com/symtool/symtool/walk/minidump"
)

// Kind is a kind of file.
type Kind struct {
	Title string                 // "a minidump"
	Match func(head []byte) bool // by the first HeadSize bytes, or all of a shorter file
	Use   string                 // what to do with such a file, for a message; "" if there is no advice
}

// HeadSize is the number of bytes at the start of a file by which its kind is determined.
const HeadSize = 512

// What to do with files of some kinds.
const (
	useDump    = "symtool dump writes its symbol file"
	useConvert = "convert it with symtool convert --to breakpad"
	useWalk    = "symtool walk prints its stacks"
	useStore   = "symtool dump --store DIR writes the symbol files of all binaries in it"
)

// The kinds that commands read.
var (
	Breakpad  = Kind{"a symbol file", symfmt.Match, "symtool lint checks it; resolve and walk read it with --symbols"}
	SFrame    = Kind{"an SFrame section", func(head []byte) bool { return sframe.Magic(head) != nil }, useConvert}
	JSON      = Kind{"a JSON document", symjson.MatchDocument, useConvert}
	JSONLines = Kind{"JSON Lines", symjson.MatchLines, useConvert}
	GSYM      = Kind{"a GSYM file", gsym.Match, useConvert}
	SymCache  = Kind{"a symcache", symcache.Match, useConvert}
	ELF       = binary("an ELF file", "ELF")
	MachO     = binary("a Mach-O file", "Mach-O")
	PE        = binary("a PE file", "PE")
	PDB       = Kind{"a PDB", pdb.Match, useDump}
	PerfMap   = Kind{"a perf map", symlist.MatchPerfMap, useConvert}
	NM        = Kind{"output of nm", symlist.MatchNM, useConvert}
)

// binary returns the kind of binaries in a container.
func binary(title, container string) Kind {
	return Kind{title, func(head []byte) bool { return objfile.Container(head) == container }, useDump}
}

// kinds lists all kinds, in the order in which they are matched.
var kinds = []*Kind{
	{"a minidump", minidump.Sniff, useWalk},
	{"an ELF core", elfcore.Sniff, useWalk}, // before ELF
	&Breakpad, &SFrame, &JSON, &JSONLines, &GSYM, &SymCache, &ELF, &MachO, &PE, &PDB,
	{"a microdump", microdump.Sniff, useWalk},
	&PerfMap, &NM,
	{"the JSON of a walk", isWalk, "symtool walk --compare compares two of them"},
	{"JSON without symbols", isJSON, ""},
}

// isWalk reports whether head is the beginning of the output of walk --format json or jsonl. Its fields are sorted by
// name.
func isWalk(head []byte) bool {
	return isJSON(head) && bytes.Contains(head, []byte(`"crash_info"`))
}

// isJSON reports whether head begins with a JSON object.
func isJSON(head []byte) bool {
	rest, ok := bytes.CutPrefix(bytes.TrimLeft(head, " \t\r\n"), []byte("{"))
	return ok && bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(`"`))
}

// empty is the title of a file without contents.
const empty = "an empty file"

// of returns the kind of a file that begins with head. The kinds of files that no command reads have no Match. If
// nothing is known about the file, of returns nil.
func of(head []byte) *Kind {
	for _, k := range kinds {
		if k.Match(head) {
			return k
		}
	}
	if len(head) == 0 {
		return &Kind{Title: empty}
	}
	if unpack.Find(head) == nil {
		if f := archive.Find(head); f != nil {
			return &Kind{Title: f.What, Use: cmp.Or(f.Hint(), useStore)}
		}
	}
	if title, use := objfile.Describe(head); title != "" {
		return &Kind{Title: title, Use: use}
	}
	return nil
}

// Head returns the first HeadSize bytes that r reads, or all of a shorter file. With an error it returns what was read
// before it.
func Head(r io.Reader) ([]byte, error) {
	head := make([]byte, HeadSize)
	n, err := io.ReadFull(r, head)
	return head[:n], NotEnd(err)
}

// NotEnd returns err, or nil if it is the end of a file, where it may also end within compressed data.
func NotEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// unpacked returns the beginning of the decompressed contents of a file that may be compressed with gzip or zstd, and
// the name of the compression or "".
func unpacked(r io.Reader) (head []byte, compression string, err error) {
	text, compression, err := symfmt.Decompress(r)
	if err != nil {
		return nil, "", err
	}
	head, err = Head(text)
	return head, compression, err
}

// ofFile returns the kind of a file, and its compression or "". It returns nil for a file that cannot be read, or
// about which nothing is known.
func ofFile(path string) (k *Kind, compression string) {
	path = objfile.InBundle(path)
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, ""
	case st.IsDir():
		return &Kind{Title: "a folder"}, ""
	case !st.Mode().IsRegular():
		return &Kind{Title: irregular(st.Mode()), Use: "want a regular file"}, ""
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, ""
	}
	defer f.Close()
	head, compression, err := unpacked(f)
	if k = of(head); err != nil && (k == nil || k.Match == nil) {
		return nil, "" // reading it will fail
	}
	if k == nil {
		k = imageIn(f, st.Size())
	}
	if (k == nil || k.Match == nil) && dumpfile.FormatOf(path) != "" { // in xz or lz4
		k = &Kind{Title: "a compressed dump", Use: useWalk}
	}
	return k, compression
}

// imageIn returns the kind of a disk image or file system, or nil.
func imageIn(f *os.File, size int64) *Kind {
	image := archive.FindAt(f, size, func([]byte) bool { return false })
	if image == nil || image.Hint() == "" {
		return nil
	}
	return &Kind{Title: image.What, Use: image.Hint()}
}

func irregular(mode fs.FileMode) string {
	if mode&fs.ModeNamedPipe != 0 {
		return "a pipe"
	}
	return "a device or a socket"
}

// packed returns the title of a kind of files with the given compression; "" means uncompressed.
func (k *Kind) packed(compression string) string {
	if compression == "" {
		return k.Title
	}
	return k.Title + " in " + compression
}

// Not returns what a file is instead of what a command wants, and which command reads it: "not a dump but a PDB:
// symtool dump writes its symbol file". If no command reads it, forms is added. Not returns "" if nothing is known
// about the file.
func Not(path, want, forms string) string {
	k, compression := ofFile(path)
	if k == nil {
		return ""
	}
	return k.not(want, forms, compression)
}

func (k *Kind) not(want, forms, compression string) string {
	use := cmp.Or(k.Use, forms)
	if k.Use == useDump && compression != "" {
		use = "decompress it first"
	}
	return "not " + want + " but " + k.packed(compression) + ": " + use
}

// IsSymbols reports whether the file at path is a Breakpad symbol file, compressed or not.
func IsSymbols(path string) bool {
	k, _ := ofFile(path)
	return k == &Breakpad
}

// IsBinary reports whether the file at path is a binary.
func IsBinary(path string) bool {
	k, _ := ofFile(path)
	return k == &ELF || k == &MachO || k == &PE
}

// Dumped returns the kind of the binary or PDB at path, or nil for other and for compressed files.
func Dumped(path string) *Kind {
	k, compression := ofFile(path)
	if compression == "" && (k == &ELF || k == &MachO || k == &PE || k == &PDB) {
		return k
	}
	return nil
}

// NotSymbols returns the error for a file of another kind where a symbol file is wanted. head is its beginning, which
// may be compressed. NotSymbols returns nil for texts: readers of symbol files report what is wrong with them.
func NotSymbols(head []byte) error {
	head, compression, err := unpacked(bytes.NewReader(head))
	k := of(head)
	if err != nil && (k == nil || k.Match == nil) {
		return nil // reading it will fail
	}
	return k.notSymbols(compression)
}

// NotSymbolFile is like NotSymbols, for the file at path. It returns nil for files that are not regular or cannot be
// read.
func NotSymbolFile(path string) error {
	if st, err := os.Stat(objfile.InBundle(path)); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	k, compression := ofFile(path)
	return k.notSymbols(compression)
}

func (k *Kind) notSymbols(compression string) error {
	if k == nil || k == &Breakpad || k.Title == objfile.Text || k.Title == empty {
		return nil
	}
	return errors.New(k.not("a symbol file", "want text that begins with MODULE", compression))
}
