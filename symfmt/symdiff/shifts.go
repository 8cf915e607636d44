package symdiff

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// shifts tell where code of the old file is in the new one: as far as the nearest
// matched function in front of it moved.
type shifts []shift

// shift is the distance from an address of the old file on.
type shift struct {
	from symfmt.RVA
	by   symfmt.RVA // new less old; it wraps around
}

func (r *Result) shifts() shifts {
	var s shifts
	for i, j := range r.funcs.old {
		if j != none {
			f := &r.Old.Funcs[i]
			s = append(s, shift{f.RVA, r.New.Funcs[j].RVA - f.RVA})
		}
	}
	slices.SortStableFunc(s, func(x, y shift) int { return cmp.Compare(x.from, y.from) })
	return slices.CompactFunc(s, func(x, y shift) bool { return x.by == y.by })
}

// of is the address in the new file.
func (s shifts) of(rva symfmt.RVA) symfmt.RVA {
	i, found := slices.BinarySearchFunc(s, rva, func(x shift, rva symfmt.RVA) int { return cmp.Compare(x.from, rva) })
	if !found {
		i--
	}
	if len(s) == 0 {
		return rva
	}
	return rva + s[max(i, 0)].by
}

// moved is how far a change's function or PUBLIC moved; it wraps around.
func (r *Result) moved(c Change) symfmt.RVA {
	if c.Kind == Publics {
		return r.New.Publics[c.New].RVA - r.Old.Publics[c.Old].RVA
	}
	return r.New.Funcs[c.New].RVA - r.Old.Funcs[c.Old].RVA
}
