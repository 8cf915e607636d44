package resolve

import (
	"context"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
	"github.com/symtool/symtool/symfmt/vars"
)

// moduleSource is a source that reads from a Module in memory.
type moduleSource struct {
	m *symfmt.Module
}

func (moduleSource) place(uint64) string { return "" }

func (s moduleSource) function(p *functionParser, v span) (function, error) {
	f := &s.m.Funcs[v.offset]
	for in := range f.Inlines() {
		p.flattener.AddInline(in)
	}
	for l := range f.Lines() {
		p.flattener.AddLine(&l)
	}
	return function{name: symfmt.CleanName(f.Name, symfmt.NoName), multiple: f.Multiple, paramSize: f.ParamSize}, nil
}

func (s moduleSource) funcName(v span) (string, error) {
	return symfmt.CleanName(s.m.Funcs[v.offset].Name, symfmt.NoName), nil
}

func (s moduleSource) lines(v span, add func(*symfmt.Line)) error {
	for l := range s.m.Funcs[v.offset].Lines() {
		add(&l)
	}
	return nil
}

func (s moduleSource) inlines(v span, add func(*symfmt.Inline)) error {
	for in := range s.m.Funcs[v.offset].Inlines() {
		add(in)
	}
	return nil
}

func (s moduleSource) variables(string) (*vars.Info, []symfmt.Problem, error) {
	return s.m.Vars, nil, nil
}

func (s moduleSource) public(place uint64, _ symfmt.RVA) (*publicSymbol, error) {
	p := &s.m.Publics[place]
	return &publicSymbol{symfmt.CleanName(p.Name, symfmt.NoName), p.Multiple, p.ParamSize}, nil
}

func (s moduleSource) file(place uint64, _ symfmt.FileID) (string, error) {
	return symfmt.CleanName(s.m.Files[place].Name, symfmt.NoFile), nil
}

func (s moduleSource) origin(place uint64, _ symfmt.OriginID, old bool) (string, int64, error) {
	o := &s.m.Origins[place]
	file := int64(-1)
	if o.HasFile && old {
		file = o.File
	}
	return symfmt.CleanName(o.Name, symfmt.NoName), file, nil
}

func (s moduleSource) rules(v span, rva symfmt.RVA, names *cfi.Names) (*Rules, error) {
	return RulesIn(&s.m.CFI, int(v.offset), rva, names)
}

// RulesIn returns the rules of a block of a table that are in force at an address in it. Register numbers are those of
// names, as for Symbols.Rules.
func RulesIn(t *symfmt.CFITable, block int, rva symfmt.RVA, names *cfi.Names) (*Rules, error) {
	b := &t.Blocks[block]
	found := &Rules{Start: b.RVA, Size: b.Size, Records: 1 + int(b.Count), Row: cfi.Row{RVA: b.RVA}, Derived: b.Marks&symfmt.MarkCode != 0}
	apply := func(id symfmt.RuleID) error {
		rules, err := t.Rules.Rules(id)
		if err == nil {
			found.Row.Apply(names.Translate(rules))
		}
		return err
	}
	if err := apply(b.Init); err != nil {
		return nil, err
	}
	for _, row := range t.Rows[b.First : b.First+b.Count] {
		if row.RVA > rva || uint64(row.RVA-b.RVA) >= b.Size {
			continue
		}
		if err := apply(row.Rules); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (s moduleSource) win(v span) (*symfmt.StackWin, error) {
	win := s.m.Wins[v.offset]
	return &win, nil
}

func (s moduleSource) codeFile() string {
	for i := range s.m.Infos {
		if name := s.m.Infos[i].CodeFile(); name != "" {
			return name
		}
	}
	return ""
}

func (s moduleSource) held() int64 {
	sum := int64(0)
	for i := range s.m.Funcs {
		sum += int64(s.m.Funcs[i].Body.Size())
	}
	return sum + 32*int64(len(s.m.CFI.Blocks)) + 16*int64(len(s.m.CFI.Rows))
}

func (moduleSource) Close() error { return nil }

// ModuleOptions describe where a Module comes from.
type ModuleOptions struct {
	Path      string           // path of the module's file, for messages
	DebugPath string           // path of its separate debug file, for messages
	Extents   *symfmt.Extents  // of the module's binary; nil for a module from elsewhere
	Problems  []symfmt.Problem // what was left out of it, returned by Damage
	Doubt     string           // why its answers may be wrong, returned by DoubtOf; usually ""
	MaxMemory int64            // of the functions that are kept after a look-up, roughly and in bytes; 0 means as with Open
}

// FromModule returns a Resolver of a Module. The Resolver refers to m, which must not change.
func FromModule(m *symfmt.Module, o ModuleOptions) *Resolver {
	m = m.Ordered()
	r := newResolver(o.Path, indexModule(m, o.Extents != nil), moduleSource{m: m}, o.Problems, o.Extents)
	r.debugPath, r.doubt = o.DebugPath, o.Doubt
	if o.MaxMemory > 0 {
		r.limit = min(r.limit, o.MaxMemory)
	}
	return r
}

// indexModule returns the index of a Module, whose records are in canonical order. In a binary's Module, a PUBLIC at 0
// is a symbol at that address, as in object files; see builder.add for other Modules.
func indexModule(m *symfmt.Module, binary bool) *index {
	x := newIndex()
	x.OS, x.Arch, x.ID, x.Name = m.OS, m.Arch, m.ID, symfmt.CleanName(m.Name, "")
	x.OldInlines = m.HasOldInlines()
	b := builder{x: x}
	for i := range m.Funcs {
		if f := &m.Funcs[i]; f.Size > 0 {
			b.funcs.add(span{rva: f.RVA, size: f.Size, offset: uint64(i)})
		}
	}
	for i := range m.CFI.Blocks {
		if block := &m.CFI.Blocks[i]; block.Size > 0 {
			b.blocks.add(span{rva: block.RVA, size: block.Size, offset: uint64(i)})
		}
	}
	for i := range m.Wins {
		w := &m.Wins[i]
		if wins := b.winsOf(w.Type); wins != nil && w.CodeSize > 0 && !w.SaysNothing() {
			wins.add(span{rva: w.RVA, size: w.CodeSize, offset: uint64(i)})
		}
	}
	for i := range m.Publics {
		if p := &m.Publics[i]; p.RVA != 0 || binary {
			b.publics.add(uint64(p.RVA), uint64(i))
		}
	}
	for i := range m.Files {
		b.files.add(uint64(m.Files[i].ID), uint64(i))
	}
	for i := range m.Origins {
		b.origins.add(uint64(m.Origins[i].ID), uint64(i))
	}
	b.makeTables()
	return x
}

// ContentsOf returns what s knows about the contents of a source file of the functions at an address. The result is
// zero if s knows nothing, as for symbol files.
func ContentsOf(ctx context.Context, s Symbols, rva symfmt.RVA, file string) symfmt.Contents {
	switch s := s.(type) {
	case *Resolver:
		if m, ok := s.source.(moduleSource); ok {
			return m.m.Contents[file]
		}
	case SourceSymbols:
		for _, f := range s.Source(ctx, rva) {
			if symfmt.CleanName(f.File.Path, symfmt.NoFile) == file {
				return f.File.Contents
			}
		}
	}
	return symfmt.Contents{}
}
