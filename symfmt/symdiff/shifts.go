package symdiff

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// shifts map code of one file to the other: code moved as far as the nearest
// matched function or PUBLIC before it.
type shifts []shift

// shift is how far code moved, from an address on.
type shift struct { // 16 bytes
	from symfmt.RVA
	by   symfmt.RVA // new address minus old; it wraps around
}

// shiftsOf returns the shifts from a to b; other maps new PUBLICs to old ones and
// may be nil.
func shiftsOf(a, b *Outline, p *pairing, other []int32) shifts {
	s := make(shifts, 0, len(p.old)+len(other))
	for i, j := range p.old {
		if j != None {
			s = append(s, shift{a.Funcs[i].RVA, b.Funcs[j].RVA - a.Funcs[i].RVA})
		}
	}
	for j, i := range other {
		if i != None {
			s = append(s, shift{a.Publics[i].RVA, b.Publics[j].RVA - a.Publics[i].RVA})
		}
	}
	return s.sorted()
}

// sorted sorts shifts. It drops a shift between two equal ones: it belongs to
// something that moved by itself.
func (s shifts) sorted() shifts {
	slices.SortFunc(s, func(x, y shift) int { return cmp.Or(cmp.Compare(x.from, y.from), cmp.Compare(x.by, y.by)) })
	s = slices.Compact(s)
	out := s[:0]
	for i, x := range s {
		if n := len(out); n > 0 && i+1 < len(s) && x.by != s[i+1].by && out[n-1].by == s[i+1].by {
			continue
		}
		out = append(out, x)
	}
	return out
}

// back returns the shifts in the opposite direction.
func (s shifts) back() shifts {
	t := make(shifts, len(s))
	for i, x := range s {
		t[i] = shift{x.from + x.by, -x.by}
	}
	return t.sorted()
}

// of returns the address in the other file.
func (s shifts) of(rva symfmt.RVA) symfmt.RVA {
	if len(s) == 0 {
		return rva
	}
	return rva + s[max(s.before(rva), 0)].by
}

// before returns the index of the last shift at or before an address, or -1.
func (s shifts) before(rva symfmt.RVA) int {
	i, _ := slices.BinarySearchFunc(s, rva, func(x shift, rva symfmt.RVA) int {
		if x.from <= rva {
			return -1
		}
		return 1
	})
	return i - 1
}

// closed returns how many bytes of the code from rva up to the next matched function no
// longer exist.
func (s shifts) closed(rva symfmt.RVA) uint64 {
	i := s.before(rva)
	if i+1 >= len(s) || i < 0 {
		return 0
	}
	if by := s[i].by - s[i+1].by; by < 1<<63 {
		return uint64(by)
	}
	return 0
}

// distance returns how far a change's function or PUBLIC moved; it wraps around.
func (r *Result) distance(c Change) symfmt.RVA {
	if c.Kind == Publics {
		return r.New.Publics[c.New].RVA - r.Old.Publics[c.Old].RVA
	}
	return r.New.Funcs[c.New].RVA - r.Old.Funcs[c.Old].RVA
}

// Together returns the number of consecutive changes, starting with i, whose
// functions moved by the same distance and do not differ otherwise. It is at
// least 1.
func (r *Result) Together(i int) int {
	first := r.Changes[i]
	n := 1
	if first.What != Moved {
		return n
	}
	for i+n < len(r.Changes) {
		c := r.Changes[i+n]
		if c.What != Moved || c.Kind != first.Kind || r.distance(c) != r.distance(first) {
			break
		}
		n++
	}
	return n
}
