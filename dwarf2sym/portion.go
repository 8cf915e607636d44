package dwarf2sym

import (
	"cmp"
	"context"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/lookup"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/object"
)

// openUnits prepares for reading units. If .debug_info is inflated on demand and there is an index of the units'
// code, units are found as they are needed, otherwise all at once.
func (l *Lookup) openUnits(ctx context.Context) {
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
		l.unitIndex.Store(l.newUnitIndex(ctx, lookup.Listed, l.indexedPortions()))
		return
	}
	l.split = l.r.findSplit(l.d)
	first := lookup.Declared
	if l.index != nil {
		first = lookup.Listed
	}
	l.unitIndex.Store(l.newUnitIndex(ctx, first, l.portionsOf(l.d.Units)))
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
func (l *Lookup) indexedPortions() (all []lookup.Portion) {
	offs := l.index.Units()
	for i, off := range offs {
		end := uint64(l.d.Info.Size())
		if i+1 < len(offs) {
			end = min(end, offs[i+1])
		}
		if off < end {
			all = append(all, lookup.Portion{Off: off, Size: int64(end - off), Job: -1})
		}
	}
	return all
}

// portionsOf returns the portions of all units.
func (l *Lookup) portionsOf(all []units.Header) (out []lookup.Portion) {
	for i := range all {
		if h := &all[i]; !h.Split && !h.IsType() {
			out = append(out, lookup.Portion{Off: h.Off, Size: int64(h.Size), Job: -1})
		}
	}
	for i := range l.split.Jobs {
		out = append(out, lookup.Portion{Size: l.split.Jobs[i].Size, Job: i})
	}
	return out
}

// allPortions returns the portions of all units, after finding those not found yet.
func (l *Lookup) allPortions() []lookup.Portion {
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
func (l *Lookup) unitsOf(p *lookup.Portion) []uint64 {
	if p.Job < 0 {
		return []uint64{p.Off}
	}
	return l.split.Jobs[p.Job].Units(l.d)
}

// declaredIndex returns the index of the code that units declare, or nil if the context has ended.
func (l *Lookup) declaredIndex(ctx context.Context) *lookup.Index {
	return *l.declared.Do(ctx, func(x **lookup.Index) {
		if *x = l.unitIndex.Load(); (*x).Origin != lookup.Declared {
			*x = l.newUnitIndex(ctx, lookup.Declared, l.allPortions())
		}
	})
}

// newUnitIndex returns the index of the code that units declare or, with lookup.Listed, that the index lists for them. It
// is incomplete if the context ends.
func (l *Lookup) newUnitIndex(ctx context.Context, origin lookup.Origin, portions []lookup.Portion) *lookup.Index {
	w := l.newWorker(l.d.Effort)
	var all []lookup.Extent
	for i := range portions {
		if ctx.Err() != nil {
			break
		}
		for _, off := range l.unitsOf(&portions[i]) {
			spans, ok := []dwarf.Span(nil), false
			if origin == lookup.Listed {
				spans, ok = l.index.Of(off)
			}
			if !ok {
				spans = w.DeclaredAt(off)
			}
			spans = l.r.code.Within(spans)
			if !w.Spend(uint64(len(spans)) * dwarf.SpanCost) {
				return lookup.New(origin, portions, nil) // the index of functions, which is made next, reports it
			}
			for _, s := range spans {
				all = append(all, lookup.Extent{Span: l.withOpenSymbol(s), Ref: lookup.Ref{Portion: int32(i)}})
			}
		}
	}
	return lookup.New(origin, portions, all)
}

// confirm reports whether the units of a group are where the index says, and whether the index lists all units with
// code that were found so far. Units after those that were looked up, which are not inflated yet, are assumed to be
// listed.
func (l *Lookup) confirm(o *lookup.Index, g *lookup.Group) bool {
	if !l.d.Gradual || o.Origin != lookup.Listed {
		return true
	}
	for _, p := range g.Portions() {
		if only := l.d.Only(o.Portions[p].Off); len(only) == 0 || only[0].IsType() {
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
