package symdiff

import (
	"math/rand/v2"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// mutant is a file that is being changed, with the changes to be reported.
type mutant struct {
	old, new *doc
	rng      *rand.Rand
	want     []string
	names    map[string]int // of old functions: how many have one
}

func (m *mutant) wants(k Kind, old, new string, what Aspect) {
	m.want = append(m.want, says(k, old, new, what))
}

// same expects the function at an address, which it keeps, to differ in something.
func (m *mutant) same(f *docFunc, what Aspect) { m.wants(Functions, at(f.RVA), at(f.RVA), what) }

// pick returns a random function for which ok is true, nil if there is none.
func (m *mutant) pick(ok func(i int, f *docFunc) bool) *docFunc {
	var all []int
	for i := range m.new.funcs {
		if ok(i, &m.new.funcs[i]) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return &m.new.funcs[all[m.rng.IntN(len(all))]]
}

// alone reports whether no other function or PUBLIC begins in a function's code or
// covers it. Functions are in order of addresses.
func (m *mutant) alone(i int) bool {
	f := &m.new.funcs[i]
	if f.Size == 0 || i > 0 && m.new.funcs[i-1].stop() > f.RVA || i+1 < len(m.new.funcs) && m.new.funcs[i+1].RVA < f.stop() {
		return false
	}
	return !slices.ContainsFunc(m.new.m.Publics, func(p symfmt.Public) bool { return p.RVA >= f.RVA && p.RVA < f.stop() })
}

// named reports whether a name is good, and belongs to no other function.
func (m *mutant) named(f *docFunc) bool {
	if m.names == nil {
		m.names = map[string]int{}
		for i := range m.old.funcs {
			m.names[m.old.funcs[i].Name]++
		}
	}
	return m.names[f.Name] == 1 && kindOfName([]byte(f.Name)) == nameGood
}

// unlike reports whether no other function has the same lines: only then can a change be
// attributed to it.
func (m *mutant) unlike(f *docFunc) bool {
	for i := range m.new.funcs {
		g := &m.new.funcs[i]
		if g != f && g.Size == f.Size && len(g.lines) == len(f.lines) && (len(f.lines) == 0 || g.lines[0].Num == f.lines[0].Num) {
			return false
		}
	}
	return true
}

// tidy reports whether the lines of a function lie in it in order, without gaps.
func tidy(f *docFunc) bool {
	at := f.RVA
	for _, l := range f.lines {
		if l.RVA != at || l.Size == 0 || l.Num == 0 {
			return false
		}
		at += symfmt.RVA(l.Size)
	}
	return at == f.stop() && len(f.lines) > 0
}

// apart reports whether adjacent line records have different lines.
func apart(f *docFunc) bool {
	for i := 1; i < len(f.lines); i++ {
		if a, b := f.lines[i-1], f.lines[i]; a.Num == b.Num && a.File == b.File {
			return false
		}
	}
	return true
}

// blocksOf returns the indexes of the STACK CFI INITs of a function, or nil if one of
// them also belongs to another function.
func (m *mutant) blocksOf(f *docFunc) (own []int) {
	for i := range m.new.blocks {
		b := &m.new.blocks[i]
		stop := b.rva + symfmt.RVA(b.size)
		switch {
		case stop <= f.RVA || b.rva >= f.stop():
		case b.rva < f.RVA || stop > f.stop():
			return nil
		default:
			own = append(own, i)
		}
	}
	return own
}

// framed returns the STACK CFI INIT of a function if it has one of its own and size, or -1.
func (m *mutant) framed(i int, f *docFunc) int {
	if !m.alone(i) {
		return -1
	}
	own := m.blocksOf(f)
	if len(own) != 1 || m.new.blocks[own[0]].rva != f.RVA || m.new.blocks[own[0]].size != f.Size {
		return -1
	}
	return own[0]
}

// stacked returns a random function with a STACK CFI INIT for which ok is true.
func (m *mutant) stacked(ok func(b *docBlock) bool) (*docFunc, *docBlock) {
	f := m.pick(func(i int, f *docFunc) bool {
		k := m.framed(i, f)
		return k >= 0 && ok(&m.new.blocks[k])
	})
	if f == nil {
		return nil, nil
	}
	return f, &m.new.blocks[m.blocksOf(f)[0]]
}

// moved adds the expected changes for everything that shift moved.
func (m *mutant) moved(from symfmt.RVA, by uint64) {
	for i := range m.old.funcs {
		if rva := m.old.funcs[i].RVA; rva >= from {
			m.wants(Functions, at(rva), at(rva+symfmt.RVA(by)), Moved)
		}
	}
	for i := range m.old.m.Publics {
		if rva := m.old.m.Publics[i].RVA; rva >= from {
			m.wants(Publics, at(rva), at(rva+symfmt.RVA(by)), Moved)
		}
	}
}

// border reports whether nothing extends over an address.
func (m *mutant) border(rva symfmt.RVA) bool {
	over := func(start symfmt.RVA, size uint64) bool { return start < rva && start+symfmt.RVA(size) > rva }
	for i := range m.old.funcs {
		if over(m.old.funcs[i].RVA, m.old.funcs[i].Size) {
			return false
		}
	}
	for _, b := range m.old.blocks {
		if over(b.rva, b.size) {
			return false
		}
	}
	return !slices.ContainsFunc(m.old.m.Wins, func(w symfmt.StackWin) bool { return over(w.RVA, w.CodeSize) })
}
