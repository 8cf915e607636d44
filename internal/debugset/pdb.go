package debugset

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"os"

	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/pdb"
)

// findPDB opens the PDB of a Windows binary without DWARF: beside it, in the folders, or elsewhere.
func (f *Finder) findPDB(ctx context.Context, s *Set) error {
	name, err := s.Binary.Name() // damage is reported when the file is read
	if s.Binary.OS != "windows" || err != nil || s.Binary.HasDWARF() || f.RulesOnly {
		return nil
	}
	before, dirs, id := len(s.Tried), f.Dirs, s.Binary.ID()
	if !f.Hermetic {
		dirs = append([]string{filepath.Dir(s.Binary.Path)}, dirs...)
	}
	if s.PDB = searchPDB(s, name, id, dirs); s.PDB != nil {
		if f.Limits.Opened != nil {
			f.Limits.Opened(s.PDB.Path)
		}
	} else if f.Database != nil {
		path, err := f.Database(ctx, s, name, id)
		if err != nil {
			return err
		}
		if path != "" {
			s.PDB, err = pdb.Open(path) // nil if it cannot be opened
			s.lose(lostPDB, err)
		}
	}
	if s.PDB != nil {
		s.found = append(s.found, s.PDB)
		s.settle(before)
	}
	return nil
}

// searchPDB opens the PDB with a name and an id, as in MODULE, or returns nil. In each folder it looks for
// NAME, for NAME/ID/NAME, as symbol servers and stores lay files out, and for the name in lower case: on
// Windows, binaries spell the same name differently.
func searchPDB(s *Set, name, id string, dirs []string) *pdb.File {
	if name == "" || id == "" || name != filepath.Base(name) {
		return nil
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
			found, err := pdb.OpenID(path, id)
			if err == nil {
				return found
			}
			tried := symfmt.Tried{Place: path, Why: bin.Bare(err, path)}
			if errors.Is(err, pdb.ErrOtherBuild) {
				tried.Kind = symfmt.OtherPDB
			}
			s.Tried = append(s.Tried, tried)
		}
	}
	return nil
}
