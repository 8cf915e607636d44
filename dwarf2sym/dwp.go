package dwarf2sym

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// openPackages opens the packages that belong to the file: the one that the user named,
// or those next to the file and its debug file.
func (r *reader) openPackages(main *units.Data) (all []*units.Package) {
	if name := r.opts.Package; name != "" {
		return r.openPackage(all, name, main)
	}
	for _, path := range r.packagePaths() {
		if _, ok := regularSize(path); ok {
			all = r.openPackage(all, path, main)
		}
	}
	return all
}

// packagePaths lists where to look for a package: at FILE.dwp, where FILE is
// the file's path or the target of a symbolic link, and in the folders with
// .dwo files. With Options.Hermetic it lists only those folders.
func (r *reader) packagePaths() (paths []string) {
	add := func(path string) {
		if path = filepath.Clean(path) + ".dwp"; !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	for _, f := range []*object.File{r.file, r.debug} {
		if f == nil || f.Path == "" {
			continue
		}
		if !r.opts.Hermetic {
			add(f.Path)
			if real, err := filepath.EvalSymlinks(f.Path); err == nil {
				add(real)
			}
		}
		for _, dir := range r.opts.DwoDirs {
			add(filepath.Join(dir, filepath.Base(f.Path)))
		}
	}
	return paths
}

func (r *reader) openPackage(all []*units.Package, path string, main *units.Data) []*units.Package {
	f, err := r.opts.open(path)
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

// packedHalves reads other halves from a package.
func (w *worker) packedHalves(j *splitJob) {
	p := j.pkg
	x := units.Unpacker{P: p, M: w.Meter, Locations: w.vars != nil}
	var buf []byte // for .debug_info.dwo
	for i := range j.skeletons {
		sk := &j.skeletons[i]
		if w.Exhausted {
			return
		}
		s := w.newFileState(nil)
		s.places, s.info = w.names.Pool(p), buf
		ok := false
		h, err := w.unpack(&x, sk, &s)
		if err == nil {
			ok = w.halfOf(sk, h, &s)
			buf = s.info
		} else if !w.Exhausted {
			skel := &w.d.Units[sk.unit]
			w.damage().Next()
			w.problem(skel.Off, fmt.Sprintf("unit at %#x", skel.Off), err)
		}
		if !ok && !w.Exhausted {
			w.skeletonAlone(sk)
		}
	}
}

// unpack finds a skeleton's other half and its header.
func (w *worker) unpack(x *units.Unpacker, sk *skeleton, s *fileState) (*dwarf.Header, error) {
	d, err := x.Unit(w.d, sk.row)
	if err != nil {
		return nil, err
	}
	s.d = d
	main := w.turnTo(*s)
	defer func() { *s = w.turnTo(main) }()
	var other uint64
	for i := range d.Units {
		h := &d.Units[i].Header
		if h.IsType() {
			continue
		}
		id, ok := w.splitIDOf(h)
		if !ok {
			continue
		}
		if other = id; id == sk.id {
			return h, nil
		}
	}
	if len(d.Problems.Kept) > 0 {
		return nil, d.Problems.Kept[0].Err
	}
	return nil, &bin.Error{File: d.File, Section: dwarf.SectNames[dwarf.SectInfo], Offset: x.P.Units.Part(sk.row, dwarf.SectInfo).Off,
		Msg: fmt.Sprintf("the unit that %s gives the dwo id %#x has the id %#x", dwarf.CUIndex, sk.id, other)}
}
