package resolve

import (
	"context"
	"errors"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt"
)

// Binary opens a module's ELF file, which is to be closed, or returns nil. Without
// one it may be the separate debug file, in which sections of code have no
// contents. tried and the error are as those of Symbols.
func (b *Binaries) Binary(ctx context.Context, m Module) (*elfobj.File, []Tried, error) {
	s := search{m: m}
	if m.DebugID == "" && len(m.BuildID) == 0 && len(m.Names()) == 0 {
		s.miss("binaries", "not searched: nothing is known of the module")
		return nil, s.tried, nil
	}
	f, err := b.find(ctx, &s)
	return f, s.tried, errors.Join(append(s.errs, err)...)
}

// FromModule returns the Resolver of the symbols of a binary, as dwarf2sym.Read
// returns them; without a report, of a module that does not come from one. It refers
// to m, which must not change. The path is for messages.
func FromModule(m *symfmt.Module, report *dwarf2sym.Report, path string) *Resolver {
	m = m.Ordered()
	var extents *dwarf2sym.Extents
	if report != nil {
		extents = &report.Extents
	}
	return newResolver(path, indexModule(m), moduleSource{m}, nil, extents)
}
