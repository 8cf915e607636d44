package symdiff

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/symfmt"
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

// padding is how many bytes after a function's code may or may not count as part
// of it: compilers pad to the next multiple of 16, and some dumpers include the
// padding in sizes.
const padding = 15

// worse reports whether more bytes are uncovered than before, and a greater
// share. If the sizes differ, padding is ignored.
func worse(old, oldSize, new, newSize uint64) bool {
	if old >= oldSize && new >= newSize || old > oldSize || new > newSize {
		return false
	}
	before, now := oldSize-old, newSize-new
	if oldSize != newSize && now <= before+padding {
		return false
	}
	return now > before && float64(new)*float64(oldSize) < float64(old)*float64(newSize)
}

// findLost marks the removed functions that are lost: their code seems to still exist,
// and no FUNC covers it. The code of the others is gone as well: later code has moved
// forward, or other functions cover it.
func (r *Result) findLost(changes []Change) {
	var taken []symfmt.Range
	for i := range changes {
		c := &changes[i]
		if c.What&Removed == 0 || c.What&Merged != 0 {
			continue
		}
		if taken == nil {
			taken = r.New.code()
		}
		if f := &r.Old.Funcs[c.Old]; r.left(taken, f.RVA, f.Size) {
			c.What |= Lost
		}
	}
}

// left reports whether code of the old file is in the new one outside functions.
func (r *Result) left(taken []symfmt.Range, rva symfmt.RVA, size uint64) bool {
	size = max(size, 1)
	if closed := r.where.closed(rva); closed > 0 && closed >= size/2 {
		return false
	}
	return coderange.In(taken, r.where.of(rva), size) < (size+1)/2
}

// code returns the code in functions, by address, without overlaps.
func (o *Outline) code() []symfmt.Range {
	out := make([]symfmt.Range, 0, len(o.Funcs))
	for i := range o.Funcs {
		f := &o.Funcs[i]
		size := f.Size
		if f.stop() < f.RVA {
			size = uint64(math.MaxUint64 - f.RVA)
		}
		out = append(out, symfmt.Range{RVA: f.RVA, Size: size})
	}
	return coderange.Join(out)
}
