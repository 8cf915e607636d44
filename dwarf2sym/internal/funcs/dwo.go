package funcs

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/bin"
	"github.com/symtool/symtool/internal/intern"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/internal/object/objfile"
)

// clip shortens a name read from a file, for use in a message.
func clip(name string) string {
	const most = 256
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "..."
	}
	return name
}

// notFound returns the message for a missing .dwo file of u, with the places searched.
func (s *Split) notFound(u *units.Unit) string {
	paths := s.search.Objects(u.CompDir, u.DwoName)
	if len(paths) == 0 && s.search.Hermetic && len(s.packages) == 0 {
		return "is not found: no folder with .dwo files is named"
	}
	if len(paths) == 0 && !s.search.Hermetic {
		return fmt.Sprintf("is not the name of a file (%d bytes)", len(u.DwoName)+len(u.CompDir))
	}
	for i := range paths {
		paths[i] = clip(paths[i])
	}
	for _, p := range s.packages {
		paths = append(paths, p.File.Path)
	}
	return "is not found: looked for " + strings.Join(paths, ", ")
}

// splitUnitsInFiles reads split units from the first .dwo file that has them.
func (w *Worker) splitUnitsInFiles(j *SplitJob) {
	left := j.skeletons
	var refused []string
	for _, path := range j.paths {
		if len(left) == 0 || w.Exhausted {
			return
		}
		f, err := objfile.Open(path, w.Split.limits)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				refused = append(refused, err.Error())
			}
			continue
		}
		before := len(left)
		ids, err := []uint64(nil), error(nil)
		left, ids, err = w.splitUnitsInFile(f, left)
		f.Close()
		switch {
		case err != nil:
			refused = append(refused, err.Error())
		case len(left) == before && len(ids) == 0:
			refused = append(refused, path+" has no units of split DWARF")
		case len(left) > 0:
			refused = append(refused, fmt.Sprintf("%s is stale, its dwo id is %s", path, idList(ids)))
		}
	}
	for i := range left {
		if w.Exhausted {
			return
		}
		h := &w.d.Units[left[i].unit]
		w.damage().Next()
		w.problem(h.Off, fmt.Sprintf("unit at %#x", h.Off), &bin.Error{File: w.d.File, Section: ".debug_info", Offset: h.Off,
			Msg: fmt.Sprintf("the unit's functions are in %s with the dwo id %#x: %s", clip(j.name), left[i].id, strings.Join(refused, "; "))})
		w.skeletonAlone(&left[i])
	}
}

// idList formats the first few ids for a message.
func idList(ids []uint64) string {
	const most = 3
	var out []string
	for i, id := range ids {
		if i == most {
			out = append(out, fmt.Sprintf("or %d others", len(ids)-most))
			break
		}
		out = append(out, fmt.Sprintf("%#x", id))
	}
	return strings.Join(out, ", ")
}

// splitUnitsInFile reads the split units that f has. It returns the skeletons whose split units are not
// in f, and the ids that are.
func (w *Worker) splitUnitsInFile(f *object.File, want []skeleton) (left []skeleton, ids []uint64, err error) {
	all, err := units.OpenSplit(f, w.d, w.Vars != nil)
	if err != nil {
		return want, nil, err
	}
	places := &intern.Offsets{} // shared, as all units of f use one .debug_str.dwo
	left = want
	for i, d := range all {
		if i == 0 && !w.Spend(uint64(len(d.Str)+len(d.Abbrev)+len(d.StrOffsets)+len(d.Rnglists))) {
			return left, ids, nil
		}
		s := w.newFileState(d)
		s.places = places
		main := w.turnTo(s)
		units, problems := w.splitUnitsByID()
		s = w.turnTo(main)
		w.AddDamage(problems)
		for id := range units {
			ids = append(ids, id)
		}
		rest := make([]skeleton, 0, len(left))
		for k := range left {
			sk := &left[k]
			h := units[sk.id]
			switch {
			case h == nil:
				rest = append(rest, *sk)
			case !w.readSplitUnit(sk, h, &s):
				w.skeletonAlone(sk)
			}
		}
		left = rest
	}
	slices.Sort(ids)
	return left, ids, nil
}

// splitUnitsByID returns the compilation units of the current .dwo file by id.
func (w *Worker) splitUnitsByID() (map[uint64]*dwarf.Header, []units.Damage) {
	d := w.d
	problems := d.ReadUnitHeaders()
	units := make(map[uint64]*dwarf.Header)
	for i := range d.Units {
		h := &d.Units[i].Header
		if h.IsType() || !w.Spend(dwarf.MaxHeader) {
			continue
		}
		if id, ok := w.splitIDOf(h); ok && units[id] == nil {
			units[id] = h
		}
	}
	return units, problems.Kept
}
