package funcs

import (
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/codemap"
	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/object"
)

// Split DWARF (DWARF 5, 3.1.2 and 7.3.2; before it, GNU's extension of version
// 4): the binary has a skeleton of each unit, with its addresses, lines and,
// in version 4, range lists. The DIEs are in the split unit: a unit
// in a .dwo file, or in a .dwp file, a package of such files (dwo.go, dwp.go).
// Both have the same id. Skeletons whose split unit can be read are
// left out of the batches and become jobs of their own: one for each .dwo
// file, however many units it has, and one for about a batch's size of a
// package.

// skeleton is a unit in the binary whose split unit is in another file.
type skeleton struct {
	unit int // index in Data.Units
	id   uint64
	row  int // row in the package's index
}

// SplitJob is what a worker reads in one step: split units in one .dwo file,
// or in a package.
type SplitJob struct {
	place     uint64         // offset of the first skeleton, which orders problems
	paths     []string       // where the .dwo file may be
	name      string         // as in the skeletons
	pkg       *units.Package // nil for a .dwo file
	skeletons []skeleton
	Size      int64    // for progress reports
	read      []string // files that contained split units
}

// Split finds the split units of skeletons.
type Split struct {
	search   debugset.Split
	limits   object.Limits // for .dwo files
	packages []*units.Package
	Jobs     []SplitJob
	Size     int64 // total size of all jobs
	Any      bool  // there are skeletons

	filling map[*units.Package]int // the job being filled: index in jobs
	byName  map[dwoKey]int         // index in jobs, or -1 if there is no such file
	sizes   map[string]int64       // sizes of files that were counted
}

// dwoKey is a skeleton's reference to a .dwo file.
type dwoKey struct{ dir, name string }

// FindSplit looks for the split units of all skeletons of d in packages and, with search, in .dwo files. It raises the
// limit on work by their cost. The result owns the packages.
func FindSplit(d *units.Data, search debugset.Split, packages []*units.Package, limits object.Limits) *Split {
	s := &Split{search: search, limits: limits, packages: packages,
		filling: make(map[*units.Package]int), byName: make(map[dwoKey]int), sizes: make(map[string]int64)}
	allow := int64(0)
	for _, p := range packages {
		allow += p.Size()
	}
	m := &dwarf.Meter{Effort: d.Effort}
	opener := units.NewOpener(m, &units.Unit{}, func(uint64, string, error) {})
	for i := range d.Units {
		h := &d.Units[i]
		if h.Version >= 5 && !h.IsSkeleton() {
			continue
		}
		f, ok := opener.First(d, &h.Header)
		if ok && !m.Spend(uint64(len(f.DwoName)+len(f.CompDir))) {
			break
		}
		if ok && f.DwoName != "" {
			s.Any = true
			h.Split = s.add(i, &f.Unit)
		}
	}
	m.Flush()
	for _, n := range s.sizes {
		allow += n
	}
	for i := range s.Jobs {
		s.Size += s.Jobs[i].Size
	}
	if !m.Exhausted {
		d.Effort.Limit += units.EffortRatio * uint64(allow)
	}
	return s
}

// splitIDOf is like splitID, for a unit whose header is all that was read.
func (w *Worker) splitIDOf(h *dwarf.Header) (id uint64, ok bool) {
	if h.Version >= 5 {
		return h.ID, true
	}
	f, ok := w.opener.First(w.d, h)
	if !ok {
		return 0, false
	}
	return f.SplitID(), true
}

// add adds the skeleton u to a job. It reports false if no file can contain
// its split unit.
func (s *Split) add(index int, u *dwarf.Unit) bool {
	sk := skeleton{unit: index, id: u.SplitID()}
	for _, p := range s.packages {
		if row, ok := p.Units.Rows[sk.id]; ok {
			sk.row = row
			s.addPacked(p, sk, u)
			return true
		}
	}
	key := dwoKey{u.CompDir, u.DwoName}
	i, ok := s.byName[key]
	if !ok {
		i = s.addFile(key, u.Off)
		s.byName[key] = i
	}
	if i < 0 {
		return false
	}
	s.Jobs[i].skeletons = append(s.Jobs[i].skeletons, sk)
	return true
}

// addPacked adds a skeleton to the last job of its package, or to a new one.
func (s *Split) addPacked(p *units.Package, sk skeleton, u *dwarf.Unit) {
	info := p.Units.Part(sk.row, dwarf.SectInfo)
	if i, ok := s.filling[p]; ok {
		if j := &s.Jobs[i]; j.Size+int64(info.Size) <= units.BatchSize {
			j.skeletons = append(j.skeletons, sk)
			j.Size += int64(info.Size)
			return
		}
	}
	s.filling[p] = len(s.Jobs)
	s.Jobs = append(s.Jobs, SplitJob{place: u.Off, pkg: p, skeletons: []skeleton{sk}, Size: int64(info.Size)})
}

// addFile makes a job for a .dwo file, if it exists in one of its places. It
// returns the job's index, or -1.
func (s *Split) addFile(key dwoKey, place uint64) int {
	paths := s.search.Objects(key.dir, key.name)
	for _, path := range paths {
		size, ok := debugset.RegularSize(path)
		if !ok {
			continue
		}
		s.sizes[path] = size
		s.Jobs = append(s.Jobs, SplitJob{place: place, paths: paths, name: key.name, Size: size})
		return len(s.Jobs) - 1
	}
	return -1
}

// TypeDamage returns the damage to the packages' indexes of type units.
func (s *Split) TypeDamage() (all []bin.Problem) {
	for _, p := range s.packages {
		if p.Types.Err != nil {
			all = append(all, bin.Problem{Lost: "names of types", Err: p.Types.Err})
		}
	}
	return all
}

// Close releases the packages.
func (s *Split) Close() {
	for _, p := range s.packages {
		p.File.Close()
	}
}

// fileState is what a worker knows about one file with DWARF.
type fileState struct {
	d      *units.Data
	places *intern.Offsets
	tables dwarf.AbbrevCache
	opener *units.Opener
	info   []byte
}

// fileState returns the worker's state for the current file.
func (w *Worker) fileState() fileState {
	return fileState{w.d, w.Names.Places, w.tables, w.opener, w.info}
}

// turnTo makes the worker read another file, and returns its state for the
// previous one: offsets have a meaning in one file only.
func (w *Worker) turnTo(s fileState) (before fileState) {
	before = w.fileState()
	w.d, w.Names.Places, w.tables, w.opener, w.info = s.d, s.places, s.tables, s.opener, s.info
	return before
}

// TurnToObject makes the worker read one of the objects from which a Mach-O file was linked. Problems are ordered by
// place.
func (w *Worker) TurnToObject(d *units.Data, code *codemap.Map, symbols publics.Finder, place uint64) {
	w.job = &SplitJob{place: place}
	w.turnTo(w.newFileState(d))
	*w.Meter = dwarf.Meter{Effort: d.Effort}
	w.code, w.Symbols, w.lineWin = code, symbols, dwarf.NewWindow(d.Line)
}

// newFileState returns the state for a file that the worker has not read yet.
func (w *Worker) newFileState(d *units.Data) fileState {
	return fileState{d: d, places: &intern.Offsets{}, opener: units.NewOpener(w.Meter, &w.u, w.problem)}
}

// ReadSplit reads a job, and returns its share of the progress.
func (w *Worker) ReadSplit(j *SplitJob) int64 {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // as in batch
	w.tables.Reset()
	w.opener.Close()
	w.job = j
	main := w.fileState()
	defer func() {
		if p := recover(); p != nil {
			w.turnTo(main)
			w.skeleton = nil
			w.problem(j.place, "the functions of its units", &bin.Error{File: w.d.File, Msg: fmt.Sprintf("internal error: %v", p)})
		}
		w.job = nil
		w.Flush()
	}()
	if j.pkg != nil {
		w.packedSplitUnits(j)
	} else {
		w.splitUnitsInFiles(j)
	}
	return j.Size
}

// readSplitUnit reads the unit h in the file of s, the split unit of a skeleton. It
// reports false if nothing in it could be read.
func (w *Worker) readSplitUnit(sk *skeleton, h *dwarf.Header, s *fileState) (ok bool) {
	skel, ok := w.opener.First(w.d, &w.d.Units[sk.unit].Header)
	if !ok {
		return false
	}
	main := w.turnTo(*s)
	defer func() { *s = w.turnTo(main) }()
	data, err := w.d.Info.Bytes(int64(h.Off), int64(h.Size), w.info)
	if err != nil {
		w.damage().Next()
		w.problem(h.Off, fmt.Sprintf("unit at %#x", h.Off), err)
		return false
	}
	if cap(data) > cap(w.info) {
		w.info = data[:0]
	}
	if !w.Spend(h.Size) {
		return true
	}
	w.skeleton = &skel.Unit
	defer func() { w.skeleton = nil }()
	if ok = w.unit(h, data); ok {
		w.Stats.Units++
		w.Stats.SplitUnits++
		w.job.readFrom(w.d.File)
	}
	return ok
}

// Units returns the offsets of the job's skeletons in d, the debug information of the binary.
func (j *SplitJob) Units(d *units.Data) (offs []uint64) {
	for _, s := range j.skeletons {
		offs = append(offs, d.Units[s.unit].Off)
	}
	return offs
}

// readFrom records a file that contained a split unit.
func (j *SplitJob) readFrom(file string) {
	if !slices.Contains(j.read, file) {
		j.read = append(j.read, file)
	}
}

// Files lists the files that contained split units, in order of the skeletons.
func (s *Split) Files() (all []string) {
	known := make(map[string]bool)
	for i := range s.Jobs {
		for _, file := range s.Jobs[i].read {
			if !known[file] {
				all = append(all, file)
			}
			known[file] = true
		}
	}
	return all
}

// skeletonAlone reads a skeleton without its split unit: its lines, and the
// inlined functions that the compiler left in it. The reason was reported
// before.
func (w *Worker) skeletonAlone(sk *skeleton) {
	h := &w.d.Units[sk.unit]
	w.reported = true
	defer func() { w.reported = false }()
	data, err := w.d.Info.Bytes(int64(h.Off), int64(h.Size), nil)
	if err != nil || !w.Spend(h.Size) {
		return
	}
	w.unit(&h.Header, data)
}

// lineUnit returns the unit that the line table belongs to.
func (w *Worker) lineUnit() *dwarf.Unit {
	if w.skeleton != nil {
		return w.skeleton
	}
	return &w.u.Unit
}

// reportMissingSplit reports that the split unit of the current unit was not found.
func (w *Worker) reportMissingSplit() {
	u := &w.u
	why := "is not read"
	if w.Split != nil {
		why = w.Split.notFound(u)
	}
	w.problem(u.Off, u.OwnName(), u.Errorf(u.FirstDIE, "the unit's functions are in %s, which %s", clip(u.DwoName), why))
}
