package symbolizer

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// symbol is an entry of a symbol table.
type symbol struct {
	name       string
	addr, size uint64
	file       string // of a local symbol, or of the declaration; "" if unknown
	line       uint32 // of the declaration, or 0
	number     int32  // index in the file's table
	data       bool   // the symbol is known to name data
	code       bool   // the symbol is known to name a function
}

// table lists the symbols of code and data by address. LLVM chooses the last of several at the same address.
type table []symbol

// readTable reads the symbols of code and data, as LLVM's SymbolizableObjectFile does. Of several at the same address,
// the longest counts, or else the last. Symbols of macOS have no sizes: each extends to the next symbol, or to the end
// of its section.
func readTable(from resolve.TableSymbols, base uint64, own, unsized bool) (t table) {
	var file string
	from.EachSymbol(own, func(s *symfmt.TableSymbol) {
		if s.Absolute || !s.Loaded || s.Kind == symfmt.LabelEntry {
			return
		}
		one := symbol{name: string(s.Name), addr: uint64(s.RVA) + base, size: s.Size, number: int32(len(t))}
		one.data, one.code = s.Kind == symfmt.DataEntry, s.Kind == symfmt.CodeEntry
		if len(s.File) > 0 {
			if !bytes.Equal(s.File, []byte(file)) {
				file = string(s.File)
			}
			one.file = file
		}
		if unsized {
			one.size = uint64(s.Section.Start-s.RVA) + s.Section.Size
		}
		t = append(t, one)
	})
	slices.SortFunc(t, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.size, b.size), cmp.Compare(a.number, b.number))
	})
	if unsized {
		t.endAtNext()
	}
	return t
}

// endAtNext ends each symbol where the next one begins.
func (t table) endAtNext() {
	next := uint64(math.MaxUint64)
	for i := len(t) - 1; i >= 0; i-- {
		if i+1 < len(t) && t[i+1].addr != t[i].addr {
			next = t[i+1].addr
		}
		t[i].size = min(t[i].size, next-t[i].addr)
	}
}

// chosen reports whether LLVM chooses the symbol t[i] for its address.
func (t table) chosen(i int) bool { return i+1 == len(t) || t[i+1].addr != t[i].addr }

// at returns the last symbol at or before an address, or nil if there is none or it ends before the address.
func (t table) at(addr uint64) *symbol {
	i := t.before(addr)
	if i < 0 || t[i].size != 0 && addr-t[i].addr >= t[i].size {
		return nil
	}
	return &t[i]
}

// functionBefore returns the last function that begins between start and addr, inclusive, or nil if there is none. Like
// binutils, it does not check where the function ends.
func (t table) functionBefore(start, addr uint64) (best *symbol) {
	for i := t.before(addr); i >= 0 && t[i].addr >= start; i-- {
		switch s := &t[i]; {
		case best != nil && s.addr != best.addr:
			return best
		case !s.data && (best == nil || s.fits(best, addr)):
			best = s
		}
	}
	return best
}

// fits reports whether binutils prefers a symbol to another at the same address (better_fit in elf.c). It prefers a
// symbol that contains place, then a function, then the shorter one, then the first. If neither contains place, it
// prefers the longer one.
func (s *symbol) fits(old *symbol, place uint64) bool {
	size, oldSize := max(s.size, 1), max(old.size, 1)
	reaches, oldReaches := place-s.addr < size, place-old.addr < oldSize
	switch {
	case !reaches && !oldReaches && size != oldSize:
		return size > oldSize
	case reaches != oldReaches:
		return reaches
	case reaches && s.code != old.code:
		return s.code
	case reaches && size != oldSize:
		return size < oldSize
	}
	return s.number < old.number
}

// before returns the index of the last symbol at or before an address, or -1.
func (t table) before(addr uint64) int {
	return sort.Search(len(t), func(i int) bool { return t[i].addr > addr }) - 1
}

// addressNamed returns the address of the first symbol for whose name asked returns true.
func addressNamed(from resolve.TableSymbols, base uint64, own bool, asked func(string) bool) (addr uint64, found bool) {
	from.EachSymbol(own, func(s *symfmt.TableSymbol) {
		if !found && asked(string(s.Name)) {
			addr, found = uint64(s.RVA)+base, true
		}
	})
	return addr, found
}
