package symdiff

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/symfmt"
)

// matchPublics matches PUBLICs by name: first unique names, which show where code is,
// then among equal names those at their expected addresses, then the others by address.
func (r *Result) matchPublics() {
	a, b := r.Old.Publics, r.New.Publics
	old := filled(len(a))
	r.publics = filled(len(b))
	pair := func(x, y keyed) { old[x.i], r.publics[y.i] = y.i, x.i }
	name := func(p *publicEntry) hash { return p.Name }
	groups(publicKeys(a, old, name), publicKeys(b, r.publics, name), func(as, bs []keyed) {
		if len(as) == 1 && len(bs) == 1 {
			pair(as[0], bs[0])
		}
	})
	r.where = shiftsOf(r.Old, r.New, r.funcs, r.publics)
	inOrder := func(as, bs []keyed) {
		for i := range min(len(as), len(bs)) {
			pair(as[i], bs[i])
		}
	}
	groups(
		publicKeys(a, old, func(p *publicEntry) hash { return mix(p.Name, uint64(r.where.of(p.RVA))) }),
		publicKeys(b, r.publics, func(p *publicEntry) hash { return mix(p.Name, uint64(p.RVA)) }), inOrder)
	groups(publicKeys(a, old, name), publicKeys(b, r.publics, name), inOrder)
	r.renamedPublics(old)
	r.where = shiftsOf(r.Old, r.New, r.funcs, r.publics)
}

// renamedPublics matches each unmatched PUBLIC that is alone at its address with
// the one that is alone there in the new file.
func (r *Result) renamedPublics(old []int32) {
	at := map[symfmt.RVA]int32{}
	for j, i := range r.publics {
		if i == None {
			alone(at, r.New.Publics[j].RVA, int32(j))
		}
	}
	if len(at) == 0 {
		return
	}
	gone := map[symfmt.RVA]int32{}
	for i, j := range old {
		if j == None {
			alone(gone, r.where.of(r.Old.Publics[i].RVA), int32(i))
		}
	}
	for rva, i := range gone {
		if j, ok := at[rva]; ok && i != None && j != None {
			r.publics[j] = i
		}
	}
}

// alone records i as the PUBLIC at an address, or none if there is more than one.
func alone(at map[symfmt.RVA]int32, rva symfmt.RVA, i int32) {
	if _, ok := at[rva]; ok {
		i = None
	}
	at[rva] = i
}

// comparePublics finds the differences between matched PUBLICs, and the PUBLICs
// without a match. A PUBLIC whose name now belongs to a FUNC of the other file
// became that FUNC.
func (r *Result) comparePublics() {
	a, b := r.Old.Publics, r.New.Publics
	first := len(r.Changes)
	oldFuncs, newFuncs := unmatchedNames(r.Old.Funcs, r.funcs.old, r.where), unmatchedNames(r.New.Funcs, r.funcs.new, nil)
	matched := make([]bool, len(a))
	for j, i := range r.publics {
		c := Change{Kind: Publics, Old: i, New: int32(j), Part: None}
		if i == None {
			c.What = Added
			if k, ok := oldFuncs.find(&b[j], nil); ok {
				c.What, c.Part = Added|BecamePublic, k
			}
		} else {
			matched[i] = true
			c.What = r.publicPair(&a[i], &b[j])
			c.By = byName
			if c.What&Renamed != 0 {
				c.By = byNeighbour
			}
		}
		if c.What != 0 {
			r.Changes = append(r.Changes, c)
		}
	}
	var taken []symfmt.Range
	for i := range a {
		if matched[i] {
			continue
		}
		c := Change{Kind: Publics, What: Removed, Old: int32(i), New: None, Part: None}
		if k, ok := newFuncs.find(&a[i], r.where); ok {
			c.What, c.Part = Removed|BecameFunc, k
		} else {
			if taken == nil {
				taken = r.New.symbols()
			}
			if r.left(taken, a[i].RVA, 1) {
				c.What |= Lost
			}
		}
		r.Changes = append(r.Changes, c)
	}
	r.becamePublic()
	changes := r.Changes[first:] // becamePublic removes only PUBLICs
	slices.SortStableFunc(changes, func(x, y Change) int {
		return cmp.Or(cmp.Compare(r.publicPlace(x), r.publicPlace(y)), cmp.Compare(x.Old, y.Old), cmp.Compare(x.New, y.New))
	})
}

// symbols returns the code in functions and the addresses of PUBLICs.
func (o *Outline) symbols() []symfmt.Range {
	out := o.code()
	for i := range o.Publics {
		if rva := o.Publics[i].RVA; rva < math.MaxUint64 {
			out = append(out, symfmt.Range{RVA: rva, Size: 1})
		}
	}
	return coderange.Join(out)
}

// publicKeys returns the unmatched PUBLICs by key and address.
func publicKeys(publics []publicEntry, other []int32, key func(*publicEntry) hash) []keyed {
	var out []keyed
	for i := range publics {
		if other[i] == None {
			out = append(out, keyed{key(&publics[i]), int32(i)})
		}
	}
	slices.SortFunc(out, func(x, y keyed) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(publics[x.i].RVA, publics[y.i].RVA), cmp.Compare(x.i, y.i))
	})
	return out
}

func (r *Result) publicPair(p, q *publicEntry) (what Aspect) {
	if p.Name != q.Name {
		what |= Renamed
		if q.Nameless > p.Nameless {
			what |= LostName
		}
	}
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
	if c.New != None {
		return uint64(r.New.Publics[c.New].RVA)
	}
	return uint64(r.where.of(r.Old.Publics[c.Old].RVA))
}

// namedFuncs holds functions by name, and by name and address in the new file.
type namedFuncs map[hash]int32

// unmatchedNames returns the unmatched functions.
func unmatchedNames(funcs []funcEntry, other []int32, where shifts) namedFuncs {
	m := namedFuncs{}
	for i := range funcs {
		f := &funcs[i]
		if other[i] != None || f.Nameless == nameNone {
			continue
		}
		for _, k := range [...]hash{f.Name, mix(f.Name, uint64(where.of(f.RVA)))} {
			if _, ok := m[k]; !ok {
				m[k] = int32(i)
			}
		}
	}
	return m
}

// find returns the function with a PUBLIC's name, preferably the one at its address.
func (m namedFuncs) find(p *publicEntry, where shifts) (i int32, ok bool) {
	if p.Nameless == nameNone {
		return None, false
	}
	if i, ok = m[mix(p.Name, uint64(where.of(p.RVA)))]; !ok {
		i, ok = m[p.Name]
	}
	return i, ok
}

// becamePublic finds removed functions that are PUBLICs now, and added functions
// that were PUBLICs before. They are reported once, with the function.
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
	byAddress := sync.OnceValue(r.New.publicsByAddress)
	for i := range r.Changes {
		c := &r.Changes[i]
		switch {
		case c.Kind != Functions:
		case c.What&Removed != 0 && (public[c.Old] || c.What&Lost != 0 && r.isPublic(byAddress(), &r.Old.Funcs[c.Old])):
			c.What = c.What&^Lost | BecamePublic
		case c.What&Added != 0 && function[c.New]:
			c.What |= BecameFunc
		}
	}
}

// publicsByAddress returns the indices of PUBLICs in order of address.
func (o *Outline) publicsByAddress() []int32 {
	order := make([]int32, len(o.Publics))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(o.Publics[i].RVA, o.Publics[j].RVA), cmp.Compare(i, j))
	})
	return order
}

// isPublic reports whether a removed function has become a PUBLIC, perhaps one that
// existed before: at its address or, unless there are too many, inside its code.
func (r *Result) isPublic(byAddress []int32, f *funcEntry) bool {
	if f.Nameless == nameNone {
		return false
	}
	publics, start := r.New.Publics, r.where.of(f.RVA)
	k, _ := slices.BinarySearchFunc(byAddress, start, func(i int32, rva symfmt.RVA) int {
		if publics[i].RVA < rva {
			return -1
		}
		return 1
	})
	for _, i := range byAddress[k:min(k+leastLooks, len(byAddress))] {
		p := &publics[i]
		if p.RVA < start || uint64(p.RVA-start) >= max(f.Size, 1) {
			return false
		}
		if p.Name == f.Name {
			return true
		}
	}
	return false
}
