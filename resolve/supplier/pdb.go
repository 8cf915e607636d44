package supplier

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt/pdb"
)

// onlyPDB returns the path of the PDB of a module whose binary is missing, or "". A module without an id gets the only
// PDB of its name.
func (b *Binaries) onlyPDB(ctx context.Context, s *search) (path string, err error) {
	x, err := b.indexed(ctx, s)
	if err != nil {
		return "", err
	}
	if s.m.DebugID != "" {
		return x.pdbs[strings.ToUpper(s.m.DebugID)], nil
	}
	for _, p := range x.pdbs {
		if !unknown(&s.m) && !called(&s.m, filepath.Base(p)) {
			continue
		}
		if path != "" {
			return "", nil
		}
		path = p
	}
	return path, nil
}

// readPDB returns the symbols of a PDB alone.
func readPDB(ctx context.Context, path string) (resolve.Symbols, error) {
	f, err := pdb.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	read, err := dwarf2sym.ReadPDB(ctx, f, dwarf2sym.Options{Demangle: true})
	if err != nil {
		return nil, err
	}
	return resolve.FromModule(read.Module, resolve.ModuleOptions{Path: path, Problems: read.Problems}), nil
}
