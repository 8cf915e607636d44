package facts

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/coderange"
	"github.com/symtool/symtool/symfmt"
)

// FuncsByRVA returns the functions sorted by address.
func (f *Facts) FuncsByRVA() Sorted[Func] {
	return SortTable(&f.Functions, func(a, b *Func) int { return cmp.Compare(a.RVA, b.RVA) })
}

// PublicsByRVA returns the PUBLICs sorted by address.
func (f *Facts) PublicsByRVA() Sorted[Public] {
	return SortTable(&f.Publics, func(a, b *Public) int { return cmp.Compare(a.RVA, b.RVA) })
}

// MaxShared is how many functions before an address are examined to find one that contains it.
// Unless functions overlap, the first does.
const MaxShared = 8

// Starts returns the addresses where FUNCs and PUBLICs begin, in ascending order.
func (f *Facts) Starts() []symfmt.RVA {
	all := make([]symfmt.RVA, 0, f.Functions.Len()+f.Publics.Len())
	for _, fn := range f.Functions.All {
		all = append(all, fn.RVA)
	}
	for _, pub := range f.Publics.All {
		all = append(all, pub.RVA)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Covered returns the code that has call frame information.
func (f *Facts) Covered() []symfmt.Range {
	all := make([]symfmt.Range, 0, f.Blocks.Len()+f.Wins.Len()+len(f.CFI.holes))
	holes := f.CFI.holes
	for i, b := range f.Blocks.All {
		at, left := b.RVA, b.Size
		for ; len(holes) > 0 && int(holes[0].block) == i; holes = holes[1:] {
			h := holes[0]
			all = append(all, symfmt.Range{RVA: at, Size: uint64(h.RVA - at)})
			left -= uint64(h.end - at)
			at = h.end
		}
		all = append(all, symfmt.Range{RVA: at, Size: left})
	}
	if f.usesWin() {
		for _, w := range f.Wins.All {
			if w.Usable {
				all = append(all, symfmt.Range{RVA: w.RVA, Size: w.Size})
			}
		}
	}
	return coderange.Join(all)
}

// usesWin reports whether readers use STACK WIN records for the CPU.
func (f *Facts) usesWin() bool { return f.Arch == nil || f.Arch.Name == "x86" }
