package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/dwarf2sym"
	"github.com/symtool/symtool/internal/sorting"
	"github.com/symtool/symtool/symfmt"
)

// cfiCheck tells how much of the functions has STACK CFI. Without FUNC records
// it is about the PUBLIC records, and without these about the whole code. The
// padding between functions needs no CFI and does not count.
type cfiCheck struct {
	Of      string `json:"of"`      // "function bytes", "public symbols" or "code bytes"
	Total   uint64 `json:"total"`   // how many there are
	Without uint64 `json:"without"` // how many of them have no STACK CFI
}

func checkCFI(m *symfmt.Module, stats *dwarf2sym.Stats) *cfiCheck {
	covered := coveredCode(m)
	switch {
	case len(m.Funcs) > 0:
		c := &cfiCheck{Of: "function bytes"}
		for i := range m.Funcs {
			f := &m.Funcs[i]
			c.Total += f.Size
			c.Without += f.Size - covered.in(f.RVA, f.Size)
		}
		return c
	case len(m.Publics) > 0:
		c := &cfiCheck{Of: "public symbols", Total: uint64(len(m.Publics))}
		for i := range m.Publics {
			c.Without += 1 - covered.in(m.Publics[i].RVA, 1)
		}
		return c
	case len(covered) > 0:
		return &cfiCheck{Of: "code bytes", Total: stats.CodeBytes}
	}
	return &cfiCheck{Of: "code bytes", Total: stats.CodeBytes, Without: stats.CodeBytes}
}

// finding is the sentence about what has no CFI, or "".
func (c *cfiCheck) finding() string {
	if c.Without == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d %s (%.2f %%) without STACK CFI",
		c.Without, c.Total, c.Of, 100*float64(c.Without)/float64(c.Total))
}

// ranges are pieces of code, sorted, that do not overlap or touch.
type ranges []symfmt.Range

// coveredCode is the code that m has STACK CFI for.
func coveredCode(m *symfmt.Module) ranges {
	all := make(ranges, 0, len(m.CFI.Blocks))
	for i := range m.CFI.Blocks {
		b := &m.CFI.Blocks[i]
		if b.Size > 0 {
			all = append(all, symfmt.Range{RVA: b.RVA, Size: b.Size})
		}
	}
	sorting.Func(all, func(a, b symfmt.Range) int { return cmp.Compare(a.RVA, b.RVA) })
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && uint64(r.RVA-out[n-1].RVA) <= out[n-1].Size {
			out[n-1].Size = max(out[n-1].Size, uint64(r.RVA-out[n-1].RVA)+r.Size)
			continue
		}
		out = append(out, r)
	}
	return out
}

// in is the number of bytes of [rva, rva+size) that lie in the ranges.
func (rs ranges) in(rva symfmt.RVA, size uint64) (n uint64) {
	i, found := slices.BinarySearchFunc(rs, rva, func(r symfmt.Range, rva symfmt.RVA) int { return cmp.Compare(r.RVA, rva) })
	if !found && i > 0 {
		before := uint64(rva - rs[i-1].RVA)
		if before < rs[i-1].Size {
			n = min(size, rs[i-1].Size-before)
		}
	}
	for ; i < len(rs) && uint64(rs[i].RVA-rva) < size; i++ {
		n += min(rs[i].Size, size-uint64(rs[i].RVA-rva))
	}
	return n
}
