// Package machobj opens binaries of macOS and iOS (Mach-O) of unknown quality: every count, offset and
// size is checked against the file before anything is allocated for it, and a damaged part costs that
// part only.
//
// The layouts are the same as in debug/macho, which is not used to open files: it reads every symbol and
// every relocation at once, rejects a whole file for one bad load command, and supports neither 64-bit
// fat files nor exports (TestDebugMacho compares the two on files that debug/macho reads).
//
// Layouts: Apple's <mach-o/loader.h>, <mach-o/nlist.h>, <mach-o/stab.h>, <mach-o/fat.h>.
//
// # Rules
//
//   - RVAs are relative to the address of __TEXT, where the header is: 0x100000000 in most executables,
//     0 in libraries.
//   - The module's id is the UUID of LC_UUID, byte by byte, with the age 0. Nothing else shows that a
//     binary and a dSYM belong together.
//   - A fat file holds a binary for each CPU: Limits.CPU selects one by its name, Limits.ID by its UUID.
//     Offsets in messages are from the start of the whole file.
//   - Names of sections are as in the file, "__debug_info"; Section finds them by ELF's name.
//   - The first underscore of symbol names is removed; C adds it, and mangling does not need it.
//   - Encrypted contents (LC_ENCRYPTION_INFO, programs of the App Store) cannot be read.
package machobj

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Magics begin files with one binary and fat files.
var Magics = []string{
	"\xcf\xfa\xed\xfe", "\xce\xfa\xed\xfe", "\xfe\xed\xfa\xcf", "\xfe\xed\xfa\xce",
	fatMagic, fatMagic64,
}

// ErrNotMachO is the kind of the error for a file that is not Mach-O. The message says what it is.
var ErrNotMachO = errors.New("not a Mach-O file")

// Types of files.
const (
	typeObject  = 1
	typeExecute = 2
	typeCore    = 4
	typeDylib   = 6
	typeLinker  = 7
	typeBundle  = 8
	typeStub    = 9
	typeDSYM    = 10
	typeKext    = 11
	typeFileSet = 12
)

const (
	flagPIE                 = 0x200000    // in the header's flags
	flagCutBySymbols        = 0x2000      // MH_SUBSECTIONS_VIA_SYMBOLS
	commandHeader           = 8           // size in bytes of a load command's type and size
	maxCommands             = 64 << 20    // maximum number of bytes of load commands that are read
	arm64                   = 0x0100000c  // cputype
	subtypeMask      uint32 = 0x00ff_ffff // without capabilities
)

// File is a Mach-O file, or one of the binaries in a fat file.
type File struct {
	object.SectionsOnly // for what Mach-O lacks: minidumps use the file's name, and there are no links

	in    *object.Input
	start int64 // offset of the binary in a fat file

	order    binary.ByteOrder
	wide     bool // 64-bit
	cpu      cpu
	fileType uint32
	flags    uint32

	base     uint64 // address of __TEXT
	entry    uint64 // offset of the entry point from base; 0 for none
	uuid     []byte
	platform uint32 // from LC_BUILD_VERSION, or implied by an older command; 0 if unknown
	segments []*segment
	sections []*section
	symtab   symtabCommand
	exports  filePart // the exports trie
	starts   filePart // LC_FUNCTION_STARTS
	inCode   filePart // LC_DATA_IN_CODE
	secret   filePart // the encrypted part
	inSet    int      // number of files in a file set
	problems []bin.Problem

	symbols symbolTables
}

// filePart is a range of the binary's bytes, as a load command gives it.
type filePart struct{ off, size uint32 }

// NewFile reads the headers of the Mach-O file in the first size bytes of r or, in a fat file, of the binary
// that lim selects. path is used in messages. Closing the File does not close r. Errors are *bin.Error.
func NewFile(r io.ReaderAt, size int64, path string, lim object.Limits) (*File, error) {
	f := &File{in: object.NewInput(r, size, path, lim)}
	if err := f.choose(); err != nil {
		return nil, err
	}
	if err := f.readHeader(); err != nil {
		return nil, err
	}
	return f, nil
}

// choose finds the selected binary in a fat file.
func (f *File) choose() error {
	slices, err := readSlices(f.in)
	if err != nil || slices == nil {
		return err
	}
	s, err := pick(f.in, slices)
	if err != nil {
		return err
	}
	f.start = s.offset
	f.in.Size = s.offset + s.size
	return nil
}

// readHeader reads the header and the load commands.
func (f *File) readHeader() error {
	magic, err := f.read(0, 4)
	if err != nil {
		return f.notMachO("too short")
	}
	switch string(magic) {
	case "\xcf\xfa\xed\xfe":
		f.order, f.wide = binary.LittleEndian, true
	case "\xce\xfa\xed\xfe":
		f.order = binary.LittleEndian
	case "\xfe\xed\xfa\xcf":
		f.order, f.wide = binary.BigEndian, true
	case "\xfe\xed\xfa\xce":
		f.order = binary.BigEndian
	default:
		if string(magic) == archiveMagic[:len(magic)] {
			return f.notMachO("a static library: take its members out (lipo -thin, ar x) and name those")
		}
		return f.notMachO(fmt.Sprintf("begins with % x", magic))
	}
	size := int64(28)
	if f.wide {
		size = 32
	}
	head, err := f.read(0, size)
	if err != nil {
		return f.notMachO("a header of less than " + fmt.Sprint(size) + " bytes")
	}
	u32 := func(at int) uint32 { return f.order.Uint32(head[at:]) }
	f.cpu = cpuOf(u32(4), u32(8))
	f.fileType, f.flags = u32(12), u32(24)
	if f.fileType == typeCore {
		return f.in.Errorf(uint64(f.start), "a core dump of macOS, which is not read")
	}
	f.readCommands(size, u32(16), u32(20))
	if f.inSet > 0 {
		f.lost("the kernel and its extensions", f.errorf(0, "a kernel cache of %d files, which are not read", f.inSet))
	}
	f.base = f.loadAddress()
	f.checkPlaces()
	f.makeSections()
	return nil
}

// readCommands reads n load commands, which take size bytes, at an offset.
func (f *File) readCommands(at int64, n, size uint32) {
	have := min(int64(size), max(f.in.Size-f.start-at, 0), maxCommands)
	data, err := f.read(at, have)
	if err == nil && have < int64(size) {
		err = f.errorf(at, "load commands of %d bytes, the file has %d", size, have)
	}
	if err != nil {
		f.lost("load commands", err)
	}
	for i := range n {
		if len(data) < commandHeader {
			f.lost("load commands", f.errorf(at, "%d load commands, want %d: there are no bytes for more", i, n))
			return
		}
		kind, length := f.order.Uint32(data), f.order.Uint32(data[4:])
		if length < commandHeader || uint64(length) > uint64(len(data)) {
			f.lost("load commands", f.errorf(at, "load command %d has a size of %d bytes, want 8 to %d", i, length, len(data)))
			return
		}
		if err := f.command(kind, data[:length], at); err != nil {
			f.lost(fmt.Sprintf("load command %d (%#x)", i, kind), err)
		}
		at += int64(length)
		data = data[length:]
	}
}

// Load commands.
const (
	cmdSegment      = 1
	cmdSymtab       = 2
	cmdUnixThread   = 5
	cmdSegment64    = 0x19
	cmdUUID         = 0x1b
	cmdEncryption   = 0x21
	cmdDyldInfo     = 0x22
	cmdDyldInfoOnly = 0x80000022
	cmdMinMacOS     = 0x24
	cmdMinIOS       = 0x25
	cmdStarts       = 0x26
	cmdMain         = 0x80000028
	cmdDataInCode   = 0x29
	cmdEncryption64 = 0x2c
	cmdMinTVOS      = 0x2f
	cmdMinWatchOS   = 0x30
	cmdBuildVersion = 0x32
	cmdExportsTrie  = 0x80000033
	cmdFileSetEntry = 0x80000035

	cmdRequired = 0x80000000 // a flag bit
	maxCommand  = 0xff       // Apple assigns consecutive numbers, and has reached 0x39
)

// Platforms of LC_BUILD_VERSION.
const (
	platformMacOS    = 1
	platformIOS      = 2
	platformTVOS     = 3
	platformWatchOS  = 4
	platformCatalyst = 6
)

// command reads a load command that begins at offset at.
func (f *File) command(kind uint32, c []byte, at int64) error {
	part := func(pos int, to *filePart) error {
		if len(c) < pos+8 {
			return f.errorf(at, "%d bytes, want %d", len(c), pos+8)
		}
		*to = filePart{f.order.Uint32(c[pos:]), f.order.Uint32(c[pos+4:])}
		return nil
	}
	switch kind {
	case cmdSegment, cmdSegment64:
		return f.readSegment(c, kind == cmdSegment64, at)
	case cmdSymtab:
		return f.readSymtab(c, at)
	case cmdUUID:
		if len(c) < commandHeader+16 {
			return f.errorf(at, "UUID of %d bytes, want 16", len(c)-commandHeader)
		}
		if f.uuid == nil {
			f.uuid = slices.Clone(c[commandHeader:][:16])
		}
	case cmdDyldInfo, cmdDyldInfoOnly:
		return part(40, &f.exports)
	case cmdExportsTrie:
		return part(8, &f.exports)
	case cmdStarts:
		return part(8, &f.starts)
	case cmdDataInCode:
		return part(8, &f.inCode)
	case cmdEncryption, cmdEncryption64:
		if len(c) >= 20 && f.order.Uint32(c[16:]) != 0 {
			return part(8, &f.secret)
		}
	case cmdMain:
		if len(c) >= 16 {
			f.entry = f.order.Uint64(c[8:])
		}
	case cmdBuildVersion:
		if len(c) >= 12 {
			f.platform = f.order.Uint32(c[8:])
		}
	case cmdFileSetEntry:
		f.inSet++
	case cmdMinMacOS:
		f.platform = platformMacOS
	case cmdMinIOS:
		f.platform = platformIOS
	case cmdMinTVOS:
		f.platform = platformTVOS
	case cmdMinWatchOS:
		f.platform = platformWatchOS
	default:
		if kind&^cmdRequired > maxCommand {
			return f.errorf(at, "unknown kind")
		}
	}
	return nil
}

// read returns n bytes at an offset in the binary.
func (f *File) read(off, n int64) ([]byte, error) {
	if off < 0 || off > f.in.Size-f.start {
		return nil, f.errorf(max(off, 0), "%d bytes wanted, the binary has %d", n, f.in.Size-f.start)
	}
	return f.in.Read(f.start+off, n)
}

// readPart returns the bytes of a part.
func (f *File) readPart(p filePart) ([]byte, error) { return f.read(int64(p.off), int64(p.size)) }

// errorf returns an error at an offset in the binary.
func (f *File) errorf(off int64, format string, args ...any) *bin.Error {
	return f.in.Errorf(uint64(f.start+off), format, args...)
}

func (f *File) lost(what string, err error) {
	f.problems = append(f.problems, bin.Problem{Lost: what, Err: err})
}

func (f *File) notMachO(what string) error {
	return &bin.Error{File: f.in.Path, Msg: ErrNotMachO.Error(), Err: errors.New(what), Kind: ErrNotMachO}
}
