package resolve

import (
	"context"
	"errors"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// Binary opens a module's ELF file, or returns nil. The caller must close it. It may be the
// separate debug file, whose sections of code have no contents. tried and the error are those of
// Symbols.
func (b *Binaries) Binary(ctx context.Context, m Module) (*object.File, []Tried, error) {
	s := search{m: m}
	if m.DebugID == "" && len(m.BuildID) == 0 && len(m.Names()) == 0 {
		s.miss("binaries", "not searched: nothing is known of the module")
		return nil, s.tried, nil
	}
	f, err := b.find(ctx, &s)
	return f, s.tried, errors.Join(append(s.errs, err)...)
}

// FromModule returns a Resolver of the symbols of a binary, as dwarf2sym.Read returns them. report
// is nil for a module from elsewhere. The Resolver refers to m, which must not change. path is for
// messages.
func FromModule(m *symfmt.Module, report *dwarf2sym.Report, path string) *Resolver {
	m = m.Ordered()
	var extents *dwarf2sym.Extents
	if report != nil {
		extents = &report.Extents
	}
	return newResolver(path, indexModule(m), moduleSource{m}, nil, extents)
}
