package symdiff

import (
	"bytes"
	"cmp"
	"slices"
)

// pairing says which function of the other file one is; none for no function.
type pairing struct {
	old, new []int32 // by index in Funcs
	how      []Match // by index in the new Funcs
}

// None is the index, in an Outline, of what is not there.
const None = int32(-1)

// Match says why two functions are one.
type Match uint8

const (
	byNothing   Match = iota
	byName            // one name
	byContents        // other names, the same lines
	byShifted         // other names, the same lines but for their numbers
	byShape           // other names and line numbers, the same places of lines
	byBase            // other arguments, or another suffix
	byNeighbour       // the same size between functions that are matched
)

var matchNames = [...]string{
	byName: "name", byContents: "contents", byShifted: "shifted-contents", byShape: "", byBase: "base-name", byNeighbour: "place",
}

// String returns the reason in a word, "" for none and for the places of lines.
func (m Match) String() string { return matchNames[m] }

// Functions are matched in steps; each looks at those that the steps before left.
//
//  1. One name, which no other function of either file has. These show where code
//     of the old file is in the new one (shifts).
//  2. One name, of several functions (static functions, parts of one that was
//     split): those of the same contents are matched, of several alike the one
//     that is where it should be; then those of which only line numbers differ,
//     those of the same size where they should be, those whose first line is in
//     the same file, those of one size, the others by address.
//  3. The same lines, inlined calls and size: renamed. Lines name a file, so that
//     two different functions have that in common only if they are instances of
//     one template.
//  4. The same with line numbers that are shifted.
//  5. The same places of lines in the code, and the same source files, whatever the
//     numbers: those of code inlined from the same file do not shift with it.
//  6. The same name without arguments and suffixes like ".isra.0".
//  7. No name and the same size, where it should be.
//  8. The same sizes and distances in a row of functions between two that are
//     matched: renamed without lines.
//
// The error is of reading names from the texts.
func matchFuncs(a, b *Outline) (*pairing, error) {
	p := &pairing{old: filled(len(a.Funcs)), new: filled(len(b.Funcs)), how: make([]Match, len(b.Funcs))}
	m := matcher{p: p, a: a.Funcs, b: b.Funcs}
	name := func(f *Func) hash { return f.named(f.Name) }
	m.step(byName, name, m.single)
	m.where = shiftsOf(a, b, p, nil)
	m.step(byName, name, m.sameName)
	m.step(byContents, contents, m.alike)
	m.step(byShifted, shifted, m.alike)
	m.step(byShape, shape, m.alike)
	if err := m.likeNames(a, b); err != nil {
		return nil, err
	}
	m.nameless()
	m.neighbours()
	return p, nil
}

func filled(n int) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = None
	}
	return s
}

// named returns a hash of the name, 0 for functions without one.
func (f *Func) named(h hash) hash {
	if f.Nameless == nameNone {
		return 0
	}
	return h
}

// contents returns a hash of what distinguishes a function besides its name, or 0.
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

func shape(f *Func) hash {
	if f.Shape == 0 || f.FirstLine == 0 || f.NumLines < minShape {
		return 0
	}
	return mix(f.Shape, f.Size)
}

// minShape is how many lines a function must have to be known by their places.
const minShape = 6

// minShifted is how many lines a function must have to be known by the distances of
// their numbers: many short ones are alike.
const minShifted = 4

type matcher struct {
	p     *pairing
	a, b  []Func
	how   Match
	where shifts
}

func (m *matcher) pair(i, j int32) {
	m.p.old[i], m.p.new[j], m.p.how[j] = j, i, m.how
}

// alike matches functions that do not differ: those that are where they should be,
// then the others by address.
func (m *matcher) alike(a, b []keyed) {
	if len(a) > 1 || len(b) > 1 {
		a, b = m.within(a, b, func(*Func) hash { return 1 }, true)
	}
	m.inOrder(a, b)
}

// sameName matches functions of one name.
func (m *matcher) sameName(a, b []keyed) {
	if len(a) == 1 && len(b) == 1 {
		m.pair(a[0].i, b[0].i)
		return
	}
	size := func(f *Func) hash { return hashNumber(f.Size) }
	first := func(f *Func) hash { return hash(f.First) }
	for _, step := range [...]struct {
		key   func(*Func) hash
		place bool // it must be where it should be
	}{{contents, true}, {contents, false}, {shifted, true}, {shifted, false}, {size, true}, {first, false}, {size, false}} {
		a, b = m.within(a, b, step.key, step.place)
	}
	m.inOrder(a, b)
}

// within matches those of a group that have another key in common, and returns the
// others.
func (m *matcher) within(a, b []keyed, key func(*Func) hash, place bool) (restA, restB []keyed) {
	if len(a) == 0 || len(b) == 0 {
		return a, b
	}
	rekey := func(group []keyed, funcs []Func, where shifts) (keys, rest []keyed) {
		for _, x := range group {
			f := &funcs[x.i]
			k := key(f)
			switch {
			case k == 0:
				rest = append(rest, x)
				continue
			case place:
				k = mix(k, uint64(where.of(f.RVA)))
			}
			keys = append(keys, keyed{k, x.i})
		}
		sortKeys(keys, funcs)
		return keys, rest
	}
	as, _ := rekey(a, m.a, m.where)
	bs, _ := rekey(b, m.b, nil)
	groups(as, bs, m.inOrder)
	left := func(group []keyed, other []int32) (rest []keyed) {
		for _, x := range group {
			if other[x.i] == None {
				rest = append(rest, x)
			}
		}
		return rest
	}
	return left(a, m.p.old), left(b, m.p.new)
}

// likeNames matches functions by names that differ in arguments or suffixes. Few
// are left for it: their names are read again.
func (m *matcher) likeNames(a, b *Outline) error {
	m.how = byBase
	as, err := baseKeys(a, m.p.old)
	if err != nil || len(as) == 0 {
		return err
	}
	bs, err := baseKeys(b, m.p.new)
	if err != nil {
		return err
	}
	groups(as, bs, m.sameName)
	return nil
}

// baseKeys returns the functions without a match by the base of their names.
func baseKeys(o *Outline, other []int32) (out []keyed, err error) {
	s := newSide(o)
	for i := range o.Funcs {
		f := &o.Funcs[i]
		if other[i] != None || f.Nameless == nameNone {
			continue
		}
		rec, err := s.first(f.At, f.End())
		if err != nil {
			return nil, &ReadError{err}
		}
		// What is seldom run has a part of its own: no part of another kind is that.
		k := hashBytes(baseName(rec.Name))
		if bytes.Contains(rec.Name, cold) {
			k = mix(k, 1)
		}
		out = append(out, keyed{k, int32(i)})
	}
	sortKeys(out, o.Funcs)
	return out, nil
}

// nameless matches functions without a name, or lines that distinguish them.
func (m *matcher) nameless() {
	m.how = byNeighbour
	key := func(where shifts) func(f *Func) hash {
		return func(f *Func) hash {
			if f.Nameless != nameNone {
				return 0
			}
			return mix(hashNumber(f.Size), uint64(where.of(f.RVA))) | 1
		}
	}
	groups(keys(m.a, m.p.old, key(m.where)), keys(m.b, m.p.new, key(nil)), m.inOrder)
}

// neighbours matches rows of functions between matched ones, where the functions of
// a row have the same sizes and distances.
func (m *matcher) neighbours() {
	m.how = byNeighbour
	as, bs := byAddress(m.a), byAddress(m.b)
	place := make([]int32, len(m.b)) // in bs
	for at, j := range bs {
		place[j] = int32(at)
	}
	for at := 0; at < len(as); at++ {
		if m.p.old[as[at]] != None {
			continue
		}
		n := 1
		for at+n < len(as) && m.p.old[as[at+n]] == None {
			n++
		}
		at2 := 0
		if at > 0 {
			at2 = int(place[m.p.old[as[at-1]]]) + 1
		}
		if m.sameRow(as, at, bs, at2, n) {
			for k := range n {
				m.pair(as[at+k], bs[at2+k])
			}
		}
		at += n
	}
}

// sameRow reports whether n functions from two places on are alike, with the same
// function behind them, or none.
func (m *matcher) sameRow(as []int32, at int, bs []int32, at2, n int) bool {
	if at2+n > len(bs) || (at+n == len(as)) != (at2+n == len(bs)) {
		return false
	}
	if at+n < len(as) && m.p.old[as[at+n]] != bs[at2+n] {
		return false
	}
	if at == 0 && at+n == len(as) && n == 1 {
		return false // the only functions
	}
	for k := range n {
		f, g := &m.a[as[at+k]], &m.b[bs[at2+k]]
		if m.p.new[bs[at2+k]] != None || f.Size != g.Size || f.Lines != 0 && g.Lines != 0 && f.First != g.First {
			return false
		}
		if k > 0 && f.RVA-m.a[as[at+k-1]].RVA != g.RVA-m.b[bs[at2+k-1]].RVA {
			return false
		}
	}
	return true
}

// byAddress returns the indexes of functions by address.
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
