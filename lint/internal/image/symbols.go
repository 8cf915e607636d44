package image

import (
	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// EachFunction calls fn for the function symbols in executable code of all
// tables. The Symbol is reused.
func (b *Image) EachFunction(fn func(s *object.Symbol, addr uint64)) {
	one := func(f *object.File, which object.Table) {
		err := f.Symbols(which, func(s *object.Symbol) {
			if !s.IsFunction() || s.Undefined || len(s.Name) == 0 {
				return
			}
			if addr := b.codeAddr(s.Addr); !s.Absolute && b.Executable(addr) {
				fn(s, addr)
			}
		})
		b.Problem("symbols", err)
	}
	one(b.File, object.Symtab)
	one(b.File, object.Dynamic)
	if b.mini == nil {
		var err error
		b.mini, err = b.Embedded()
		b.Problem("MiniDebugInfo", err)
	}
	if b.mini != nil {
		one(b.mini, object.Symtab)
	}
}

// Exported calls fn for each function that other modules may call. An empty function is never
// called: code that the compiler found to be unreachable has the address of whatever comes next.
func (b *Image) Exported(fn func(addr uint64)) {
	err := b.Symbols(object.Dynamic, func(s *object.Symbol) {
		if s.Kind == object.Function && s.Size > 0 && !s.Undefined {
			fn(s.Addr)
		}
	})
	b.Problem("symbols", err)
}

// codeAddr clears the bit that marks another instruction set.
func (b *Image) codeAddr(addr uint64) uint64 { return addr &^ b.ISABit }

// NameAt returns the name of the function at an address, or "".
func (b *Image) NameAt(addr uint64) (name string) {
	var best uint64
	b.EachFunction(func(s *object.Symbol, at uint64) {
		if at <= addr && (addr-at < s.Size || at == addr) && (name == "" || at > best) {
			best, name = at, symfmt.CleanName(string(s.Name), "")
		}
	})
	return name
}
