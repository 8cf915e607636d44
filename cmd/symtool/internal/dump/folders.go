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
)

// expand makes a result for each operand and, with --store, for each binary in a folder or in a file with several
// binaries. Packages are read later.
func (d *dumper) expand(ctx context.Context) error {
	d.plan = newPlan(d.packages.scratch / 2)
	for _, file := range d.files {
		found, err := d.operand(ctx, file)
		if err != nil {
			return err
		}
		d.results = append(d.results, found...)
	}
	if len(d.results) > 1 || len(d.archives) > 0 {
		d.joinOperands()
	}
	d.awaitPackages()
	d.results = slices.DeleteFunc(d.results, d.skipResult)
	d.files = nil
	for i, r := range d.results {
		r.number = i
		d.files = append(d.files, r.File)
	}
	d.files = append(d.files, d.archives...)
	return nil
}

// awaitPackages postpones the files whose counterparts may be in packages.
func (d *dumper) awaitPackages() {
	var now []*dumpResult
	var later []*build
	for _, r := range d.results {
		switch b := r.build; {
		case b == nil:
			now = append(now, r)
		case d.plan.supplementary(b):
		case len(d.archives) == 0 || b.queued:
			d.plan.take(b)
			now = append(now, r)
		default:
			later = append(later, b)
		}
	}
	d.results, d.plan.order, d.plan.complete = now, later, nil
}

// joinOperands adds the files among the operands to the builds of the plan. A debug file or PDB is not dumped by
// itself if its binary is also an operand, or below one.
func (d *dumper) joinOperands() {
	d.results = slices.DeleteFunc(d.results, func(r *dumpResult) bool {
		if r.build != nil || r.Error != "" {
			return false
		}
		f := partOf(r)
		if f == nil {
			return false
		}
		b := d.plan.builds[f.ID]
		switch {
		case b == nil:
			r.build = d.plan.addTo(&build{result: r}, f)
			return false
		case b.lacks(f):
			d.plan.addTo(b, f)
			return true
		}
		return false // a second copy
	})
}

// partOf returns the file of an operand as a part of a build, or nil if it has no ID.
func partOf(r *dumpResult) *part {
	path := objfile.InBundle(r.File)
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return nil
	}
	files := supplier.ReadBinaries(f, st.Size(), r.File)
	i := slices.IndexFunc(files, func(f supplier.BinaryFile) bool { return f.ID != "" && (f.CPU == r.cpu || len(files) == 1) })
	if i < 0 {
		return nil
	}
	files[i].CPU = r.cpu
	return &part{BinaryFile: files[i]}
}

func newResult(file, cpu string) *dumpResult {
	return &dumpResult{Result: binfile.Result{File: file}, cpu: cpu}
}

// dsymExtension is the extension of a bundle that stands for the file in it. Other bundles also contain libraries and
// programs.
const dsymExtension = ".dSYM"

// isFolder reports whether an operand is a folder in which every binary is dumped.
func isFolder(path string) bool {
	if !cli.IsFolder(path) {
		return false
	}
	return objfile.IsFolder(path) || filepath.Ext(path) != dsymExtension || len(objfile.DSYMFiles(path)) > 1
}

// operand returns the results for an operand.
func (d *dumper) operand(ctx context.Context, file string) ([]*dumpResult, error) {
	if d.store == "" {
		r := newResult(file, d.CPU)
		if f := formatOf(file); f != nil && f.Hint() != "" { // an AppImage is also a binary
			r.fail(fmt.Errorf("%s: %s, which is not read: %s", file, f.What, f.Hint()))
		}
		return []*dumpResult{r}, nil
	}
	if isFolder(file) {
		return d.folder(ctx, file)
	}
	if formatOf(file) != nil {
		d.archives = append(d.archives, file)
		return nil, nil
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

// folder returns a result for each build of a binary below a folder, together with its debug file or PDB if the folder
// has it. Links are not followed, and relocatable files without a build-id are omitted.
func (d *dumper) folder(ctx context.Context, dir string) ([]*dumpResult, error) {
	all, err := supplier.ListBinaries(ctx, dir)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(f supplier.BinaryFile) bool {
		return isLink(f.Path) || left(&f, d.CPU)
	})
	var results []*dumpResult
	for i := range all {
		if b := d.plan.add(&part{BinaryFile: all[i]}); b.result.build == nil {
			b.result.build = b
			results = append(results, b.result)
		}
	}
	packages := listPackages(ctx, dir)
	d.archives = append(d.archives, packages...)
	if len(all) == 0 && len(packages) == 0 {
		results = append(results, d.without(dir, "no binaries in this folder"+libraryHint(ctx, dir)))
	}
	return results, nil
}

// libraryHint names a static library in a folder without binaries (many an .xcframework is such a folder). It returns
// "" if there is none.
func libraryHint(ctx context.Context, dir string) (hint string) {
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || ctx.Err() != nil || hint != "" {
			return fs.SkipAll
		}
		if e.Type().IsRegular() && filepath.Ext(path) == ".a" {
			hint = fmt.Sprintf(", but static libraries, such as %s: take their members out (ar x) and name those", path)
		}
		return nil
	})
	return hint
}

// without returns the result for an operand that contains nothing to dump.
func (d *dumper) without(file, what string) *dumpResult {
	r := newResult(file, "")
	r.damaged = true
	if slices.Contains(d.accept, noBinaries) {
		r.Note(cli.StatusOK, "%s: %s", file, what)
	} else {
		r.fail(fmt.Errorf("%s: %s", file, what))
	}
	return r
}

func isLink(path string) bool {
	st, err := os.Lstat(path)
	return err == nil && st.Mode()&fs.ModeSymlink != 0
}

// checkFolders returns an error unless the flags allow the folders and packages among the operands. Without --store,
// the error from reading a package says what it is.
func (cfg *dumpConfig) checkFolders() error {
	for _, file := range cfg.files {
		what := ""
		if objfile.IsFolder(file) {
			what = "a folder"
		} else if f := formatOf(file); f != nil && cfg.store != "" {
			what = f.What
		}
		switch {
		case what == "":
		case cfg.store == "":
			return fmt.Errorf("%s is %s: --store DIR writes the symbol files of all binaries in it", cli.ShellWord(file), what)
		case cfg.Options.Name+cfg.Options.ID != "":
			return fmt.Errorf("--name and --id are for one file, not for %s", what)
		case cfg.Options.Package != "":
			return fmt.Errorf("--dwp is for one file, not for %s", what)
		}
	}
	return nil
}
