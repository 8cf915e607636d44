package symdiff

import (
	"bytes"
	"cmp"
	"slices"
)

// pairing maps each function to its match in the other file, or none.
type pairing struct {
	old, new []int32     // indexed like Funcs
	how      []matchKind // indexed like the new Funcs
}

// None is the index in an Outline of something that does not exist.
const None = int32(-1)

// matchKind is the reason why two functions were matched.
type matchKind uint8

const (
	byNothing   matchKind = iota
	byName                // same name
	byContents            // different names, same lines
	byShifted             // different names, same lines except for their numbers
	byShape               // different names and line numbers, same places of lines
	byBase                // different arguments or suffix
	byNeighbour           // same size, between matched functions
)

var matchNames = [...]string{
	byName: "name", byContents: "contents", byShifted: "shifted-contents", byShape: "", byBase: "base-name", byNeighbour: "place",
}

// String returns the reason in a word, or "" for byShape and unmatched functions.
func (m matchKind) String() string { return matchNames[m] }

// Functions are matched in steps; each considers those left over by the previous steps.
//
//  1. The same name, unique in both files. These show where the old file's code is
//     in the new one (shifts).
//  2. The same name, of several functions (static functions, parts of a split
//     one): those with the same contents are matched, among several the one at
//     the expected address; then those that differ in line numbers only, those
//     of the same size at the expected address, those whose first line is in the
//     same file, those of the same size, and the others by address.
//  3. The same lines, inlined calls and size: renamed. Lines name a file, so
//     only instances of one template can agree in this and be different functions.
//  4. The same, with shifted line numbers.
//  5. The same places of lines in the code, and the same source files, whatever the
//     numbers: code inlined from the same file does not shift with it.
//  6. The same name without arguments and suffixes like ".isra.0".
//  7. No name and the same size, at the expected address.
//  8. The same sizes and distances in a run of functions between two matched
//     ones: renamed, without lines.
//
// The error comes from reading names in the texts.
func matchFuncs(a, b *Outline) (*pairing, error) {
	p := &pairing{old: filled(len(a.Funcs)), new: filled(len(b.Funcs)), how: make([]matchKind, len(b.Funcs))}
	m := matcher{p: p, a: a.Funcs, b: b.Funcs}
	name := func(f *funcEntry) hash { return f.named(f.Name) }
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

// named returns a hash of the name, or 0 for a function without one.
func (f *funcEntry) named(h hash) hash {
	if f.Nameless == nameNone {
		return 0
	}
	return h
}

// contents returns a hash of what identifies a function besides its name, or 0.
func contents(f *funcEntry) hash {
	if f.Lines == 0 || f.FirstLine == 0 {
		return 0
	}
	return mix(mix(f.Lines, uint64(f.Inlines)), f.Size)
}

func shifted(f *funcEntry) hash {
	if f.LinesRel == 0 || f.FirstLine == 0 || f.NumLines < minShifted {
		return 0
	}
	return mix(mix(f.LinesRel, uint64(f.InlinesRel)), f.Size)
}

func shape(f *funcEntry) hash {
	if f.Shape == 0 || f.FirstLine == 0 || f.NumLines < minShape {
		return 0
	}
	return mix(f.Shape, f.Size)
}

// minShape is how many lines a function must have to be recognised by their
// places.
const minShape = 6

// minShifted is how many lines a function must have to be recognised by the
// distances of their numbers: many short functions are alike.
const minShifted = 4

type matcher struct {
	p     *pairing
	a, b  []funcEntry
	how   matchKind
	where shifts
}

func (m *matcher) pair(i, j int32) {
	m.p.old[i], m.p.new[j], m.p.how[j] = j, i, m.how
}

// alike matches functions that do not differ: first those at their expected
// addresses, then the others by address.
func (m *matcher) alike(a, b []keyed) {
	if len(a) > 1 || len(b) > 1 {
		a, b = m.within(a, b, func(*funcEntry) hash { return 1 }, true)
	}
	m.inOrder(a, b)
}

// sameName matches functions of the same name.
func (m *matcher) sameName(a, b []keyed) {
	if len(a) == 1 && len(b) == 1 {
		m.pair(a[0].i, b[0].i)
		return
	}
	size := func(f *funcEntry) hash { return hashNumber(f.Size) }
	first := func(f *funcEntry) hash { return hash(f.First) }
	for _, step := range [...]struct {
		key   func(*funcEntry) hash
		place bool // it must be at the expected address
	}{{contents, true}, {contents, false}, {shifted, true}, {shifted, false}, {size, true}, {first, false}, {size, false}} {
		a, b = m.within(a, b, step.key, step.place)
	}
	m.inOrder(a, b)
}

// within matches the functions of a group that share another key, and returns the
// others.
func (m *matcher) within(a, b []keyed, key func(*funcEntry) hash, place bool) (restA, restB []keyed) {
	if len(a) == 0 || len(b) == 0 {
		return a, b
	}
	rekey := func(group []keyed, funcs []funcEntry, where shifts) (keys, rest []keyed) {
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

// likeNames matches functions whose names differ in arguments or suffixes. Few
// functions are left by then, so their names are read again.
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

// baseKeys returns the unmatched functions by the base of their names.
func baseKeys(o *Outline, other []int32) (out []keyed, err error) {
	s := newTextCursor(o)
	for i := range o.Funcs {
		f := &o.Funcs[i]
		if other[i] != None || f.Nameless == nameNone {
			continue
		}
		rec, err := s.first(f.At, f.end())
		if err != nil {
			return nil, &ReadError{err}
		}
		// Cold code is a part of its own, which must not match another kind of part.
		k := hashBytes(baseName(rec.Name))
		if bytes.Contains(rec.Name, cold) {
			k = mix(k, 1)
		}
		out = append(out, keyed{k, int32(i)})
	}
	sortKeys(out, o.Funcs)
	return out, nil
}

// nameless matches functions that have neither a name nor distinctive lines.
func (m *matcher) nameless() {
	m.how = byNeighbour
	key := func(where shifts) func(f *funcEntry) hash {
		return func(f *funcEntry) hash {
			if f.Nameless != nameNone {
				return 0
			}
			return mix(hashNumber(f.Size), uint64(where.of(f.RVA))) | 1
		}
	}
	groups(keys(m.a, m.p.old, key(m.where)), keys(m.b, m.p.new, key(nil)), m.inOrder)
}

// neighbours matches runs of functions between matched ones if the functions of a
// run have the same sizes and distances.
func (m *matcher) neighbours() {
	m.how = byNeighbour
	as, bs := byAddress(m.a), byAddress(m.b)
	place := make([]int32, len(m.b)) // index in bs
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

// sameRow reports whether n functions starting at at and at2 are alike and
// are followed by the same function, or by none.
func (m *matcher) sameRow(as []int32, at int, bs []int32, at2, n int) bool {
	if at2+n > len(bs) || (at+n == len(as)) != (at2+n == len(bs)) {
		return false
	}
	if at+n < len(as) && m.p.old[as[at+n]] != bs[at2+n] {
		return false
	}
	if at == 0 && at+n == len(as) && n == 1 {
		return false // there are no other functions
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

// byAddress returns the indices of functions in order of address.
func byAddress(funcs []funcEntry) []int32 {
	order := make([]int32, len(funcs))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		return cmp.Or(cmp.Compare(funcs[i].RVA, funcs[j].RVA), cmp.Compare(funcs[i].Size, funcs[j].Size), cmp.Compare(i, j))
	})
	return order
}
