package supplier

import (
	"context"
	"errors"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// parts implements resolve.Parts for a binary, a unit being a part.
type parts struct {
	*dwarf2sym.Lookup
	file  *object.File
	debug string          // path of the separate debug file, or ""
	files []symfmt.Binary // closed with it
}

// openParts opens a binary for Symbols, whose Close closes it and the files in the options. An
// error closes them, too.
func openParts(ctx context.Context, f *object.File, o dwarf2sym.Options) (*parts, error) {
	p := &parts{file: f, files: []symfmt.Binary{f}}
	for _, file := range []symfmt.Binary{o.Debug, o.Supplement} {
		if file != nil {
			p.files = append(p.files, file)
		}
	}
	if debug, err := object.Of(o.Debug); err == nil && debug != nil {
		p.debug = debug.Path
	}
	var err error
	if p.Lookup, err = dwarf2sym.OpenLookup(ctx, f, o); err != nil {
		return nil, errors.Join(err, p.closeFiles())
	}
	return p, nil
}

// symbols returns the symbols of the binary.
func (p *parts) symbols() resolve.Symbols {
	return resolve.FromParts(p.Module(), p, resolve.ModuleOptions{Path: p.file.Path, DebugPath: p.debug, Extents: p.Extents()})
}

// Areas implements resolve.Parts.
func (p *parts) Areas(first, last symfmt.RVA) []resolve.Area {
	found := p.Lookup.Areas(first, last)
	out := make([]resolve.Area, len(found))
	for i, a := range found {
		out[i] = resolve.Area{First: a.First, Last: a.Last, Part: a.Group}
	}
	return out
}

// Read implements resolve.Parts.
func (p *parts) Read(part any) (*symfmt.Module, bool) {
	g, _ := part.(*dwarf2sym.Group)
	return p.Lookup.Read(g)
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
	return p.closeFiles()
}

func (p *parts) closeFiles() error {
	var errs []error
	for _, f := range p.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// AtOffset implements resolve.MappedSymbols. A file with debug information only has other offsets.
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
