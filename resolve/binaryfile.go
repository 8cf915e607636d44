package resolve

import (
	"context"
	"errors"

	"github.com/symtool/symtool/internal/elfobj"
	"github.com/symtool/symtool/symfmt"
)

// Binary opens a module's ELF file, which is to be closed, or returns nil. Without
// one it may be the separate debug file, in which sections of code have no
// contents. tried and the error are as those of Symbols.
func (b *Binaries) Binary(ctx context.Context, m Module) (*elfobj.File, []string, error) {
	s := search{m: m}
	if m.DebugID == "" && len(m.BuildID) == 0 && len(m.names()) == 0 {
		s.miss("binaries", "not searched: nothing is known of the module")
		return nil, s.tried, nil
	}
	f, err := b.find(ctx, &s)
	return f, s.tried, errors.Join(append(s.errs, err)...)
}

// FromModule returns the Resolver of a module's symbols. The path is for
// messages.
func FromModule(m *symfmt.Module, path string) (*Resolver, error) { return newModuleResolver(m, path) }
