// Package dumpfile reads and writes dumps of crashed processes in any supported format,
// including compressed ones. Use Open and Write.
package dumpfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/unpack"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
	"github.com/symtool/symtool/walk/elfcore"
	"github.com/symtool/symtool/walk/microdump"
	"github.com/symtool/symtool/walk/minidump"
)

// Format is a format of dumps.
type Format struct {
	Name  string   // name that Write accepts
	Title string   // for people: "a minidump"
	Exts  []string // extensions of file names, with dots
}

// format is a row of the table of formats.
type format struct {
	Format
	sniff func(head []byte) bool // head has sniffSize bytes, or the whole file if it is shorter
	read  func(data []byte, path string, o Options) (*dump.Dump, error)
	write func(io.Writer, *dump.Dump) ([]damage.Problem, error) // nil for formats that are only read
}

// Names of formats.
const (
	Minidump = "minidump"
	Core     = "core"
	Micro    = "microdump"
)

// formats are all formats of dumps.
var formats = []format{
	{Format{Minidump, "a minidump", []string{".dmp", ".mdmp"}}, minidump.Sniff,
		func(data []byte, path string, _ Options) (*dump.Dump, error) { return minidump.Read(data, path) }, minidump.Write},
	{Format{Core, "an ELF core", []string{".core"}}, elfcore.Sniff,
		func(data []byte, path string, o Options) (*dump.Dump, error) { return elfcore.Read(data, path, o.Core) }, elfcore.Write},
	{Format{Micro, "a microdump", nil}, microdump.Sniff,
		func(data []byte, path string, _ Options) (*dump.Dump, error) { return microdump.Read(data, path) }, nil},
}

// Formats returns the formats that Open reads. Write supports those that are Writable.
func Formats() (all []Format) {
	for i := range formats {
		all = append(all, formats[i].Format)
	}
	return all
}

// Writable reports whether Write writes a format.
func (f Format) Writable() bool {
	i := slices.IndexFunc(formats, func(row format) bool { return row.Name == f.Name })
	return i >= 0 && formats[i].write != nil
}

// FormatOf returns the name of the format of a file, which may be compressed. It returns "" if the file is not a
// dump or cannot be read; in that case Open returns the reason.
func FormatOf(path string) string {
	f, _, err := openRegular(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	head := make([]byte, sniffSize)
	n, _ := f.ReadAt(head, 0) // a missing file has no format
	head = head[:n]
	if p := unpack.Find(head); p != nil {
		head = headOf(p, f)
	}
	return sniff(head)
}

// sniff returns the name of the format of a dump that begins with these bytes, or "".
func sniff(head []byte) string {
	for i := range formats {
		if formats[i].sniff(head) {
			return formats[i].Name
		}
	}
	return ""
}

// OtherFormat returns the format to which a dump is converted by default: a core for a minidump, otherwise a
// minidump; or "" for an unknown format.
func OtherFormat(name string) string {
	switch name {
	case Minidump:
		return Core
	case Core, Micro:
		return Minidump
	}
	return ""
}

// Write writes a dump in the named format. The problems describe what the format cannot represent.
func Write(w io.Writer, format string, d *dump.Dump) ([]damage.Problem, error) {
	for i := range formats {
		if formats[i].Name == format && formats[i].write != nil {
			return formats[i].write(w, d)
		}
	}
	return nil, fmt.Errorf("unknown dump format %q", format)
}

const sniffSize = 64

// Options configure Open. The zero value has default limits.
type Options struct {
	Name string // name of the dump in errors; "" means its path
	// TempDir is where a compressed dump is unpacked; "" means the system's
	// folder for temporary files.
	TempDir string
	// MaxUnpacked limits the size in bytes of an unpacked dump; 0 means 64 GiB.
	MaxUnpacked int64
	// Stdin, if non-nil, is read by ReadFrom if the path is "-".
	Stdin io.Reader
	// PID, if not 0, is a running process that Open captures instead of reading a file. The path is then only
	// used in messages.
	PID int
	// StopLimit and Waiting are the options of the same names in live.Options.
	StopLimit time.Duration
	Waiting   func(thread int, state string, limit time.Duration)
	// Reads, if non-nil, is called with a dump of such a process and reads from it what the caller will read. If
	// memory other than the stacks is missing, the process is captured again, with that memory.
	Reads func(context.Context, *dump.Dump)
	// Core says where the binaries of ELF cores are. They are mapped into memory like the dump, and released with
	// it.
	Core elfcore.Options
}

// defaultMaxUnpacked is the default for Options.MaxUnpacked: as large as the memory of a large server process,
// and smaller than disks.
const defaultMaxUnpacked = 64 << 30

// File is an open dump. It refers to the file, which is mapped into memory if the system supports it: until the
// File is closed, the file must not change. If the file shrinks, an access to the lost part faults; see
// FaultError.
type File struct {
	*dump.Dump
	Kind     string // the name of its format: Minidump, Core or Micro
	contents *contents
}

// Close releases the memory that the dump refers to.
func (f *File) Close() error { return f.contents.Close() }

// Open opens the dump at path, which may be compressed with gzip, zstd, xz or lz4.
func Open(ctx context.Context, path string, o Options) (*File, error) {
	o.Name = cmp.Or(o.Name, path)
	if o.PID != 0 {
		return capture(ctx, o)
	}
	if path == "-" && o.Stdin != nil {
		return ReadFrom(ctx, o.Stdin, o)
	}
	if st, err := os.Stat(path); err == nil {
		o.Core.Written = st.ModTime()
	}
	f, err := o.open(load(ctx, path, o))
	if f != nil {
		f.Modified = o.Core.Written
	}
	return f, err
}

// open opens a dump that is in memory, or returns err with the dump's name if it is not nil.
func (o Options) open(c *contents, err error) (*File, error) {
	name := o.Name
	if err != nil {
		return nil, withPath(name, err)
	}
	if o.Core.ReadFile == nil {
		o.Core.ReadFile = c.open
	}
	d, err := Read(c.data, name, o)
	if err != nil {
		c.Close()
		return nil, err
	}
	d.Size = c.size
	if c.broken != nil {
		d.Problems = append(d.Problems, damage.Problem{Lost: "the rest of the dump", Err: withPath(name, c.broken)})
	}
	return &File{d, sniff(c.data[:min(len(c.data), sniffSize)]), c}, nil
}

// Read reads a dump that is in memory. path is used in messages.
func Read(data []byte, path string, o Options) (d *dump.Dump, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := FaultError(path, recover()); fault != nil {
			d, err = nil, fault
		}
	}()
	head := data[:min(len(data), sniffSize)]
	for i := range formats {
		if formats[i].sniff(head) {
			return formats[i].read(data, path, o)
		}
	}
	if why := kernelDump(head); why != "" {
		return nil, &bin.Error{File: path, Msg: why}
	}
	return nil, unknown(path)
}

// ErrNotDump is the kind of error for a file that is not a dump in a known format, or not a file at all.
var ErrNotDump = errors.New("not a dump")

// unknown is the error for a file that is not a dump.
func unknown(path string) error {
	return &bin.Error{File: path, Msg: "not a dump that symtool can read: want " + formatNames(), Kind: ErrNotDump}
}

// FaultError returns an error for the panic value p, if debug.SetPanicOnFault made the panic from a fault in the
// mapped memory of the file at path. It returns nil if p is nil, and propagates other panics.
func FaultError(path string, p any) error {
	if p == nil {
		return nil
	}
	fault, ok := p.(interface{ Addr() uintptr })
	if !ok {
		panic(p)
	}
	return withPath(path, fmt.Errorf("the file was truncated, or cannot be read: fault at %#x", fault.Addr()))
}

func formatNames() string {
	var text string
	for i := range formats {
		text += formats[i].Title + ", "
	}
	return text + "plain or compressed with " + packings
}

// withPath returns err as an error that names path, once.
func withPath(path string, err error) error {
	if pathErr, ok := err.(*os.PathError); ok { // not an error of a temporary file
		err = pathErr.Err
	}
	return &bin.Error{File: path, Err: err}
}

// contents is a file in memory.
type contents struct {
	data   []byte
	size   int64 // like dump.Dump.Size
	mapped bool
	buffer *[]byte // from buffers, and holds data; nil for other data
	broken error   // why compressed data ended early
	more   []*contents
}

// open opens another file that remains open as long as this one.
func (c *contents) open(path string) ([]byte, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	other, err := hold(f, size)
	if err != nil {
		return nil, err
	}
	c.more = append(c.more, other)
	return other.data, nil
}

// Close unmaps the files.
func (c *contents) Close() error {
	for _, other := range c.more {
		other.Close()
	}
	if c.mapped {
		bin.UnmapFile(c.data)
	}
	if c.buffer != nil {
		buffers.Put(c.buffer)
	}
	c.data, c.mapped, c.buffer = nil, false, nil
	return nil
}

// load maps a file, or reads it.
func load(ctx context.Context, path string, o Options) (*contents, error) {
	f, size, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return loadFile(ctx, f, size, o)
}

// loadFile maps an open file, or reads it.
func loadFile(ctx context.Context, f *os.File, size int64, o Options) (*contents, error) {
	if p := filePacking(f); p != nil {
		return inflate(ctx, p, f, size, o)
	}
	return hold(f, size)
}

// openRegular opens a file and returns its size. It refuses anything but a regular file before opening it,
// because opening a named pipe would block.
func openRegular(path string) (*os.File, int64, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !st.Mode().IsRegular() {
		return nil, 0, &bin.Error{Msg: "not a regular file", Kind: ErrNotDump}
	}
	f, err := os.Open(path)
	return f, st.Size(), err
}

// smallDump is the size in bytes up to which a file is read rather than mapped. Mapping and unmapping memory
// takes process-wide locks and interrupts other processors; a minidump is rarely larger.
const smallDump = 256 << 10

// buffers keeps the memory of small dumps that were closed.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// hold reads or maps an open file. A mapping outlives the file's handle and its name.
func hold(f *os.File, size int64) (*contents, error) {
	if size <= smallDump {
		c := &contents{size: size, buffer: buffers.Get().(*[]byte)}
		*c.buffer = slices.Grow((*c.buffer)[:0], int(size))
		c.data = (*c.buffer)[:size]
		if _, err := f.ReadAt(c.data, 0); err != nil && size > 0 {
			c.Close()
			return nil, err
		}
		return c, nil
	}
	if data, err := bin.MapFile(f, 0, size); err == nil {
		return &contents{data: data, size: size, mapped: true}, nil
	}
	data := make([]byte, size)
	if _, err := f.ReadAt(data, 0); err != nil {
		return nil, err
	}
	return &contents{data: data, size: size}, nil
}
