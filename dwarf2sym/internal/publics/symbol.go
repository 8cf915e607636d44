package publics

import (
	"sort"

	"github.com/symtool/symtool/symfmt"
)

// Symbol is a place in the code that ELF symbols name.
type Symbol struct {
	RVA      symfmt.RVA
	Size     uint64 // st_size in bytes; 0 if no symbol has one
	Name     string // mangled, without its version; dropped when the names are joined
	Func     bool   // STT_FUNC or STT_GNU_IFUNC; otherwise untyped
	Multiple bool   // several functions were folded into this code
	Alone    bool   // the place has no other name

	// Set once the names are joined:
	Mangled bool
	ID      uint32 // of the name
	Linkage uint32 // of the name without the compiler's suffixes, if it is mangled
}

// OpenSymbol returns the last of symbols if it is a function without a size, which may extend beyond them, or nil.
func OpenSymbol(symbols []Symbol) *Symbol {
	if len(symbols) == 0 {
		return nil
	}
	if s := &symbols[len(symbols)-1]; s.Func && s.Size == 0 {
		return s
	}
	return nil
}

// Finder finds symbols by their addresses.
type Finder interface {
	// In returns the symbols in [lo, hi), in order. The caller must not change the slice.
	In(lo, hi symfmt.RVA) []Symbol
	// UpTo returns the last symbol at or before an address. It reports false if there is none.
	UpTo(rva symfmt.RVA) (Symbol, bool)
	// OpenBefore returns the last symbol before an address if it is a function without a size, which may extend to the
	// address. Otherwise it reports false.
	OpenBefore(rva symfmt.RVA) (Symbol, bool)
}

// Sorted is a list of symbols in order of address. It implements [Finder].
type Sorted []Symbol

// In implements [Finder].
func (s Sorted) In(lo, hi symfmt.RVA) []Symbol {
	first, last := SearchSymbols(s, lo), SearchSymbols(s, hi)
	return s[first:max(first, last)]
}

// UpTo implements [Finder].
func (s Sorted) UpTo(rva symfmt.RVA) (Symbol, bool) {
	i := sort.Search(len(s), func(i int) bool { return s[i].RVA > rva }) - 1
	if i < 0 {
		return Symbol{}, false
	}
	return s[i], true
}

// OpenBefore implements [Finder].
func (s Sorted) OpenBefore(rva symfmt.RVA) (Symbol, bool) {
	if open := OpenSymbol(s[:SearchSymbols(s, rva)]); open != nil {
		return *open, true
	}
	return Symbol{}, false
}

// maxLabels is the maximum number of labels between an address and the symbol that reaches it.
const maxLabels = 64

// Reaching returns the last symbol before rva that names code. It reports false if there is none, or if that symbol has
// no size or ends before rva.
func Reaching(f Finder, rva symfmt.RVA) (s Symbol, ok bool) {
	for at, n := rva, 0; at > 0 && n < maxLabels; at, n = s.RVA, n+1 {
		if s, ok = f.UpTo(at - 1); !ok || s.HasCode(false) {
			return s, ok && s.Size > uint64(rva-s.RVA)
		}
	}
	return s, false
}

// Before returns the symbol before an address whose function may continue there: one without a size, or one that
// reaches it.
func Before(f Finder, rva symfmt.RVA) (Symbol, bool) {
	if s, ok := f.OpenBefore(rva); ok {
		return s, true
	}
	return Reaching(f, rva)
}

// HasCode reports whether a symbol names code rather than a place in it. With labels, an untyped symbol without a size
// counts as code.
func (s *Symbol) HasCode(labels bool) bool { return s.Func || s.Size > 0 || labels }

// SearchSymbols returns the index of the first symbol at or after rva.
func SearchSymbols(symbols []Symbol, rva symfmt.RVA) int {
	return sort.Search(len(symbols), func(i int) bool { return symbols[i].RVA >= rva })
}

// FindSymbol returns the symbol at rva, or nil.
func FindSymbol(symbols []Symbol, rva symfmt.RVA) *Symbol {
	i := SearchSymbols(symbols, rva)
	if i == len(symbols) || symbols[i].RVA != rva {
		return nil
	}
	return &symbols[i]
}

// IsMangledName reports whether a name is mangled by C++ or Rust.
func IsMangledName[S string | []byte](name S) bool {
	return len(name) > 2 && name[0] == '_' && (name[1] == 'Z' || name[1] == 'R')
}

// IsDName reports whether a name is mangled by D: _D and the length of an identifier.
func IsDName(name string) bool {
	return len(name) > 2 && name[:2] == "_D" && isDigitByte(name[2])
}
