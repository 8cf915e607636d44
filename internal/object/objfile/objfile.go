// Package objfile opens binaries of any container. Package debugset finds the files that belong to them. A new
// container is a package beside internal/object/elfobj, and a row in containers.
package objfile

import (
	"bytes"
	"io"
	"os"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/internal/object/machobj"
	"github.com/symtool/symtool/internal/object/peobj"
)

// containers lists the known containers, by the name that object.File.Format has, with the first bytes of their files. A file in none of them
// is opened as the first, whose error says what the file is.
var containers = []struct {
	name   string
	magics []string
	open   func(r io.ReaderAt, size int64, path string, lim object.Limits) (*object.File, error)
}{
	{"ELF", []string{elfobj.Magic}, func(r io.ReaderAt, size int64, path string, lim object.Limits) (*object.File, error) {
		f, err := elfobj.NewFile(r, size, path, lim)
		return f.Object(), err
	}},
	{"PE", []string{peobj.Magic}, func(r io.ReaderAt, size int64, path string, lim object.Limits) (*object.File, error) {
		f, err := peobj.NewFile(r, size, path, lim)
		return f.Object(), err
	}},
	{"Mach-O", machobj.Magics, func(r io.ReaderAt, size int64, path string, lim object.Limits) (*object.File, error) {
		f, err := machobj.NewFile(r, size, path, lim)
		return f.Object(), err
	}},
}

// HeadSize is the number of bytes of a file that Begins examines.
const HeadSize = len(elfobj.Magic)

// Begins reports whether a file whose first bytes are head is in a known container.
func Begins(head []byte) bool { return find(head) >= 0 }

// Container returns the name of the known container that a file is in whose first bytes are head: ELF, PE or Mach-O,
// or "". A Mach-O file may contain several binaries.
func Container(head []byte) string {
	if i := find(head); i >= 0 {
		return containers[i].name
	}
	return ""
}

// find returns the index in containers, or -1.
func find(head []byte) int {
	for i, c := range containers {
		for _, magic := range c.magics {
			if bytes.HasPrefix(head, []byte(magic)) {
				return i
			}
		}
	}
	return -1
}

// Open opens the binary at path. Errors are *bin.Error; for a file in no known container, the message says what it
// is. path may be a macOS bundle: a dSYM, an app, a framework. If a dSYM has several files, lim.ID selects one.
func Open(path string, lim object.Limits) (*object.File, error) {
	path = machobj.InBundleOf(path, lim.ID)
	if err := machobj.CheckChosen(path, lim.ID); err != nil {
		return nil, err
	}
	file, size, err := elfobj.OpenFile(path, lim)
	if err != nil {
		return nil, err
	}
	f, err := New(file, size, path, lim)
	if err != nil {
		file.Close()
		return nil, err
	}
	f.CloseWith(file)
	return f, nil
}

// ErrNotBinary is the kind of the error that Open returns for a file in no known container.
var ErrNotBinary = elfobj.ErrNotBinary

// Text is what Describe returns for text of no other known kind.
const Text = elfobj.Text

// Describe returns what a file is that begins with head and is in no known container, and what to do with it. Both
// may be "".
func Describe(head []byte) (what, do string) { return elfobj.Describe(head) }

// IsFolder reports whether path is a folder other than a bundle, which Open treats as a file.
func IsFolder(path string) bool {
	st, err := os.Stat(machobj.InBundle(path))
	return err == nil && st.IsDir()
}

// CPUs returns the names of the CPUs of a file with several binaries, from which Limits.CPU selects one. It
// returns nil for any other file.
func CPUs(path string) []string { return machobj.CPUs(path) }

// Archive is a static library of macOS.
type Archive = machobj.Archive

// OpenArchive lists the members of a static library of macOS.
func OpenArchive(path string, lim object.Limits) (*Archive, error) {
	return machobj.OpenArchive(path, lim)
}

// CPUsIn is like CPUs, for the file in the first size bytes of r.
func CPUsIn(r io.ReaderAt, size int64) []string { return machobj.CPUsIn(r, size) }

// InBundle returns the binary that represents a macOS bundle, as in Open. It returns any other path unchanged.
func InBundle(path string) string { return machobj.InBundle(path) }

// DSYMFiles returns the Mach-O files in a dSYM bundle, which may itself be a file.
func DSYMFiles(path string) []string { return machobj.DSYMFiles(path) }

// New is like Open, for the binary in the first size bytes of r. name is its path in
// messages. Closing the File does not close r.
func New(r io.ReaderAt, size int64, name string, lim object.Limits) (*object.File, error) {
	head := make([]byte, HeadSize)
	n, _ := r.ReadAt(head, 0)
	return containers[max(find(head[:n]), 0)].open(r, size, name, lim)
}
