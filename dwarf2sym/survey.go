package dwarf2sym

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/symtool/symtool/internal/object"
)

// Units is what the units of .debug_info say of themselves, type units left out. Its
// JSON fields may be added to, not changed.
type Units struct {
	Total     int         `json:"total"`
	Partial   int         `json:"partial"`    // made by dwz: what several units share
	Skeletons int         `json:"skeletons"`  // whose functions are in .dwo files or packages
	Unread    int         `json:"unread"`     // their first DIE is damaged
	Versions  []UnitCount `json:"versions"`   // "DWARF 5", "DWARF 5, 64-bit"
	Languages []UnitCount `json:"languages"`  // DW_AT_language, without DW_LANG_
	Producers []UnitCount `json:"producers"`  // DW_AT_producer: compiler and options
	DwoNames  []string    `json:"dwo_names"`  // the first of them
	MoreKinds int         `json:"more_kinds"` // units of producers that are not listed
}

// UnitCount is how many units say the same.
type UnitCount struct {
	Name  string `json:"name"`
	Units int    `json:"units"`
}

// maxKinds is how many producers, versions and names are listed: a file may have
// another one in each of a million units.
const maxKinds = 100

// ReadUnits reads the first DIE of each unit of f. sup is the supplementary file
// that may have its strings, or nil. Damage is reported by Read, not here.
// Without .debug_info there are no units.
func ReadUnits(ctx context.Context, f, sup *object.File) (*Units, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r := &reader{opts: &Options{Supplement: sup}, file: f, companions: []companion{{File: f}}}
	d := r.openDebugData()
	if d == nil {
		return &Units{}, ctx.Err()
	}
	d.readUnitHeaders()
	if d.sup != nil {
		d.sup.readUnitHeaders()
	}
	d.allow(effortBase)
	s := &unitSurvey{versions: map[string]int{}, languages: map[string]int{}, producers: map[string]int{}}
	w := newWorker(d, nil, r.opts)
	for i := range d.units {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h := &d.units[i]
		if h.isType() {
			continue
		}
		s.Total++
		s.count(s.versions, versionName(h))
		unit, ok := w.skeletonAt(h)
		if !ok {
			s.Unread++
			continue
		}
		s.add(&unit.unit)
	}
	return s.units(), nil
}

func versionName(h *unitHeader) string {
	name := fmt.Sprintf("DWARF %d", h.version)
	if h.dwarf64 {
		name += ", 64-bit"
	}
	return name
}

// unitSurvey is a Units in the making.
type unitSurvey struct {
	Units
	versions, languages, producers map[string]int
}

func (s *unitSurvey) add(u *unit) {
	if u.dwoName != "" {
		s.Skeletons++
		if len(s.DwoNames) < maxKinds {
			s.DwoNames = append(s.DwoNames, u.dwoName)
		}
		return // its other half has the rest
	}
	if u.partial {
		s.Partial++
		return
	}
	if u.lang != 0 {
		s.count(s.languages, languageName(u.lang))
	}
	if producer := u.str(u.producer); producer != "" {
		s.count(s.producers, producer)
	}
}

// count counts a name, unless there are too many.
func (s *unitSurvey) count(names map[string]int, name string) {
	if names[name] == 0 && len(names) >= maxKinds {
		s.MoreKinds++
		return
	}
	names[name]++
}

func (s *unitSurvey) units() *Units {
	u := s.Units
	u.Versions, u.Languages, u.Producers = sortedCounts(s.versions), sortedCounts(s.languages), sortedCounts(s.producers)
	if u.DwoNames == nil {
		u.DwoNames = []string{}
	}
	return &u
}

// sortedCounts begins with the most frequent; names decide between equals.
func sortedCounts(names map[string]int) []UnitCount {
	all := []UnitCount{}
	for name, n := range names {
		all = append(all, UnitCount{name, n})
	}
	slices.SortFunc(all, func(a, b UnitCount) int { return cmp.Or(b.Units-a.Units, cmp.Compare(a.Name, b.Name)) })
	return all
}
