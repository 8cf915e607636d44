package supplier

import (
	"context"
	"errors"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/debugset"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// parts implements resolve.Parts for a binary, whose units are the parts.
type parts struct {
	*dwarf2sym.Lookup
	file *object.File
	set  *debugset.Set
}

// openParts opens a binary for Symbols, whose Close closes it and the files that were found for it. An
// error closes them, too.
func openParts(ctx context.Context, set *debugset.Set, o dwarf2sym.Options) (*parts, error) {
	lookup, err := dwarf2sym.OpenLookup(ctx, set.Binary, o)
	if err != nil {
		return nil, errors.Join(err, closeAll(set))
	}
	return &parts{lookup, set.Binary, set}, nil
}

// symbols returns the symbols of the binary.
func (p *parts) symbols() resolve.Symbols {
	return resolve.FromParts(p.Module(), p, resolve.ModuleOptions{Path: p.file.Path, DebugPath: p.set.DebugPath(), Extents: p.Extents()})
}

// Areas implements resolve.Parts.
func (p *parts) Areas(first, last symfmt.RVA) []resolve.Area[dwarf2sym.Group] {
	found := p.Lookup.Areas(first, last)
	out := make([]resolve.Area[dwarf2sym.Group], len(found))
	for i, a := range found {
		out[i] = resolve.Area[dwarf2sym.Group]{First: a.First, Last: a.Last, Part: a.Group}
	}
	return out
}

// Detail implements resolve.Parts.
func (p *parts) Detail() resolve.Detail {
	switch functions, files := p.Lookup.Detail(); {
	case files:
		return resolve.LineDetail
	case functions:
		return resolve.FuncDetail
	}
	return resolve.PublicDetail
}

// Public implements resolve.Parts.
func (p *parts) Public(rva symfmt.RVA) (symfmt.Public, uint64, bool) {
	s, ok := p.Lookup.Public(rva)
	return s.Public, s.Size, ok
}

// Close implements resolve.Parts.
func (p *parts) Close() error {
	p.Lookup.Close()
	return closeAll(p.set)
}

// AtOffset implements resolve.MappedSymbols. A file with only debug information has other offsets.
func (p *parts) AtOffset(offset uint64) (symfmt.RVA, bool) {
	if !p.file.HasCode() {
		return 0, false
	}
	addr, ok := p.file.AddrOf(offset)
	return symfmt.RVA(addr - p.file.Base), ok
}

// CodeOffset implements resolve.MappedSymbols.
func (p *parts) CodeOffset() (uint64, bool) {
	if !p.file.HasCode() {
		return 0, false
	}
	return p.file.CodeOffset()
}
