package symdiff

import (
	"fmt"
	"slices"
	"strings"

	"github.com/symtool/symtool/symfmt"
)

// mutation is one kind of change; apply returns false if a file has no place for it.
type mutation struct {
	name  string
	apply func(m *mutant) bool
}

// onFunc returns a mutation of one function.
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
		k := 1 + m.rng.IntN(len(f.lines)-1)
		for i := range f.lines { // one alone in its file would be shifted
			if own := &f.lines[k]; i != k && f.lines[i].File == own.File && f.lines[i].Num > 0 {
				own.Num += 1000000
				m.same(f, LinesChanged)
				return
			}
		}
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
