package dwarf2sym

import (
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// splitFiles returns where the .dwo files and packages of the binary may be.
func (r *reader) splitFiles() debugset.Split {
	return debugset.Split{Files: []*object.File{r.file, r.debug}, Dirs: r.opts.DwoDirs, Hermetic: r.opts.Hermetic}
}

// findSplit finds the split units of d's skeletons.
func (r *reader) findSplit(d *units.Data) *funcs.Split {
	if !d.HasSkeletons() {
		return &funcs.Split{}
	}
	s := funcs.FindSplit(d, r.splitFiles(), r.openPackages(d), r.opts.limits())
	r.report.PackageUnused = r.report.PackageUnused && !s.Any
	return s
}

// openPackages opens the packages that belong to the file: the one that the user named, or those that are found.
func (r *reader) openPackages(main *units.Data) (all []*units.Package) {
	if name := r.opts.Package; name != "" {
		return r.openPackage(all, name, main)
	}
	search := r.splitFiles()
	for _, path := range search.Packages() {
		all = r.openPackage(all, path, main)
	}
	return all
}

func (r *reader) openPackage(all []*units.Package, path string, main *units.Data) []*units.Package {
	f, err := objfile.Open(path, r.opts.limits())
	if err == nil {
		var p *units.Package
		if p, err = units.NewPackage(f, main); err == nil {
			return append(all, p)
		}
		f.Close()
	}
	r.problem(problemFile, "the functions in it", err)
	return all
}
