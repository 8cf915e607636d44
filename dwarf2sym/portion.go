package dwarf2sym

import (
	"cmp"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/object"
)

// portion is what is read in one step: a unit, or split units.
type portion struct {
	off  uint64 // of the unit in .debug_info
	size int64  // number of bytes to read; an upper bound until the unit was found
	job  int    // index in Split.Jobs; -1 for a unit
}

// openUnits prepares for reading units. If .debug_info is inflated on demand and there is an index of the units'
// code, units are found as they are needed, otherwise all at once.
func (l *Lookup) openUnits() {
	l.readIndex()
	if l.index != nil {
		l.r.readGradually(l.d)
	}
	if !l.d.Gradual {
		l.r.readUnitHeaders(l.d)
	}
	l.d.Allow(cmp.Or(l.r.effortBase, units.EffortBase))
	if l.d.Gradual {
		l.split = &funcs.Split{}
		l.unitIndex.Store(l.newUnitIndex(byIndex, l.indexedPortions()))
		return
	}
	l.split = l.r.findSplit(l.d)
	first := byUnits
	if l.index != nil {
		first = byIndex
	}
	l.unitIndex.Store(l.newUnitIndex(first, l.portionsOf(l.d.Units)))
}

// readIndex reads the index of the units' code. If it is damaged, lookups only take longer.
func (l *Lookup) readIndex() {
	f := l.r.described()
	if s := f.Section(".debug_aranges"); s != nil && s.HasData() && f.Kind != object.Relocatable {
		if data, err := s.Data(); err == nil {
			l.index = l.d.ReadCodeIndex(data)
		}
		s.Release()
	}
}

// indexedPortions returns a portion for each unit in the index.
func (l *Lookup) indexedPortions() (all []portion) {
	offs := l.index.Units()
	for i, off := range offs {
		end := uint64(l.d.Info.Size())
		if i+1 < len(offs) {
			end = min(end, offs[i+1])
		}
		if off < end {
			all = append(all, portion{off: off, size: int64(end - off), job: -1})
		}
	}
	return all
}

// portionsOf returns the portions of all units.
func (l *Lookup) portionsOf(all []units.Header) (out []portion) {
	for i := range all {
		if h := &all[i]; !h.Split && !h.IsType() {
			out = append(out, portion{off: h.Off, size: int64(h.Size), job: -1})
		}
	}
	for i := range l.split.Jobs {
		out = append(out, portion{size: l.split.Jobs[i].Size, job: i})
	}
	return out
}

// allPortions returns the portions of all units, after finding those not found yet.
func (l *Lookup) allPortions() []portion {
	if !l.d.Gradual {
		return l.portionsOf(l.d.Units)
	}
	all := reader{file: l.r.file}
	defer func() { l.note(all.sortedProblems()) }()
	if err := units.Whole(l.d.Info); err != nil {
		all.problem(problemFile, units.AllFunctions, err)
		return nil
	}
	found := l.d.AllUnits()
	all.addProblems(problemUnits, &l.d.Problems)
	return l.portionsOf(found)
}

// unitsOf returns the offsets of the units of a portion that may declare code.
func (l *Lookup) unitsOf(p *portion) []uint64 {
	if p.job < 0 {
		return []uint64{p.off}
	}
	return l.split.Jobs[p.job].Units(l.d)
}

// declaredIndex returns the index of the code that units declare.
func (l *Lookup) declaredIndex() *unitIndex {
	if o := l.unitIndex.Load(); o.source == byUnits {
		return o
	}
	return l.newUnitIndex(byUnits, l.allPortions())
}

// newUnitIndex returns the index of the code that units declare or, with byIndex, that the index lists for them.
func (l *Lookup) newUnitIndex(source indexOrigin, portions []portion) *unitIndex {
	w := l.newWorker(l.d.Effort)
	var all []extent
	for i := range portions {
		for _, off := range l.unitsOf(&portions[i]) {
			spans, ok := []dwarf.Span(nil), false
			if source == byIndex {
				spans, ok = l.index.Of(off)
			}
			if !ok {
				spans = w.DeclaredAt(off)
			}
			spans = l.r.code.Within(spans)
			if !w.Spend(uint64(len(spans)) * dwarf.SpanCost) {
				return newUnitIndex(source, portions, nil) // the index of functions, which is made next, reports it
			}
			for _, s := range spans {
				all = append(all, extent{l.withOpenSymbol(s), unitRef{portion: int32(i)}})
			}
		}
	}
	return newUnitIndex(source, portions, all)
}

// confirm reports whether the units of a group are where the index says, and whether the index lists all units with
// code that were found so far. Units after those that were looked up, which are not inflated yet, are assumed to be
// listed.
func (l *Lookup) confirm(g *Group) bool {
	if !l.d.Gradual || g.of.source != byIndex {
		return true
	}
	for _, p := range g.portions {
		if only := l.d.Only(g.of.portions[p].off); len(only) == 0 || only[0].IsType() {
			return false
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.newWorker(l.d.Effort)
	for _, h := range l.d.FoundFrom(l.confirmed) {
		if _, ok := l.index.Of(h.Off); !ok && !h.IsType() && len(l.r.code.Within(w.DeclaredAt(h.Off))) > 0 {
			return false
		}
		l.confirmed++
	}
	return true
}
