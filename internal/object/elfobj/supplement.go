package elfobj

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// Supplement implements object.Container: it returns the link to the file's supplementary file, or nil.
// It is in .gnu_debugaltlink (name, NUL, build-id) or, for DWARF 5, in
// .debug_sup (7.3.6). A supplementary file itself has no link.
func (f *File) Supplement() (*object.Link, error) {
	if s := f.Section(".gnu_debugaltlink"); s != nil && s.HasData() {
		data, err := s.Data()
		if err != nil {
			return nil, err
		}
		c := bin.New(s.Name, data, f.Order)
		name := c.CStr()
		id := c.Bytes(uint64(c.Len()))
		return f.checkLink(&c, &object.Link{Section: s.Name, Name: string(name), ID: id})
	}
	l, supplementary, err := f.debugSup()
	if supplementary {
		return nil, nil
	}
	return l, err
}

// debugSup decodes .debug_sup.
func (f *File) debugSup() (l *object.Link, supplementary bool, err error) {
	s := f.Section(".debug_sup")
	if s == nil || !s.HasData() {
		return nil, false, nil
	}
	data, err := s.Data()
	if err != nil {
		return nil, false, err
	}
	c := bin.New(s.Name, data, f.Order)
	if v := c.U16(); c.Err() == nil && v != 5 {
		c.Fail("version %d, want 5", v)
	}
	supplementary = c.U8() != 0
	name := c.CStr()
	id := c.Bytes(c.ULEB())
	l, err = f.checkLink(&c, &object.Link{Section: s.Name, Name: string(name), ID: id})
	return l, supplementary, err
}

// SupplementID implements object.Container: it returns the id by which other files link to this one: the checksum in .debug_sup, or the build-id.
func (f *File) SupplementID() []byte {
	if own, supplementary, _ := f.debugSup(); own != nil && supplementary {
		return own.ID
	}
	return f.BuildID()
}

func (f *File) checkLink(c *bin.Cursor, l *object.Link) (*object.Link, error) {
	if err := c.Err(); err != nil {
		if e, ok := err.(*bin.Error); ok {
			e.File = f.Path
		}
		return nil, err
	}
	if len(l.ID) == 0 {
		return nil, &bin.Error{File: f.Path, Section: l.Section, Msg: "link to a supplementary file without an id"}
	}
	return l, nil
}

// FindSupplement looks for the supplementary file that l, a link of f, names: at
// its path, relative to the folder of f as given and with symbolic links resolved,
// then by build-id at DIR/.build-id/xx/yyyy.debug for each DIR of dirs. It must have
// the id in the link. The results are like those of FindDebug.
func FindSupplement(f *File, l *object.Link, dirs []string, lim object.Limits) (sup *File, tried []object.Tried, err error) {
	s := object.Search{Finder: finder, File: f.Object(), Dirs: dirs, Limits: lim}
	for _, path := range supplementPaths(&s, l) {
		if sup = trySupplement(&s, path, l); sup != nil {
			return sup, s.Tried, nil
		}
	}
	return nil, s.Tried, s.Damage
}

func supplementPaths(s *object.Search, l *object.Link) (paths []string) {
	switch {
	case l.Name == "" || strings.ContainsRune(l.Name, 0):
	case filepath.IsAbs(l.Name):
		if s.Limits.Hermetic {
			break
		}
		paths = append(paths, l.Name)
	default:
		for _, dir := range s.OwnFolders() {
			paths = append(paths, filepath.Join(dir, l.Name))
		}
	}
	return append(append(paths, belowDirs(s, l)...), s.BuildIDPaths(l.ID)...)
}

// dwzFolder is the folder in which distributions install supplementary files, below /usr/lib/debug.
const dwzFolder = ".dwz"

// belowDirs returns where the file that a link names may be in folders of debug files: its path from .dwz on, as GDB looks
// for it, and its absolute path, as in a copy of the whole system.
func belowDirs(s *object.Search, l *object.Link) (paths []string) {
	if l.Name == "" || strings.ContainsRune(l.Name, 0) {
		return nil
	}
	name := filepath.Clean(l.Name)
	var below []string
	parts := strings.Split(name, string(filepath.Separator))
	if i := slices.Index(parts, dwzFolder); i >= 0 {
		below = append(below, filepath.Join(parts[i:]...))
	}
	if filepath.IsAbs(name) {
		below = append(below, name)
	}
	for _, dir := range s.Dirs {
		for _, rest := range below {
			if path := filepath.Join(dir, rest); path != name {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// trySupplement opens the file at path; it returns nil if the file is rejected.
func trySupplement(s *object.Search, path string, l *object.Link) *File {
	sup := Of(s.OpenOther(path))
	if sup == nil {
		return nil
	}
	id := sup.SupplementID()
	if bytes.Equal(sup.BuildID(), l.ID) || bytes.Equal(id, l.ID) {
		return sup
	}
	s.RefuseOther(path, "id %x, want %x", id, l.ID)
	sup.Close()
	return nil
}

// FindDebug looks for the separate debug file of f, as object.Finder does.
func FindDebug(f *File, dirs []string, lim object.Limits) (debug *File, tried []object.Tried, err error) {
	found, tried, err := finder.FindDebug(f.Object(), dirs, lim)
	return Of(found), tried, err
}

var finder = object.Finder{
	Open: func(path string, lim object.Limits) (*object.File, error) {
		f, err := Open(path, lim)
		return f.Object(), err
	},
}
