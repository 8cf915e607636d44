package debugset

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt/pdb"
)

// PDB returns the path of the PDB of a Windows binary without DWARF: beside it, in the folders, or elsewhere; "" if there is
// none. An error is that of Database.
func (f *Finder) PDB(ctx context.Context, s *Set, binary *object.File) (path string, err error) {
	name, err := binary.Name() // damage is reported when the file is read
	if binary.OS != "windows" || err != nil || binary.HasDWARF() {
		return "", nil
	}
	before, dirs := len(s.Tried), f.Dirs
	if !f.Limits.Hermetic {
		dirs = append([]string{filepath.Dir(binary.Path)}, dirs...)
	}
	if path = findPDB(s, name, binary.ID(), dirs); path == "" && f.Database != nil {
		path, err = f.Database(ctx, s, name, binary.ID())
	}
	if path != "" {
		s.settle(before)
	}
	return path, err
}

// findPDB returns the path of the PDB with a name and an id, as in MODULE, or "". In each folder it looks for
// NAME, and for NAME/ID/NAME, as symbol servers and stores have it, and for the name in small letters: names
// differ in case from one binary to the next on Windows.
func findPDB(s *Set, name, id string, dirs []string) string {
	if name == "" || id == "" || name != filepath.Base(name) {
		return ""
	}
	names := []string{name}
	if low := strings.ToLower(name); low != name {
		names = append(names, low)
	}
	for _, dir := range dirs {
		for _, name := range names {
			path := filepath.Join(dir, name)
			if st, err := os.Stat(path); err == nil && st.IsDir() {
				path = filepath.Join(path, id, name)
			}
			err := pdb.Check(path, id)
			if err == nil {
				return path
			}
			s.Tried = append(s.Tried, object.Tried{Path: path, Why: bin.Bare(err, path), OtherBuild: errors.Is(err, pdb.ErrOtherBuild)})
		}
	}
	return ""
}
