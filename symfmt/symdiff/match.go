package symdiff

import (
	"cmp"
	"slices"
)

// pairing says which function of the other file one is; none for no function.
type pairing struct {
	old, new []int32 // by index in Funcs
	how      []match // by index in the new Funcs
}

const none = int32(-1)

// match says why two functions are one.
type match uint8

const (
	byNothing   match = iota
	byName            // one name
	byContents        // other names, the same lines
	byShifted         // other names, the same lines but for their numbers
	byBase            // other arguments, or another suffix
	byNeighbour       // the same size between functions that are matched
)

// Functions are matched in steps; each looks at those that the steps before left.
//
//  1. One name. Where several functions of one name are on a side (static
//     functions, parts of one that was split), those of the same contents are
//     matched, then those whose first line is in the same file, by address, then
//     the others by address.
//  2. The same lines, inlined calls and size: renamed. Lines name a file, so that
//     two different functions have that in common only if they are instances of
//     one template.
//  3. The same with line numbers that are shifted.
//  4. The same name without arguments and suffixes like ".isra.0".
//  5. The same size, and the functions on both sides of it are matched with each
//     other: renamed without lines.
func matchFuncs(a, b *Outline) *pairing {
	p := &pairing{old: filled(len(a.Funcs)), new: filled(len(b.Funcs)), how: make([]match, len(b.Funcs))}
	m := matcher{p: p, a: a.Funcs, b: b.Funcs}
	m.step(byName, func(f *Func) hash { return f.named(f.Name) }, m.sameName)
	m.step(byContents, contents, m.inOrder)
	m.step(byShifted, shifted, m.inOrder)
	m.step(byBase, func(f *Func) hash { return f.named(f.Base) }, m.sameName)
	m.neighbours()
	return p
}

func filled(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = none
	}
	return s
}

// named is a hash of the name, 0 for functions without one.
func (f *Func) named(h hash) hash {
	if f.Nameless == nameNone {
		return 0
	}
	return h
}

// contents is what tells a function from others beside its name, 0 if nothing does.
func contents(f *Func) hash {
	if f.Lines == 0 || f.FirstLine == 0 {
		return 0
	}
	return mix(mix(f.Lines, uint64(f.Inlines)), f.Size)
}

func shifted(f *Func) hash {
	if f.LinesRel == 0 || f.FirstLine == 0 || f.NumLines < minShifted {
		return 0
	}
	return mix(mix(f.LinesRel, uint64(f.InlinesRel)), f.Size)
}

// minShifted is how many lines a function must have to be known by the distances of
// their numbers: many short ones are alike.
const minShifted = 4

type matcher struct {
	p    *pairing
	a, b []Func
	how  match
}

func (m *matcher) pair(i, j int32) {
	m.p.old[i], m.p.new[j], m.p.how[j] = j, i, m.how
}

// keyed is a function and what it is matched by.
type keyed struct {
	key hash
	i   int32
}

// keys are the functions that are not matched yet, by key and then by address.
func keys(funcs []Func, other []int32, key func(*Func) hash) []keyed {
	var out []keyed
	for i := range funcs {
		if other[i] != none {
			continue
		}
		if k := key(&funcs[i]); k != 0 {
			out = append(out, keyed{k, int32(i)})
		}
	}
	slices.SortFunc(out, func(x, y keyed) int {
		return cmp.Or(cmp.Compare(x.key, y.key), cmp.Compare(funcs[x.i].RVA, funcs[y.i].RVA), cmp.Compare(x.i, y.i))
	})
	return out
}

// step matches functions with equal keys: group gets those of one key on each
// side, by address.
func (m *matcher) step(how match, key func(*Func) hash, group func(a, b []keyed)) {
	m.how = how
	as, bs := keys(m.a, m.p.old, key), keys(m.b, m.p.new, key)
	for len(as) > 0 && len(bs) > 0 {
		switch c := cmp.Compare(as[0].key, bs[0].key); {
		case c < 0:
			as = as[run(as):]
		case c > 0:
			bs = bs[run(bs):]
		default:
			n, k := run(as), run(bs)
			group(as[:n], bs[:k])
			as, bs = as[n:], bs[k:]
		}
	}
}

// run is how many at the beginning have one key.
func run(s []keyed) int {
	n := 1
	for n < len(s) && s[n].key == s[0].key {
		n++
	}
	return n
}

// inOrder matches the first with the first.
func (m *matcher) inOrder(a, b []keyed) {
	for i := range min(len(a), len(b)) {
		m.pair(a[i].i, b[i].i)
	}
}

// sameName matches functions of one name.
func (m *matcher) sameName(a, b []keyed) {
	if len(a) == 1 && len(b) == 1 {
		m.pair(a[0].i, b[0].i)
		return
	}
	for _, key := range [...]func(*Func) hash{contents, shifted, func(f *Func) hash { return f.First }} {
		a, b = m.within(a, b, key)
	}
	m.inOrder(a, b)
}

// within matches those of a group that have another key in common, and returns the
// others.
func (m *matcher) within(a, b []keyed, key func(*Func) hash) (restA, restB []keyed) {
	if len(a) == 0 || len(b) == 0 {
		return a, b
	}
	waiting := map[hash][]int32{}
	for _, x := range b {
		if k := key(&m.b[x.i]); k != 0 {
			waiting[k] = append(waiting[k], x.i)
		}
	}
	for _, x := range a {
		k := key(&m.a[x.i])
		if list := waiting[k]; k != 0 && len(list) > 0 {
			m.pair(x.i, list[0])
			waiting[k] = list[1:]
			continue
		}
		restA = append(restA, x)
	}
	for _, x := range b {
		if m.p.new[x.i] == none {
			restB = append(restB, x)
		}
	}
	return restA, restB
}

// neighbours matches single functions of one size between matched ones.
func (m *matcher) neighbours() {
	m.how = byNeighbour
	as, bs := byAddress(m.a), byAddress(m.b)
	place := make([]int32, len(m.b)) // in bs
	for at, j := range bs {
		place[j] = int32(at)
	}
	for at, i := range as {
		if m.p.old[i] != none {
			continue
		}
		at2 := m.between(as, at, place)
		if at2 < 0 || at2 >= len(bs) {
			continue
		}
		if j := bs[at2]; m.p.new[j] == none && m.a[i].Size == m.b[j].Size && m.follows(as, at, bs, at2) {
			m.pair(i, j)
		}
	}
}

// between is where in the new file the function would be that is at place at of the
// old one, -1 if nobody knows.
func (m *matcher) between(as []int32, at int, place []int32) int {
	if at > 0 {
		if j := m.p.old[as[at-1]]; j != none {
			return int(place[j]) + 1
		}
		return -1
	}
	if at+1 < len(as) {
		if j := m.p.old[as[at+1]]; j != none {
			return int(place[j]) - 1
		}
	}
	return -1
}

// follows tells whether what comes behind the two is matched too, or nothing does.
func (m *matcher) follows(as []int32, at int, bs []int32, at2 int) bool {
	lastA, lastB := at+1 == len(as), at2+1 == len(bs)
	if lastA || lastB {
		return lastA && lastB
	}
	return m.p.old[as[at+1]] == bs[at2+1]
}

// byAddress are the indexes of functions by address.
func byAddress(funcs []Func) []int32 {
	order := make([]int32, len(funcs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(funcs[i].RVA, funcs[j].RVA), cmp.Compare(funcs[i].Size, funcs[j].Size), cmp.Compare(i, j))
	})
	return order
}
