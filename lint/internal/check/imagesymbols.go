package check

import (
	"slices"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// EachFunction calls fn for the function symbols of all tables that lie in executable code. The Symbol is reused.
func (b *Image) EachFunction(fn func(s *object.Symbol, addr uint64)) {
	b.eachSymbol((*object.Symbol).IsFunction, fn)
}

// eachSymbol calls fn for the wanted symbols of all tables that lie in executable code.
func (b *Image) eachSymbol(wanted func(*object.Symbol) bool, fn func(s *object.Symbol, addr uint64)) {
	one := func(f object.Companion, which object.Table) {
		err := f.Symbols(which, func(s *object.Symbol) {
			if !wanted(s) || s.Undefined || len(s.Name) == 0 {
				return
			}
			if addr := b.codeAddr(s.Addr + f.Moved); !s.Absolute && b.Executable(addr) {
				fn(s, addr)
			}
		})
		b.Problem("symbols", err)
	}
	if b.files == nil {
		files, lost, err := object.Companions(b.File, nil)
		b.Problem("MiniDebugInfo", err)
		for _, p := range lost {
			b.Problem("MiniDebugInfo", p.Err)
		}
		b.files = files
	}
	one(b.files[0], object.Symtab)
	one(b.files[0], object.Dynamic)
	for _, mini := range b.files[1:] {
		one(mini, object.Symtab)
	}
}

// Exported calls fn for each function that other modules may call. It skips empty functions, which are never called:
// code that the compiler found to be unreachable has the address of whatever comes next.
func (b *Image) Exported(fn func(addr uint64)) {
	err := b.Symbols(object.Dynamic, func(s *object.Symbol) {
		if s.Kind == object.Function && s.Size > 0 && !s.Undefined {
			fn(s.Addr)
		}
	})
	b.Problem("symbols", err)
}

// Begins reports whether a function, or an object that lies in code, begins in [from, to). GHC declares some functions
// as objects, as they have tables.
func (b *Image) Begins(from, to uint64) bool {
	if b.begins == nil {
		b.begins = []uint64{}
		b.eachSymbol(func(s *object.Symbol) bool { return s.IsFunction() || s.Kind == object.Data }, func(_ *object.Symbol, at uint64) { b.begins = append(b.begins, at) })
		slices.Sort(b.begins)
	}
	i, _ := slices.BinarySearch(b.begins, from)
	return i < len(b.begins) && b.begins[i] < to
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
