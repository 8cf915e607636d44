package dump

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/symtool/symtool/cmd/symtool/internal/binfile"
	"github.com/symtool/symtool/cmd/symtool/internal/cli"
	"github.com/symtool/symtool/internal/object/objfile"
	"github.com/symtool/symtool/resolve/supplier"
	"github.com/symtool/symtool/symfmt/pdb"
)

// expand makes a result for each operand and, with --store, for each binary of a file with several or of a folder.
func (d *dumper) expand(ctx context.Context) error {
	for _, file := range d.files {
		found, err := d.operand(ctx, file)
		if err != nil {
			return err
		}
		d.results = append(d.results, found...)
	}
	if d.store != "" {
		d.pairOperands()
	}
	d.files = nil
	for _, r := range d.results {
		d.files = append(d.files, r.File)
	}
	return nil
}

func newResult(file, cpu string) *dumpResult {
	return &dumpResult{Result: binfile.Result{File: file}, cpu: cpu}
}

// dsymExtension is that of a bundle that stands for the file in it. Other bundles have libraries and programs besides.
const dsymExtension = ".dSYM"

// operand returns the results for an operand.
func (d *dumper) operand(ctx context.Context, file string) ([]*dumpResult, error) {
	if d.store == "" {
		return []*dumpResult{newResult(file, d.CPU)}, nil
	}
	if cli.IsFolder(file) && (objfile.IsFolder(file) || filepath.Ext(file) != dsymExtension) {
		return d.folder(ctx, file)
	}
	cpus := []string{d.CPU}
	if all := objfile.CPUs(file); d.CPU == "" && len(all) > 0 {
		cpus = all
	}
	var results []*dumpResult
	for _, cpu := range cpus {
		results = append(results, newResult(file, cpu))
	}
	return results, nil
}

// folder returns a result for each build of a binary below a folder, with its debug file or PDB if that is there.
// Links are not followed, and inputs of linkers without a build-id are left out.
func (d *dumper) folder(ctx context.Context, dir string) ([]*dumpResult, error) {
	all, err := supplier.ListBinaries(ctx, dir)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(f supplier.BinaryFile) bool {
		return isLink(f.Path) || f.Object && f.BuildID == "" || f.ID == "" && !f.Code || d.CPU != "" && f.CPU != "" && f.CPU != d.CPU
	})
	builds := map[string]*build{}
	var results []*dumpResult
	for i := range all {
		f := &all[i]
		b := builds[f.ID]
		if b == nil || f.ID == "" {
			b = &build{result: newResult(f.Path, f.CPU)}
			results = append(results, b.result)
			builds[f.ID] = b
		}
		b.add(f)
	}
	if len(results) == 0 {
		r := newResult(dir, "")
		r.fail(fmt.Errorf("%s: no binaries in this folder", dir))
		results = append(results, r)
	}
	return results, nil
}

func isLink(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&fs.ModeSymlink != 0
}

// build is what describes one build of a binary: the binary itself, and a debug file.
type build struct {
	result        *dumpResult
	binary, debug *supplier.BinaryFile
}

// add adds a file. Of several binaries the first with debug information counts, of several debug files the first.
func (b *build) add(f *supplier.BinaryFile) {
	switch {
	case !f.Code && b.debug == nil:
		b.debug = f
	case f.Code && (b.binary == nil || f.DWARF && !b.binary.DWARF):
		b.binary = f
	}
	r := b.result
	if b.binary == nil {
		r.File, r.cpu = b.debug.Path, b.debug.CPU
		return
	}
	r.File, r.cpu = b.binary.Path, b.binary.CPU
	if b.debug != nil && !b.binary.DWARF {
		r.debug = b.debug.Path
	}
}

// pairOperands gives the programs among the operands their PDBs among the operands, which are not dumped for
// themselves.
func (d *dumper) pairOperands() {
	databases := map[string]string{} // by id
	for _, r := range d.results {
		if r.Error == "" && r.debug == "" && binfile.IsPDB(r.File) {
			if id, err := pdb.FileID(r.File); err == nil {
				databases[id] = r.File
			}
		}
	}
	if len(databases) == 0 {
		return
	}
	used := map[string]bool{}
	for _, r := range d.results {
		if id := binfile.ProgramID(r.File); r.Error == "" && r.debug == "" && databases[id] != "" {
			r.debug = databases[id]
			used[r.debug] = true
		}
	}
	d.results = slices.DeleteFunc(d.results, func(r *dumpResult) bool { return used[r.File] })
}

// checkFolders returns an error unless the flags allow the folders among the operands.
func (cfg *dumpConfig) checkFolders() error {
	for _, file := range cfg.files {
		switch {
		case !objfile.IsFolder(file):
		case cfg.store == "":
			return fmt.Errorf("%s is a folder: --store DIR writes the symbol files of all binaries in it", cli.ShellWord(file))
		case cfg.Options.Name+cfg.Options.ID != "":
			return fmt.Errorf("--name and --id are for one file, not for a folder")
		case cfg.Options.Package != "":
			return fmt.Errorf("--dwp is for one file, not for a folder")
		}
	}
	return nil
}
