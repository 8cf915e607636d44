package binfile

import (
	"cmp"
	"io"
	"path"
	"strings"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/symfmt/pdb"
)

// Member is the contents of a file in a package, such as a .deb.
type Member struct {
	io.ReaderAt
	Bytes int64
	Name  string // its path in the package
}

// open opens the binary at a path, or the member that the path stands for.
func (d *Reader) open(name string, limits object.Limits) (*object.File, error) {
	if m, ok := d.Members[name]; ok {
		return objfile.New(m, m.Bytes, name, limits)
	}
	return objfile.Open(name, limits)
}

// isPDB is like IsPDB, but also accepts a member.
func (d *Reader) isPDB(name string) bool {
	if m, ok := d.Members[name]; ok {
		var head [pdb.HeadSize]byte
		n, _ := m.ReadAt(head[:], 0)
		return pdb.Match(head[:n])
	}
	return IsPDB(name)
}

// openPDB opens the PDB at a path, or the member that the path stands for.
func (d *Reader) openPDB(name string) (*pdb.File, error) {
	if m, ok := d.Members[name]; ok {
		return pdb.NewFile(m, m.Bytes, path.Base(m.Name)), nil
	}
	return pdb.Open(name)
}

// nameOf returns the name that a member gives its module if the binary has no name. It returns "" for a file, whose path
// has the name.
func (d *Reader) nameOf(name string) string {
	if m, ok := d.Members[name]; ok {
		return strings.TrimSuffix(path.Base(m.Name), ".debug")
	}
	return ""
}

// packed reports whether the binary is a member, so that no other file lies beside it.
func (d *Reader) packed(name string) bool {
	_, ok := d.Members[name]
	return ok
}

// fileName returns the name of the file for dwarf2sym.Options.
func (d *Reader) fileName(r *Result) string { return cmp.Or(d.Options.FileName, d.nameOf(r.File)) }
