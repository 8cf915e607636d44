package symdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// remove removes a function.
func (m *mutant) remove(f *docFunc) {
	i := slices.IndexFunc(m.new.funcs, func(g docFunc) bool { return g.RVA == f.RVA && g.Name == f.Name })
	m.new.funcs = slices.Delete(m.new.funcs, i, i+1)
}

func (m *mutant) public(name string) bool {
	return slices.ContainsFunc(m.new.m.Publics, func(p symfmt.Public) bool { return p.Name == name })
}

// free reports whether a range of bytes has no records.
func (m *mutant) free(from symfmt.RVA, size uint64) bool {
	touches := func(start symfmt.RVA, n uint64) bool {
		return start < from+symfmt.RVA(size) && start+symfmt.RVA(n) > from
	}
	for i := range m.new.funcs {
		if touches(m.new.funcs[i].RVA, m.new.funcs[i].Size) {
			return false
		}
	}
	for _, b := range m.new.blocks {
		if touches(b.rva, b.size) {
			return false
		}
	}
	return !slices.ContainsFunc(m.new.m.Publics, func(p symfmt.Public) bool { return touches(p.RVA, 1) })
}

// file returns the number of a new file.
func (m *mutant) file(name string) symfmt.FileID {
	id := symfmt.FileID(0)
	for _, f := range m.new.m.Files {
		id = max(id, f.ID+1)
	}
	m.new.m.Files = append(m.new.m.Files, symfmt.File{ID: id, Name: name})
	return id
}

// moveAlone moves a function with what belongs to it.
func (m *mutant) moveAlone(f *docFunc, by symfmt.RVA) {
	for _, i := range m.blocksOf(f) {
		b := &m.new.blocks[i]
		b.rva += by
		for k := range b.rows {
			b.rows[k].rva += by
		}
	}
	f.RVA += by
	for i := range f.lines {
		f.lines[i].RVA += by
	}
	for i := range f.inlines {
		for k := range f.inlines[i].Ranges {
			f.inlines[i].Ranges[k].RVA += by
		}
	}
}

// removeCode removes a function and its code: everything after it moves down.
func removeCode(m *mutant) bool {
	f := m.pick(func(i int, f *docFunc) bool {
		return m.alone(i) && m.named(f) && i > 0 && i+1 < len(m.new.funcs) && m.framed(i, f) >= 0 && len(m.new.m.Wins) == 0 && m.border(f.RVA) && m.border(f.stop())
	})
	if f == nil {
		return false
	}
	m.wants(Functions, at(f.RVA), "-", Removed)
	own := m.blocksOf(f)[0]
	m.new.blocks = slices.Delete(m.new.blocks, own, own+1)
	stop, by := f.stop(), -f.Size
	m.remove(f)
	m.moved(stop, by)
	m.new.shift(stop, by)
	return true
}

// insertFunction inserts a function between others.
func insertFunction(m *mutant) bool {
	f := m.pick(func(i int, f *docFunc) bool { return m.border(f.RVA) && i > 0 })
	if f == nil {
		return false
	}
	rva, by := f.RVA, uint64(16*(1+m.rng.IntN(100)))
	m.moved(rva, by)
	m.new.shift(rva, by)
	m.wants(Functions, "-", at(rva), Added)
	m.new.funcs = append(m.new.funcs, docFunc{Func: symfmt.Func{RVA: rva, Size: by - 5, Name: "put_in"}})
	return true
}

func publicToFunction(m *mutant) bool {
	i := m.pickPublic()
	if i < 0 {
		return false
	}
	p := m.new.m.Publics[i]
	if !m.free(p.RVA+1, 16) || !m.free(p.RVA-8, 8) {
		return false
	}
	m.wants(Functions, "-", at(p.RVA), Added|BecameFunc)
	m.new.m.Publics = slices.Delete(m.new.m.Publics, i, i+1)
	m.new.funcs = append(m.new.funcs, docFunc{Func: symfmt.Func{RVA: p.RVA, Size: 16, Name: p.Name}})
	return true
}

// splitFunction moves the end of a function to another place, as compilers do with
// rarely executed code.
func splitFunction(m *mutant) bool {
	half := func(f *docFunc) symfmt.RVA { return f.lines[len(f.lines)/2].RVA }
	f := m.pick(func(i int, f *docFunc) bool {
		if !withLines(4)(m, i, f) || !m.named(f) || len(f.inlines) > 0 || len(m.new.m.Wins) > 0 || !m.alone(i) {
			return false
		}
		k := m.framed(i, f)
		return k >= 0 && (len(m.new.blocks[k].rows) == 0 || m.new.blocks[k].rows[len(m.new.blocks[k].rows)-1].rva < half(f))
	})
	if f == nil {
		return false
	}
	cut := half(f)
	cold := docFunc{Func: symfmt.Func{RVA: m.new.top(), Size: uint64(f.stop() - cut), Name: f.Name + " [clone .cold]"}}
	for _, l := range f.lines[len(f.lines)/2:] {
		l.RVA = l.RVA - cut + cold.RVA
		cold.lines = append(cold.lines, l)
	}
	m.new.blocks[m.blocksOf(f)[0]].size = uint64(cut - f.RVA)
	f.lines, f.Size = f.lines[:len(f.lines)/2], uint64(cut-f.RVA)
	m.same(f, Resized|LinesChanged)
	m.wants(Functions, "-", at(cold.RVA), Added|Split)
	m.new.funcs = append(m.new.funcs, cold)
	return true
}

func renameOrigin(m *mutant) bool {
	used := map[symfmt.OriginID]int{}
	for i := range m.new.funcs {
		for _, in := range m.new.funcs[i].inlines {
			used[in.Origin]++
		}
	}
	if len(m.new.m.Origins) == 0 {
		return false
	}
	o := &m.new.m.Origins[m.rng.IntN(len(m.new.m.Origins))]
	o.Name = "another_origin"
	for i := range m.new.funcs {
		f := &m.new.funcs[i]
		if slices.ContainsFunc(f.inlines, func(in symfmt.Inline) bool { return in.Origin == o.ID }) {
			m.same(f, InlinesChanged)
		}
	}
	return used[o.ID] > 0
}

// renameFolders moves the build to another folder.
func renameFolders(m *mutant) bool {
	n := 0
	for i := range m.new.m.Files {
		if name := m.new.m.Files[i].Name; strings.HasPrefix(name, "/") {
			m.new.m.Files[i].Name = "/another/build" + name
			n++
		}
	}
	if n == 0 || n != len(m.new.m.Files) {
		return false
	}
	for i := range m.new.funcs {
		f := &m.new.funcs[i]
		if len(f.lines) > 0 || slices.ContainsFunc(f.inlines, func(in symfmt.Inline) bool { return !in.NoFile }) {
			m.same(f, PathsChanged)
		}
	}
	m.want = append(m.want, fmt.Sprintf("path  > /another/build: %d", n))
	return true
}

// effective reports whether a row changes what is in force.
func effective(b *docBlock, i int) bool {
	return len(b.rows) > i && b.rows[i].rules != b.init && !strings.Contains(b.init, b.rows[i].rules)
}

// rowsRepeat reports whether removing the first row may change nothing.
func rowsRepeat(b *docBlock) bool { return len(b.rows) > 1 && b.rows[1].rva == b.rows[0].rva }

// pickPublic returns a PUBLIC with a unique name that is alone at its address, or
// -1.
func (m *mutant) pickPublic() int {
	var all []int
	names, places := map[string]int{}, map[symfmt.RVA]int{}
	for _, p := range m.new.m.Publics {
		names[p.Name]++
		places[p.RVA]++
	}
	for i := range m.new.funcs {
		names[m.new.funcs[i].Name]++
	}
	for i, p := range m.new.m.Publics {
		if names[p.Name] == 1 && places[p.RVA] == 1 && kindOfName([]byte(p.Name)) == nameGood && m.quiet(p.RVA) {
			all = append(all, i)
		}
	}
	if len(all) == 0 {
		return -1
	}
	return all[m.rng.IntN(len(all))]
}

// quiet reports whether no function and no STACK CFI is at an address: a PUBLIC there
// would cut STACK CFI outside functions in two.
func (m *mutant) quiet(rva symfmt.RVA) bool {
	for i := range m.new.funcs {
		if f := &m.new.funcs[i]; f.RVA <= rva && rva < f.stop() {
			return false
		}
	}
	for _, b := range m.new.blocks {
		if b.rva <= rva && rva < b.rva+symfmt.RVA(b.size) {
			return false
		}
	}
	return true
}

func onPublic(name string, change func(m *mutant, i int)) mutation {
	return mutation{name, func(m *mutant) bool {
		i := m.pickPublic()
		if i < 0 {
			return false
		}
		change(m, i)
		return true
	}}
}

// win returns the only STACK WIN in a function if it begins where the function
// does, or -1.
func (m *mutant) win(f *docFunc) int {
	at := -1
	for i, w := range m.new.m.Wins {
		if w.RVA >= f.RVA && w.RVA < f.stop() {
			if at >= 0 {
				return -1
			}
			at = i
		}
	}
	return at
}
