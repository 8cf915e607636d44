package dwarf2sym

import (
	"cmp"
	"context"
	"fmt"
	"runtime/debug"
	"slices"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/dw"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Units summarises the units of .debug_info, except type units. JSON fields may be added, but not changed.
type Units struct {
	Total     int         `json:"total"`
	Partial   int         `json:"partial"`    // made by dwz from what several units share
	Skeletons int         `json:"skeletons"`  // units whose functions are in .dwo files or packages
	Unread    int         `json:"unread"`     // units whose first DIE is damaged
	Versions  []UnitCount `json:"versions"`   // "DWARF 5", "DWARF 5, 64-bit"
	Languages []UnitCount `json:"languages"`  // DW_AT_language, without DW_LANG_
	Producers []UnitCount `json:"producers"`  // DW_AT_producer: compiler and options
	DwoNames  []string    `json:"dwo_names"`  // the first maxKinds of them
	MoreKinds int         `json:"more_kinds"` // number of units whose producer, version or name is not listed
}

// UnitCount is the number of units that share a property.
type UnitCount struct {
	Name  string `json:"name"`
	Units int    `json:"units"`
}

// maxKinds limits how many producers, versions and names are listed, as each of a million units may have a
// different one.
const maxKinds = 100

// ReadUnits reads the first DIE of each unit of a file. sup is the supplementary file with some of its
// strings, or nil. ReadUnits does not report damage; Read does. A file without .debug_info has no units.
func ReadUnits(ctx context.Context, file, sup symfmt.Binary) (*Units, error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	r, err := newReader(file, &Options{Supplement: sup})
	if err != nil {
		return nil, err
	}
	r.files = []object.Companion{{File: r.file}}
	d := r.openDebugData()
	if d == nil {
		return &Units{}, ctx.Err()
	}
	r.readUnitHeaders(d)
	d.Allow(units.EffortBase)
	s := &unitSurvey{versions: map[string]int{}, languages: map[string]int{}, producers: map[string]int{}}
	opener := units.NewOpener(&dwarf.Meter{Effort: d.Effort}, &units.Unit{}, func(uint64, string, error) {})
	for i := range d.Units {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		h := &d.Units[i].Header
		if h.IsType() {
			continue
		}
		s.Total++
		s.count(s.versions, versionName(h))
		unit, ok := opener.First(d, h)
		if !ok {
			s.Unread++
			continue
		}
		s.add(&unit.Unit)
	}
	return s.units(), nil
}

func versionName(h *dwarf.Header) string {
	name := fmt.Sprintf("DWARF %d", h.Version)
	if h.DWARF64 {
		name += ", 64-bit"
	}
	return name
}

// unitSurvey collects a Units.
type unitSurvey struct {
	Units
	versions, languages, producers map[string]int
}

func (s *unitSurvey) add(u *dwarf.Unit) {
	if u.DwoName != "" {
		s.Skeletons++
		if len(s.DwoNames) < maxKinds {
			s.DwoNames = append(s.DwoNames, u.DwoName)
		}
		return // its split unit holds the rest
	}
	if u.Partial {
		s.Partial++
		return
	}
	if u.Lang != 0 {
		s.count(s.languages, dw.LanguageName(u.Lang))
	}
	if producer := u.Str(u.Producer); producer != "" {
		s.count(s.producers, producer)
	}
}

// count counts a name, unless the table is full.
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

// sortedCounts sorts counts in decreasing order, and equal ones by name.
func sortedCounts(names map[string]int) []UnitCount {
	all := []UnitCount{}
	for name, n := range names {
		all = append(all, UnitCount{name, n})
	}
	slices.SortFunc(all, func(a, b UnitCount) int { return cmp.Or(b.Units-a.Units, cmp.Compare(a.Name, b.Name)) })
	return all
}
