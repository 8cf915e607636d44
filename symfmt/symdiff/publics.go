package symdiff

import (
	"cmp"
	"slices"
)

// comparePublics matches PUBLICs by name, and by address in order among those of
// one name. One whose name a FUNC of the other file has became that.
func (r *Result) comparePublics() {
	a, b := r.Old.Publics, r.New.Publics
	first := len(r.Changes)
	other := make([]int32, len(b))
	for i := range other {
		other[i] = none
	}
	as, bs := publicKeys(a), publicKeys(b)
	oldFuncs, newFuncs := r.unmatchedNames(r.Old.Funcs, r.funcs.old), r.unmatchedNames(r.New.Funcs, r.funcs.new)
	remove := func(x keyed) {
		c := Change{Kind: Publics, What: Removed | Lost, Old: x.i, New: none, Part: none}
		if j, ok := newFuncs[a[x.i].Name]; ok && a[x.i].Nameless != nameNone {
			c.What, c.Part = Removed|BecameFunc, j
		}
		r.Changes = append(r.Changes, c)
	}
	add := func(x keyed) {
		c := Change{Kind: Publics, What: Added, Old: none, New: x.i, Part: none}
		if i, ok := oldFuncs[b[x.i].Name]; ok && b[x.i].Nameless != nameNone {
			c.What, c.Part = Added|BecamePublic, i
		}
		r.Changes = append(r.Changes, c)
	}
	for len(as) > 0 || len(bs) > 0 {
		switch {
		case len(bs) == 0 || len(as) > 0 && as[0].key < bs[0].key:
			remove(as[0])
			as = as[1:]
		case len(as) == 0 || bs[0].key < as[0].key:
			add(bs[0])
			bs = bs[1:]
		default:
			if what := r.publicPair(&a[as[0].i], &b[bs[0].i]); what != 0 {
				r.Changes = append(r.Changes, Change{Kind: Publics, By: byName, What: what, Old: as[0].i, New: bs[0].i, Part: none})
			}
			other[bs[0].i] = as[0].i
			as, bs = as[1:], bs[1:]
		}
	}
	r.publics = other
	r.renamedPublics(first)
	r.becamePublic()
	changes := r.Changes[first:]
	slices.SortStableFunc(changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(r.publicPlace(x), r.publicPlace(y)), cmp.Compare(x.Old, y.Old), cmp.Compare(x.New, y.New))
	})
}

// publicKeys are PUBLICs by name and address.
func publicKeys(publics []Public) []keyed {
	out := make([]keyed, len(publics))
	for i := range publics {
		out[i] = keyed{publics[i].Name, int32(i)}
	}
	slices.SortFunc(out, func(x, y keyed) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(publics[x.i].RVA, publics[y.i].RVA), cmp.Compare(x.i, y.i))
	})
	return out
}

func (r *Result) publicPair(p, q *Public) (what Aspect) {
	if p.RVA != q.RVA && !r.Options.IgnoreAddresses {
		what |= Moved
	}
	if p.ParamSize != q.ParamSize {
		what |= ParamsChanged
	}
	if p.Multiple != q.Multiple {
		what |= MultipleChanged
	}
	return what
}

func (r *Result) publicPlace(c Change) uint64 {
	if c.New != none {
		return uint64(r.New.Publics[c.New].RVA)
	}
	return uint64(r.where.of(r.Old.Publics[c.Old].RVA))
}

// unmatchedNames are functions without a match, by name.
func (r *Result) unmatchedNames(funcs []Func, other []int32) map[hash]int32 {
	m := map[hash]int32{}
	for i := range funcs {
		if other[i] == none && funcs[i].Nameless != nameNone {
			if _, ok := m[funcs[i].Name]; !ok {
				m[funcs[i].Name] = int32(i)
			}
		}
	}
	return m
}

// renamedPublics joins one that is gone with one that is new at the address at
// which it would be.
func (r *Result) renamedPublics(first int) {
	at := map[uint64]int{} // place in Changes of an added one, by address
	for i, c := range r.Changes[first:] {
		if c.What == Added {
			rva := uint64(r.New.Publics[c.New].RVA)
			if _, ok := at[rva]; ok {
				at[rva] = -1 // more than one: nobody knows
				continue
			}
			at[rva] = first + i
		}
	}
	gone := map[uint64]int{}
	for _, c := range r.Changes[first:] {
		if c.What == Removed|Lost {
			gone[r.publicPlace(c)]++
		}
	}
	out := r.Changes[:first]
	taken := map[int]Change{}
	for _, c := range r.Changes[first:] {
		if c.What == Removed|Lost {
			rva := r.publicPlace(c)
			if i, ok := at[rva]; ok && i >= 0 && gone[rva] == 1 {
				p, q := &r.Old.Publics[c.Old], &r.New.Publics[r.Changes[i].New]
				what := r.publicPair(p, q) | Renamed
				if q.Nameless > p.Nameless {
					what |= LostName
				}
				taken[i] = Change{Kind: Publics, By: byNeighbour, What: what, Old: c.Old, New: r.Changes[i].New, Part: none}
			}
		}
	}
	if len(taken) == 0 {
		return
	}
	joined := map[int32]bool{}
	for _, c := range taken {
		joined[c.Old] = true
	}
	all := slices.Clone(r.Changes[first:])
	for i, c := range all {
		t, ok := taken[first+i]
		switch {
		case ok:
			r.publics[t.New] = t.Old
			out = append(out, t)
		case c.New == none && joined[c.Old]:
		default:
			out = append(out, c)
		}
	}
	r.Changes = out
}

// becamePublic marks the functions that are gone and are a PUBLIC now, or were one
// before: they are told once, with the function.
func (r *Result) becamePublic() {
	public, function := map[int32]bool{}, map[int32]bool{}
	kept := r.Changes[:0]
	for _, c := range r.Changes {
		switch {
		case c.Kind == Publics && c.What&BecamePublic != 0:
			public[c.Part] = true
		case c.Kind == Publics && c.What&BecameFunc != 0:
			function[c.Part] = true
		default:
			kept = append(kept, c)
		}
	}
	r.Changes = kept
	for i := range r.Changes {
		c := &r.Changes[i]
		switch {
		case c.Kind != Functions:
		case c.What&Removed != 0 && public[c.Old]:
			c.What = c.What&^Lost | BecamePublic
		case c.What&Added != 0 && function[c.New]:
			c.What |= BecameFunc
		}
	}
}
