package debugset

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/symtool/symtool/internal/object"
)

// Split specifies where the .dwo files of split DWARF (DWARF 5, 3.1.2) and packages of them may be.
type Split struct {
	Files    []*object.File // the binary and its debug file, which may be nil
	Dirs     []string       // folders that the user named
	Hermetic bool           // search only Dirs
}

// maxPath is the length of the longest path that Linux accepts.
const maxPath = 4096

// Objects lists where a .dwo file may be: where the skeleton says, next to the binary and its debug file, and in Dirs.
// The latter two are also searched for its base name.
func (s *Split) Objects(compDir, name string) (paths []string) {
	if len(compDir)+len(name) >= maxPath {
		return nil
	}
	add := func(dir, name string) {
		if path := filepath.Join(dir, name); !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	abs, base := filepath.IsAbs(name), filepath.Base(name)
	if s.Hermetic {
		// A hermetic search does not look where the skeleton says.
	} else if abs {
		add("", name)
	} else if compDir != "" {
		add(compDir, name)
	}
	for _, f := range s.Files {
		if f == nil || f.Path == "" || s.Hermetic {
			continue
		}
		dir := filepath.Dir(f.Path)
		if !abs {
			add(dir, name)
		}
		add(dir, base)
	}
	for _, dir := range s.Dirs {
		if !s.Hermetic || abs || filepath.IsLocal(name) {
			add(dir, name)
		}
		add(dir, base)
	}
	return paths
}

// Packages lists the packages that exist: at FILE.dwp, where FILE is the path of the binary or of its debug file, or
// the target of a symbolic link, and in Dirs.
func (s *Split) Packages() (paths []string) {
	add := func(path string) {
		if path += ".dwp"; !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, f := range s.Files {
		if f == nil || f.Path == "" {
			continue
		}
		if !s.Hermetic {
			add(filepath.Clean(f.Path))
			if real, err := filepath.EvalSymlinks(f.Path); err == nil {
				add(real)
			}
		}
		for _, dir := range s.Dirs {
			add(filepath.Join(dir, filepath.Base(f.Path)))
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { _, ok := RegularSize(path); return !ok })
}

// RegularSize returns the size of the regular file at path. It reports false if there is none.
func RegularSize(path string) (int64, bool) {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return 0, false
	}
	return st.Size(), true
}
