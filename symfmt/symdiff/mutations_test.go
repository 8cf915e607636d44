package symdiff

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// mutant is a file that is being changed, and what is to be told of it.
type mutant struct {
	old, new *doc
	rng      *rand.Rand
	want     []string
	names    map[string]int // of old functions: how many have one
}

func (m *mutant) wants(k Kind, old, new string, what Aspect) {
	m.want = append(m.want, says(k, old, new, what))
}

// same says that the function at an address, which it keeps, differs in something.
func (m *mutant) same(f *docFunc, what Aspect) { m.wants(Functions, at(f.RVA), at(f.RVA), what) }

// pick is a random function for which ok is true, nil if there is none.
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

// alone tells whether no other function or PUBLIC begins in a function's code or
// covers it. Functions are in order of addresses.
func (m *mutant) alone(i int) bool {
	f := &m.new.funcs[i]
	if f.Size == 0 || i > 0 && m.new.funcs[i-1].stop() > f.RVA || i+1 < len(m.new.funcs) && m.new.funcs[i+1].RVA < f.stop() {
		return false
	}
	return !slices.ContainsFunc(m.new.m.Publics, func(p symfmt.Public) bool { return p.RVA >= f.RVA && p.RVA < f.stop() })
}

// named tells whether a name is good, and of no other function.
func (m *mutant) named(f *docFunc) bool {
	if m.names == nil {
		m.names = map[string]int{}
		for i := range m.old.funcs {
			m.names[m.old.funcs[i].Name]++
		}
	}
	return m.names[f.Name] == 1 && kindOfName([]byte(f.Name)) == nameGood
}

// unlike tells whether no other function has the same lines: then which of them
// was changed can be told.
func (m *mutant) unlike(f *docFunc) bool {
	for i := range m.new.funcs {
		g := &m.new.funcs[i]
		if g != f && g.Size == f.Size && len(g.lines) == len(f.lines) && (len(f.lines) == 0 || g.lines[0].Num == f.lines[0].Num) {
			return false
		}
	}
	return true
}

// tidy tells whether the lines of a function lie in it in order, without gaps.
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

// apart tells whether two line records next to each other are of different lines.
func apart(f *docFunc) bool {
	for i := 1; i < len(f.lines); i++ {
		if a, b := f.lines[i-1], f.lines[i]; a.Num == b.Num && a.File == b.File {
			return false
		}
	}
	return true
}

// blocksOf are the indexes of the STACK CFI INITs of a function, nil where one is
// not only its own.
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

// framed tells whether a function has one STACK CFI INIT of its own and size.
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

// stacked is a random function with a STACK CFI INIT for which ok is true.
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

// moved adds what is told of all that shift moved.
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

// border tells whether nothing goes over an address.
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

// mutation is one kind of change; apply is false where a file has no place for it.
type mutation struct {
	name  string
	apply func(m *mutant) bool
}

// onFunc is a mutation of one function.
func onFunc(name string, ok func(m *mutant, i int, f *docFunc) bool, change func(m *mutant, f *docFunc)) mutation {
	return mutation{name, func(m *mutant) bool {
		f := m.pick(func(i int, f *docFunc) bool { return ok(m, i, f) })
		if f == nil {
			return false
		}
		change(m, f)
		return true
	}}
}

func withLines(n int) func(m *mutant, i int, f *docFunc) bool {
	return func(m *mutant, i int, f *docFunc) bool { return tidy(f) && apart(f) && len(f.lines) >= n }
}

func withInlines(m *mutant, i int, f *docFunc) bool { return len(f.inlines) > 0 }

var mutations = []mutation{
	onFunc("function renamed, with lines", func(m *mutant, i int, f *docFunc) bool { return tidy(f) && m.unlike(f) && m.named(f) }, func(m *mutant, f *docFunc) {
		f.Name = "another_name"
		m.same(f, Renamed)
	}),
	onFunc("function renamed, without lines", func(m *mutant, i int, f *docFunc) bool { return len(f.lines) == 0 && m.named(f) && m.alone(i) }, func(m *mutant, f *docFunc) {
		f.Name = "another_name"
		m.same(f, Renamed)
	}),
	onFunc("arguments changed", func(m *mutant, i int, f *docFunc) bool {
		return tidy(f) && m.unlike(f) && m.named(f) && strings.HasSuffix(f.Name, ")") && argumentsOf([]byte(f.Name)) > 0
	}, func(m *mutant, f *docFunc) {
		f.Name = string(baseName([]byte(f.Name))) + "(another_argument)"
		m.same(f, Renamed)
	}),
	onFunc("name lost", func(m *mutant, i int, f *docFunc) bool { return tidy(f) && m.unlike(f) && m.named(f) }, func(m *mutant, f *docFunc) {
		f.Name = "<name omitted>"
		m.same(f, Renamed|LostName)
	}),
	onFunc("function removed, its code left", func(m *mutant, i int, f *docFunc) bool {
		return m.alone(i) && m.named(f) && len(m.blocksOf(f)) == 0 && len(m.new.m.Wins) == 0
	}, func(m *mutant, f *docFunc) {
		m.wants(Functions, at(f.RVA), "-", Removed|Lost)
		m.remove(f)
	}),
	{"function removed with its code", removeCode},
	{"function put in", insertFunction},
	{"bytes put in between functions", func(m *mutant) bool {
		f := m.pick(func(i int, f *docFunc) bool { return m.border(f.RVA) })
		if f == nil {
			return false
		}
		by := uint64(1 + m.rng.IntN(0x1000))
		m.moved(f.RVA, by)
		m.new.shift(f.RVA, by)
		return true
	}},
	onFunc("function moved alone", func(m *mutant, i int, f *docFunc) bool {
		return m.alone(i) && m.named(f) && (m.framed(i, f) >= 0 || len(m.new.blocks) == 0) && len(m.new.m.Wins) == 0
	}, func(m *mutant, f *docFunc) {
		by := m.new.top() - f.RVA
		m.wants(Functions, at(f.RVA), at(f.RVA+by), Moved)
		m.moveAlone(f, by)
	}),
	onFunc("function longer", func(m *mutant, i int, f *docFunc) bool {
		return m.named(f) && m.alone(i) && len(m.new.m.Wins) == 0 && m.free(f.stop(), 8)
	}, func(m *mutant, f *docFunc) {
		f.Size += 8
		m.same(f, Resized)
	}),
	onFunc("size of parameters", func(m *mutant, i int, f *docFunc) bool { return m.named(f) }, func(m *mutant, f *docFunc) {
		f.ParamSize += 4
		m.same(f, ParamsChanged)
	}),
	onFunc("mark m", func(m *mutant, i int, f *docFunc) bool { return m.named(f) }, func(m *mutant, f *docFunc) {
		f.Multiple = !f.Multiple
		m.same(f, MultipleChanged)
	}),
	onFunc("function became a PUBLIC", func(m *mutant, i int, f *docFunc) bool {
		return m.alone(i) && m.named(f) && len(m.blocksOf(f)) == 0 && len(m.new.m.Wins) == 0 && !m.public(f.Name)
	}, func(m *mutant, f *docFunc) {
		m.wants(Functions, at(f.RVA), "-", Removed|BecamePublic)
		m.new.m.Publics = append(m.new.m.Publics, symfmt.Public{RVA: f.RVA, Name: f.Name})
		m.remove(f)
	}),
	{"PUBLIC became a function", publicToFunction},
	{"function split", splitFunction},

	onFunc("line number", func(m *mutant, i int, f *docFunc) bool { return withLines(4)(m, i, f) && m.named(f) }, func(m *mutant, f *docFunc) {
		f.lines[1+m.rng.IntN(len(f.lines)-1)].Num += 1000000
		m.same(f, LinesChanged)
	}),
	onFunc("all line numbers shifted", func(m *mutant, i int, f *docFunc) bool {
		return withLines(4)(m, i, f) && m.named(f) && len(f.inlines) == 0
	}, func(m *mutant, f *docFunc) {
		for i := range f.lines {
			f.lines[i].Num += 7
		}
		m.same(f, LinesShifted)
	}),
	onFunc("file of a line", withLines(3), func(m *mutant, f *docFunc) {
		f.lines[m.rng.IntN(len(f.lines))].File = m.file("another_file.c")
		m.same(f, LinesChanged)
	}),
	onFunc("address of a line", func(m *mutant, i int, f *docFunc) bool { return withLines(3)(m, i, f) && f.lines[1].Size > 1 }, func(m *mutant, f *docFunc) {
		f.lines[0].Size++
		f.lines[1].RVA++
		f.lines[1].Size--
		m.same(f, LinesChanged)
	}),
	onFunc("line removed", withLines(3), func(m *mutant, f *docFunc) {
		i := m.rng.IntN(len(f.lines))
		f.lines = slices.Delete(f.lines, i, i+1)
		m.same(f, LinesChanged|LostLines)
	}),
	onFunc("line goes over the one behind it", withLines(3), func(m *mutant, f *docFunc) {
		i := m.rng.IntN(len(f.lines) - 1)
		f.lines[i].Size += f.lines[i+1].Size
		f.lines = slices.Delete(f.lines, i+1, i+2)
		m.same(f, LinesChanged)
	}),
	onFunc("all lines removed", func(m *mutant, i int, f *docFunc) bool {
		return withLines(1)(m, i, f) && m.named(f) && len(f.inlines) == 0
	}, func(m *mutant, f *docFunc) {
		f.lines = nil
		m.same(f, LinesChanged|LostLines)
	}),

	onFunc("line of a call", func(m *mutant, i int, f *docFunc) bool {
		return len(f.inlines) > 0 && len(f.lines) > 0 && f.inlines[0].CallFile == f.lines[0].File
	}, func(m *mutant, f *docFunc) {
		f.inlines[0].CallLine += 100000
		m.same(f, InlinesChanged)
	}),
	onFunc("inlined call removed", func(m *mutant, i int, f *docFunc) bool { return len(f.inlines) > 1 }, func(m *mutant, f *docFunc) {
		i := m.rng.IntN(len(f.inlines))
		f.inlines = slices.Delete(f.inlines, i, i+1)
		m.same(f, InlinesChanged)
	}),
	onFunc("all inlined calls removed", withInlines, func(m *mutant, f *docFunc) {
		f.inlines = nil
		m.same(f, InlinesChanged|LostInlines)
	}),
	onFunc("inlined call longer", withInlines, func(m *mutant, f *docFunc) {
		in := &f.inlines[m.rng.IntN(len(f.inlines))]
		in.Ranges[len(in.Ranges)-1].Size++
		m.same(f, InlinesChanged)
	}),
	onFunc("level of a call", withInlines, func(m *mutant, f *docFunc) {
		f.inlines[m.rng.IntN(len(f.inlines))].Depth++
		m.same(f, InlinesChanged)
	}),
	{"origin renamed", renameOrigin},

	{"rule of a STACK CFI", func(m *mutant) bool {
		f, b := m.stacked(func(b *docBlock) bool { return len(b.rows) > 0 })
		if f == nil {
			return false
		}
		b.rows[m.rng.IntN(len(b.rows))].rules += " r_other: .cfa 96 - ^"
		m.same(f, CFIChanged)
		return true
	}},
	{"address of a STACK CFI", func(m *mutant) bool {
		f, b := m.stacked(func(b *docBlock) bool { return effective(b, 0) && b.rows[0].rva > b.rva+1 })
		if f == nil {
			return false
		}
		b.rows[0].rva--
		m.same(f, CFIChanged)
		return true
	}},
	{"STACK CFI removed", func(m *mutant) bool {
		f, b := m.stacked(func(b *docBlock) bool { return effective(b, 0) && !rowsRepeat(b) })
		if f == nil {
			return false
		}
		b.rows = b.rows[1:]
		m.same(f, CFIChanged)
		return true
	}},
	{"STACK CFI that does not parse", func(m *mutant) bool {
		f, b := m.stacked(func(b *docBlock) bool { return len(b.rows) > 0 })
		if f == nil {
			return false
		}
		b.rows[m.rng.IntN(len(b.rows))].rules = ".cfa: + +"
		m.same(f, CFIChanged|LostCFI)
		return true
	}},
	{"STACK CFI INIT removed", func(m *mutant) bool {
		f, b := m.stacked(func(b *docBlock) bool { return true })
		if f == nil {
			return false
		}
		*b = docBlock{rva: b.rva, init: ".cfa: 0"}
		m.same(f, CFIChanged|LostCFI)
		return true
	}},
	{"STACK CFI outside of functions", func(m *mutant) bool {
		if len(m.new.blocks) == 0 {
			return false
		}
		rva := m.new.top()
		m.new.blocks = append(m.new.blocks, docBlock{rva: rva, size: 0x20, init: ".cfa: 8 .ra: .cfa ^"})
		m.wants(CFI, "-", at(rva), Added)
		return true
	}},

	{"PUBLIC added", func(m *mutant) bool {
		rva := m.new.top()
		m.new.m.Publics = append(m.new.m.Publics, symfmt.Public{RVA: rva, Name: "another_public"})
		m.wants(Publics, "-", at(rva), Added)
		return true
	}},
	onPublic("PUBLIC removed", func(m *mutant, i int) {
		m.wants(Publics, at(m.new.m.Publics[i].RVA), "-", Removed|Lost)
		m.new.m.Publics = slices.Delete(m.new.m.Publics, i, i+1)
	}),
	onPublic("PUBLIC renamed", func(m *mutant, i int) {
		p := &m.new.m.Publics[i]
		m.wants(Publics, at(p.RVA), at(p.RVA), Renamed)
		p.Name = "another_public"
	}),
	onPublic("PUBLIC moved", func(m *mutant, i int) {
		p := &m.new.m.Publics[i]
		m.wants(Publics, at(p.RVA), at(m.old.top()), Moved)
		p.RVA = m.old.top()
	}),
	onPublic("PUBLIC's size of parameters", func(m *mutant, i int) {
		p := &m.new.m.Publics[i]
		m.wants(Publics, at(p.RVA), at(p.RVA), ParamsChanged)
		p.ParamSize += 4
	}),

	{"STACK WIN changed", func(m *mutant) bool {
		f := m.pick(func(i int, f *docFunc) bool { return m.alone(i) && m.named(f) && m.win(f) >= 0 })
		if f == nil {
			return false
		}
		m.new.m.Wins[m.win(f)].LocalSize += 4
		m.same(f, WinChanged)
		return true
	}},
	{"STACK WIN removed", func(m *mutant) bool {
		f := m.pick(func(i int, f *docFunc) bool { return m.alone(i) && m.named(f) && m.win(f) >= 0 })
		if f == nil {
			return false
		}
		i := m.win(f)
		m.new.m.Wins = slices.Delete(m.new.m.Wins, i, i+1)
		m.same(f, WinChanged)
		return true
	}},

	{"id", func(m *mutant) bool {
		m.want = append(m.want, fmt.Sprintf("MODULE id: %s > 0123", m.new.m.ID))
		m.new.m.ID = "0123"
		return true
	}},
	{"INFO added", func(m *mutant) bool {
		m.want = append(m.want, "INFO OTHER:  > value")
		m.new.m.Infos = append(m.new.m.Infos, symfmt.Info{Key: "OTHER", Value: "value"})
		return true
	}},
	{"folder of all files", renameFolders},
	{"nothing", func(*mutant) bool { return true }},
}

// remove takes a function out.
func (m *mutant) remove(f *docFunc) {
	i := slices.IndexFunc(m.new.funcs, func(g docFunc) bool { return g.RVA == f.RVA && g.Name == f.Name })
	m.new.funcs = slices.Delete(m.new.funcs, i, i+1)
}

func (m *mutant) public(name string) bool {
	return slices.ContainsFunc(m.new.m.Publics, func(p symfmt.Public) bool { return p.Name == name })
}

// free tells whether nothing is in some bytes.
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

// file is the number of a file that is new.
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

// removeCode takes a function out, and its code: all behind it moves to the front.
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

// insertFunction puts a function between others.
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
// what is seldom run.
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

// effective tells whether a row changes what is in force.
func effective(b *docBlock, i int) bool {
	return len(b.rows) > i && b.rows[i].rules != b.init && !strings.Contains(b.init, b.rows[i].rules)
}

// rowsRepeat tells whether taking the first row out may change nothing.
func rowsRepeat(b *docBlock) bool { return len(b.rows) > 1 && b.rows[1].rva == b.rows[0].rva }

// pickPublic is a PUBLIC whose name no other has, alone at its address; -1 without.
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

// quiet tells whether no function and no STACK CFI is at an address: the place of a
// PUBLIC cuts those outside of functions in two.
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

// win is the STACK WIN that begins where a function does, alone in it; -1 without.
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
