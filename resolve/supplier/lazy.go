package supplier

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/resolve/internal/extent"
	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// lazy implements resolve.Symbols for a binary whose units are read when one of their addresses is looked up. The units
// that must be read together are a part; the most recently used parts are kept. Its answers are those of a Resolver of
// the whole module.
type lazy struct {
	resolve.NamesOnly
	*dwarf2sym.Lookup
	file    *object.File
	extents extent.Extent

	parts partCache[dwarf2sym.Group]

	named func() map[string][]resolve.Code // made by the first call
}

// openLazy opens the symbols of a binary, whose Close closes it and the files that were found for it. An
// error closes them, too.
func openLazy(ctx context.Context, set *debugset.Set, o dwarf2sym.Options) (*lazy, error) {
	lookup, err := dwarf2sym.OpenLookup(ctx, set.Binary, o)
	if err != nil {
		return nil, errors.Join(err, closeAll(set))
	}
	m := lookup.Module()
	l := &lazy{
		NamesOnly: resolve.NamesOnly{Module: resolve.Identity{
			OS: m.OS, Arch: m.Arch, ID: m.ID, Name: symfmt.CleanName(m.Name, ""), Path: set.Binary.Path, DebugPath: set.DebugPath(),
		}},
		Lookup: lookup, file: set.Binary, extents: extent.Extent{Extents: lookup.Extents()},
	}
	l.Release = func() error {
		l.Lookup.Close()
		return closeAll(set)
	}
	l.parts.init(l.readPart)
	l.named = sync.OnceValue(l.readNames)
	return l, nil
}

// Close implements resolve.Symbols.
func (l *lazy) Close() error { return l.NamesOnly.Close() }

// Detail implements resolve.Symbols.
func (l *lazy) Detail(ctx context.Context) resolve.Detail {
	switch functions, files := l.Lookup.Detail(ctx); {
	case files:
		return resolve.LineDetail
	case functions:
		return resolve.FuncDetail
	}
	return resolve.PublicDetail
}

// around returns the functions near an address, or nil if there can be none.
func (l *lazy) around(ctx context.Context, rva symfmt.RVA) (*part, error) {
	for {
		areas := l.Areas(ctx, rva, rva)
		if ctx.Err() != nil || len(areas) == 0 {
			return nil, context.Cause(ctx)
		}
		if r := l.parts.get(ctx, areas[0].Group); r != nil {
			return r, nil
		}
	}
}

// readPart reads a part; it returns nil if the areas have changed, or if the context ends.
func (l *lazy) readPart(ctx context.Context, key dwarf2sym.Group) *part {
	m, ok := l.Read(ctx, key)
	if !ok {
		return nil
	}
	return newPart(m, l.file.Path)
}

// Order implements resolve.OrderedSymbols.
func (l *lazy) Order(ctx context.Context, at []symfmt.RVA) [][]int {
	if len(at) > manyAtOnce {
		l.parts.setLimit(heldInOrder)
	}
	return l.Lookup.Order(ctx, at)
}

// Nearest implements resolve.Symbols.
func (l *lazy) Nearest(ctx context.Context, rva symfmt.RVA, at *resolve.Location) (bool, error) {
	*at = resolve.Location{Frames: at.Frames[:0]}
	p, err := l.around(ctx, rva)
	if err != nil {
		return false, err
	}
	if p != nil {
		if found, err := p.Nearest(ctx, rva, at); found || err != nil {
			p.rename(at.Frames, l.Name)
			return found, err
		}
	}
	s, ok := l.Public(rva)
	if !ok || l.starts(ctx, s.RVA, rva) {
		return false, context.Cause(ctx) // like Resolver.Nearest
	}
	verdict := l.extents.Public(surroundings{l, ctx}, s.RVA, s.Size, rva)
	if verdict == extent.Outside || ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	at.Source, at.Start, at.Offset, at.Guess, at.Multiple = resolve.Public, s.RVA, uint64(rva-s.RVA), verdict == extent.Unsure, s.Multiple
	at.Frames = append(at.Frames, resolve.Frame{Function: symfmt.CleanName(l.Name(s.Name), symfmt.NoName)})
	return true, nil
}

// starts reports whether a function starts in [first, last]. It returns false if the context ends.
func (l *lazy) starts(ctx context.Context, first, last symfmt.RVA) bool {
	for ctx.Err() == nil {
		areas := l.Areas(ctx, first, last)
		for i := len(areas) - 1; ; i-- {
			if i < 0 {
				return false
			}
			p := l.parts.get(ctx, areas[i].Group)
			if p == nil {
				break
			}
			if p.starts(max(first, areas[i].First), min(last, areas[i].Last)) {
				return true
			}
		}
	}
	return false
}

// surroundings implements extent.Surroundings. Its answers do not count once the context has ended.
type surroundings struct {
	*lazy
	ctx context.Context
}

func (s surroundings) InFunc(rva symfmt.RVA) bool {
	p, err := s.around(s.ctx, rva)
	if p == nil || err != nil {
		return false
	}
	var at resolve.Location
	found, _ := p.Nearest(s.ctx, rva, &at) // a part has no PUBLICs
	return found
}

func (s surroundings) BlockBegins(first, last symfmt.RVA) bool { return s.Begins(s.ctx, first, last) }

func (s surroundings) BlockAt(rva symfmt.RVA) (symfmt.Range, bool) {
	t, ok := s.Block(s.ctx, rva)
	if !ok {
		return symfmt.Range{}, false
	}
	return symfmt.Range{RVA: t.Blocks[0].RVA, Size: t.Blocks[0].Size}, true
}

// LineStart implements resolve.Symbols.
func (l *lazy) LineStart(ctx context.Context, rva symfmt.RVA) (start symfmt.RVA, ok bool, err error) {
	p, err := l.around(ctx, rva)
	if p == nil || err != nil {
		return 0, false, err
	}
	return p.LineStart(ctx, rva)
}

// Rules implements resolve.Symbols.
func (l *lazy) Rules(ctx context.Context, rva symfmt.RVA, names *cfi.Names) (*resolve.Rules, error) {
	t, ok := l.Block(ctx, rva)
	if !ok {
		return nil, context.Cause(ctx)
	}
	rules, err := resolve.RulesIn(&t, 0, rva, names)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.file.Path, err)
	}
	return rules, nil
}

// InCode implements resolve.Symbols.
func (l *lazy) InCode(rva symfmt.RVA) bool { return l.extents.InCode(rva) }

// HasRules implements resolve.Symbols.
func (l *lazy) HasRules(ctx context.Context) bool { return l.Lookup.HasRules(ctx) }

// Last implements resolve.Symbols.
func (l *lazy) Last(ctx context.Context) symfmt.RVA { return l.Lookup.Last(ctx) }

// Damage implements resolve.Symbols.
func (l *lazy) Damage() []symfmt.Problem { return l.Lookup.Damage() }

// Base implements resolve.Symbols.
func (l *lazy) Base() (base uint64, known bool) { return l.extents.Base, true }

// Memory implements resolve.Symbols.
func (l *lazy) Memory() int64 {
	return l.parts.held() + l.Lookup.Memory()
}

// Named implements resolve.NamedSymbols with the symbols of the binary. Of several symbols at an address it
// knows only one.
func (l *lazy) Named(name string) []resolve.Code { return l.named()[name] }

// readNames returns the symbols of the binary by name, in order of address.
func (l *lazy) readNames() map[string][]resolve.Code {
	names := make(map[string][]resolve.Code)
	for rva := symfmt.RVA(math.MaxUint64); ; rva-- {
		s, ok := l.Public(rva)
		if ok && s.Name != "" {
			names[s.Name] = append(names[s.Name], resolve.Code{Start: s.RVA, Size: s.Size})
		}
		if rva = s.RVA; !ok || rva == 0 {
			break
		}
	}
	for _, list := range names {
		slices.Reverse(list)
	}
	return names
}

// AtOffset implements resolve.MappedSymbols. A file with only debug information has other offsets.
func (l *lazy) AtOffset(offset uint64) (symfmt.RVA, bool) {
	if !l.file.HasCode() {
		return 0, false
	}
	addr, ok := l.file.AddrOf(offset)
	return symfmt.RVA(addr - l.file.Base), ok
}

// CodeOffset implements resolve.MappedSymbols.
func (l *lazy) CodeOffset() (uint64, bool) {
	if !l.file.HasCode() {
		return 0, false
	}
	return l.file.CodeOffset()
}

var (
	_ resolve.SourceSymbols  = (*lazy)(nil)
	_ resolve.TableSymbols   = (*lazy)(nil)
	_ resolve.MappedSymbols  = (*lazy)(nil)
	_ resolve.NamedSymbols   = (*lazy)(nil)
	_ resolve.OrderedSymbols = (*lazy)(nil)
)
