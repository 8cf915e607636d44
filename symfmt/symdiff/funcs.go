package symdiff

import (
	"cmp"
	"slices"
)

// compareFuncs finds the differences between matched functions, and the
// functions without a match. The error is from reading the texts.
func (r *Result) compareFuncs() error {
	first := len(r.Changes)
	for j := range r.New.Funcs {
		i := r.funcs.new[j]
		if i == None {
			r.Changes = append(r.Changes, Change{Kind: Functions, What: Added, Old: None, New: int32(j), Part: None})
			continue
		}
		if what := r.pair(&r.Old.Funcs[i], &r.New.Funcs[j]); what != 0 {
			r.Changes = append(r.Changes, Change{Kind: Functions, By: r.funcs.how[j], What: what, Old: i, New: int32(j), Part: None})
		}
	}
	for i, j := range r.funcs.old {
		if j == None {
			r.Changes = append(r.Changes, Change{Kind: Functions, What: Removed, Old: int32(i), New: None, Part: None})
		}
	}
	if err := r.findParts(r.Changes[first:]); err != nil {
		return err
	}
	r.findLost(r.Changes[first:])
	r.sortChanges(r.Changes[first:])
	return nil
}

// sortChanges sorts changes by address in the new file.
func (r *Result) sortChanges(changes []Change) {
	slices.SortStableFunc(changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(r.place(x), r.place(y)), cmp.Compare(x.Old, y.Old), cmp.Compare(x.New, y.New))
	})
}

func (r *Result) place(c Change) uint64 {
	if c.New != None {
		return uint64(r.New.Funcs[c.New].RVA)
	}
	return uint64(r.where.of(r.Old.Funcs[c.Old].RVA))
}

// pair returns what differs between two matched functions.
func (r *Result) pair(f, g *funcEntry) (what Aspect) {
	set := func(a Aspect, differs bool) {
		if differs {
			what |= a
		}
	}
	set(PathsChanged, f.Lines == g.Lines && f.Inlines == g.Inlines && f.Paths != g.Paths && !r.Options.IgnorePaths)
	set(Moved, f.RVA != g.RVA && !r.Options.IgnoreAddresses)
	set(Renamed, f.Name != g.Name)
	set(Resized, f.Size != g.Size)
	set(ParamsChanged, f.ParamSize != g.ParamSize)
	set(MultipleChanged, f.Multiple != g.Multiple)
	if f.Lines != g.Lines {
		set(LinesShifted, f.LinesRel == g.LinesRel)
		set(LinesChanged, f.LinesRel != g.LinesRel)
	}
	if f.Inlines != g.Inlines {
		set(InlinesShifted, f.InlinesRel == g.InlinesRel)
		set(InlinesChanged, f.InlinesRel != g.InlinesRel)
	}
	old, new := r.Old.in(f.RVA, f.Size), r.New.in(g.RVA, g.Size)
	set(CFIChanged, !sameRows(old, new, f.RVA, g.RVA, f.Size == g.Size))
	set(WinChanged, !r.sameWins(f, g))
	set(LostLines, worse(f.Covered, f.Size, g.Covered, g.Size))
	set(LostInlines, f.NumInline > 0 && g.NumInline == 0 && f.Size == g.Size)
	set(LostCFI, worse(r.Old.Covered(f.RVA, f.Size), f.Size, r.New.Covered(g.RVA, g.Size), g.Size))
	if v, w := r.Old.variables, r.New.variables; v != nil && w != nil {
		old, new, places := v.of(f), w.of(g), f.Size == g.Size
		lost := old != nil && new == nil
		set(LostVariables, lost)
		set(VariablesChanged, !lost && v.hash(old, places) != w.hash(new, places))
	}
	set(LostName, g.Nameless > f.Nameless)
	return what
}
