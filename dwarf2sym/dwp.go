package dwarf2sym

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/intern"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/object"
)

// dwp is a package of .dwo files (DWARF 5, 7.3.5). Its sections are read piece
// by piece, except for the strings, which all units share.
type dwp struct {
	file  *object.File
	order dwarf.Order
	sects [dwarf.SectCount]object.Source // nil if there is no such section
	str   []byte

	oldLocs bool // location lists are those of GNU's split DWARF 4

	units dwarf.PackIndex
	types packTypes // from .debug_tu_index

	job int // the job being filled, an index in splitter.jobs, or -1
}

// openPackages opens the packages that belong to the file: the one that the
// user named, or those next to the file and its debug file.
func (r *reader) openPackages(main *debugData) (all []*dwp) {
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

// packagePaths lists where a package is looked for: FILE.dwp, by FILE's name
// and by the name that a symbolic link leads to, and in the folders with .dwo
// files. With Options.Hermetic it lists only the latter.
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

func (r *reader) openPackage(all []*dwp, path string, main *debugData) []*dwp {
	f, err := r.opts.open(path)
	if err == nil {
		var p *dwp
		if p, err = newPackage(f, main); err == nil {
			return append(all, p)
		}
		f.Close()
	}
	r.problem(problemFile, "the functions in it", err)
	return all
}

// newPackage reads the index of a package and opens its sections.
func newPackage(f *object.File, main *debugData) (*dwp, error) {
	if err := main.checkOrder(f); err != nil {
		return nil, err
	}
	p := &dwp{file: f, order: main.Order, job: -1}
	for i, name := range dwarf.SectNames {
		s := f.Section(name)
		if s == nil && i == dwarf.SectLocs {
			s, p.oldLocs = f.Section(".debug_loc.dwo"), true
		}
		if s == nil || !s.HasData() {
			continue
		}
		src, err := openWhole(s)
		if err != nil {
			return nil, err
		}
		p.sects[i] = src
	}
	if p.sects[dwarf.SectInfo] == nil || p.sects[dwarf.SectAbbrev] == nil {
		return nil, &bin.Error{File: f.Path, Msg: "not a package: .debug_info.dwo or .debug_abbrev.dwo is missing"}
	}
	str, err := wholeSection(f, ".debug_str.dwo")
	if err != nil {
		return nil, err
	}
	p.str = wholeStrings(str)
	p.units, err = readIndex(f, dwarf.CUIndex)
	return p, err
}

// size returns the number of bytes to be read.
func (p *dwp) size() int64 {
	n := int64(len(p.str))
	for _, s := range p.sects {
		if s != nil {
			n += s.Size()
		}
	}
	return n
}

// piece is the part of a section of a package that was read last.
type piece struct {
	dwarf.Part
	data []byte
	buf  []byte
}

// packedHalves reads other halves in a package.
func (w *worker) packedHalves(j *splitJob) {
	p := j.pkg
	if w.pools == nil {
		w.pools = make(map[*dwp]*intern.Offsets)
	}
	if w.pools[p] == nil {
		w.pools[p] = &intern.Offsets{}
	}
	var pieces [dwarf.SectCount]piece
	var buf []byte // for .debug_info.dwo
	for i := range j.skeletons {
		sk := &j.skeletons[i]
		if w.Exhausted {
			return
		}
		s := w.newFileState(nil)
		s.places, s.info = w.pools[p], buf
		ok := false
		h, err := w.unpack(p, sk, &pieces, &s)
		if err == nil {
			ok = w.halfOf(sk, h, &s)
			buf = s.info
		} else if !w.Exhausted {
			skel := &w.d.units[sk.unit]
			w.damage().next()
			w.problem(skel.Off, fmt.Sprintf("unit at %#x", skel.Off), err)
		}
		if !ok && !w.Exhausted {
			w.skeletonAlone(sk)
		}
	}
}

// unpack finds the parts of a skeleton's other half, and its header.
func (w *worker) unpack(p *dwp, sk *skeleton, pieces *[dwarf.SectCount]piece, s *fileState) (*dwarf.Header, error) {
	d := &debugData{half: &half{file: w.d.File}, packed: newPackedTypes(p), Sections: dwarf.Sections{
		File: p.file.Path, Order: p.order,
		Addr: w.d.Addr, Ranges: w.d.Ranges, Str: p.str, Info: p.sects[dwarf.SectInfo],
	}}
	for _, t := range []struct {
		sect int
		data *[]byte
		off  *uint64
	}{
		{dwarf.SectAbbrev, &d.Abbrev, &d.half.abbrev},
		{dwarf.SectStrOffsets, &d.StrOffsets, &d.half.strOffsets},
		{dwarf.SectRnglists, &d.Rnglists, &d.half.rnglists},
	} {
		got, err := w.piece(p, sk.row, t.sect, &pieces[t.sect])
		if err != nil {
			return nil, err
		}
		*t.data, *t.off = got.data, got.Off
	}
	if w.vars != nil {
		locs, err := w.piece(p, sk.row, dwarf.SectLocs, &pieces[dwarf.SectLocs])
		if err != nil {
			return nil, err
		}
		if d.Loclists = locs.data; p.oldLocs {
			d.Loc, d.Loclists, d.OldSplit = locs.data, nil, true
		}
	}
	info := p.units.Part(sk.row, dwarf.SectInfo)
	if err := p.inside(&p.units, info, dwarf.SectInfo); err != nil {
		return nil, err
	}
	problems := d.walkUnits(info.Off, info.Off+info.Size)
	if !w.Spend(dwarf.MaxHeader * uint64(1+len(d.units))) {
		return nil, dwarf.ErrExhausted
	}
	s.d = d
	main := w.turnTo(*s)
	defer func() { *s = w.turnTo(main) }()
	var other uint64
	for i := range d.units {
		h := &d.units[i].Header
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
	if len(problems.kept) > 0 {
		return nil, problems.kept[0].Err
	}
	return nil, &bin.Error{File: p.file.Path, Section: dwarf.SectNames[dwarf.SectInfo], Offset: info.Off,
		Msg: fmt.Sprintf("the unit that %s gives the dwo id %#x has the id %#x", dwarf.CUIndex, sk.id, other)}
}

// piece reads a unit's part of a section, unless it was the last one read, as
// the units of one .dwo file share theirs.
func (w *worker) piece(p *dwp, row, sect int, last *piece) (*piece, error) {
	want := p.units.Part(row, sect)
	if want.Size == 0 || last.data != nil && want == last.Part {
		if want.Size == 0 {
			last.Part, last.data = dwarf.Part{}, nil
		}
		return last, nil
	}
	if err := p.inside(&p.units, want, sect); err != nil {
		return nil, err
	}
	if !w.Spend(want.Size) {
		return nil, dwarf.ErrExhausted
	}
	data, err := p.sects[sect].Bytes(int64(want.Off), int64(want.Size), last.buf)
	if err != nil {
		last.data = nil
		return nil, err
	}
	if cap(data) > cap(last.buf) {
		last.buf = data[:0]
	}
	last.Part, last.data = want, data
	return last, nil
}

// inside returns an error unless part t is within its section.
func (p *dwp) inside(x *dwarf.PackIndex, t dwarf.Part, sect int) error {
	total := uint64(0)
	if p.sects[sect] != nil {
		total = uint64(p.sects[sect].Size())
	}
	if t.Off > total || t.Size > total-t.Off {
		return x.Errorf(0, "%d bytes at %#x do not fit into the %d bytes of %s", t.Size, t.Off, total, dwarf.SectNames[sect])
	}
	return nil
}

// readIndex reads the index called name of the package f, if present.
func readIndex(f *object.File, name string) (x dwarf.PackIndex, err error) {
	x = dwarf.PackIndex{Name: name, File: f.Path, Order: orderOf(f)}
	data, err := wholeSection(f, name)
	if err == nil {
		err = x.Read(data)
	}
	return x, err
}
