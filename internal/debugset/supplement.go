package debugset

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// supplement looks for the supplementary file to which l, a link in the file, refers: at
// its path, relative to the folder of the file as given and with symbolic links resolved,
// then by build-id at DIR/.build-id/xx/yyyy.debug for each DIR of the folders. The
// supplementary file must have the id in the link.
func (s *search) supplement(l *object.Link) {
	for _, path := range s.supplementPaths(l) {
		if s.found = s.trySupplement(path, l); s.found != nil {
			return
		}
	}
}

func (s *search) supplementPaths(l *object.Link) (paths []string) {
	switch {
	case l.Name == "" || strings.ContainsRune(l.Name, 0):
	case filepath.IsAbs(l.Name):
		if s.hermetic {
			break
		}
		paths = append(paths, l.Name)
	default:
		for _, dir := range s.ownFolders() {
			paths = append(paths, filepath.Join(dir, l.Name))
		}
	}
	return append(append(paths, s.belowDirs(l)...), BuildIDPaths(s.dirs, l.ID)...)
}

// dwzFolder is the folder in which distributions install supplementary files, below /usr/lib/debug.
const dwzFolder = ".dwz"

// belowDirs returns where a linked file may be in folders of debug files: at its path from .dwz on, as in GDB, and at
// its absolute path, as in a copy of a whole system.
func (s *search) belowDirs(l *object.Link) (paths []string) {
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
	for _, dir := range s.dirs {
		for _, rest := range below {
			if path := filepath.Join(dir, rest); path != name {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// trySupplement opens the file at path; it returns nil if the file is rejected.
func (s *search) trySupplement(path string, l *object.Link) *object.File {
	sup := s.openOther(path)
	if sup == nil {
		return nil
	}
	id := sup.SupplementID()
	if bytes.Equal(sup.BuildID(), l.ID) || bytes.Equal(id, l.ID) {
		return sup
	}
	s.refuseOther(path, "id %x, want %x", id, l.ID)
	sup.Close()
	return nil
}
