package dwarf2sym

import (
	"fmt"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
)

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

// packedSplitUnits reads split units from a package.
func (w *worker) packedSplitUnits(j *splitJob) {
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
			ok = w.readSplitUnit(sk, h, &s)
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

// unpack finds a skeleton's split unit and its header.
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
