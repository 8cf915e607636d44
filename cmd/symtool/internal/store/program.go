package store

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/cmd/symtool/internal/formats"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/resolve/store"
)

// addProgram adds a Windows program or a PDB unchanged.
func (r *storeRun) addProgram(ctx context.Context, f *os.File, file string) (*store.Addition, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, cli.FileError(file, err)
	}
	id, err := binfile.StoreID(f, st.Size(), file)
	if err != nil {
		return nil, cli.FileError(file, err)
	}
	a, err := r.store.AddProgram(bin.ContextReader(ctx, f), filepath.Base(file), id)
	return a, r.addError(file, err)
}

// programSuffixes returns the suffixes of the Windows programs and PDBs that are added from a folder.
func programSuffixes() []string {
	return slices.Concat(formats.Named("pe").Exts, formats.Named("pdb").Exts)
}

func hasProgramSuffix(path string) bool {
	return slices.Contains(programSuffixes(), strings.ToLower(filepath.Ext(path)))
}
