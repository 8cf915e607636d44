package cfi

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/lint/internal/check"
	"github.com/symtool/symtool/lint/internal/extent"
	"github.com/symtool/symtool/lint/internal/facts"
	"github.com/symtool/symtool/symfmt"
)

// claim is the code range of a record.
type claim struct {
	rva  symfmt.RVA
	size uint64
	line uint32
}

func (c *claim) end() uint64 { return uint64(c.rva) + c.size }

// clash is a record that readers drop because of an earlier one.
type clash struct {
	dropped, kept claim
	same          bool // both have the same range
}

// maxKept is the number of earlier records, in a heap of overlapping records, with which a record
// is compared. A larger heap is damage, which is then reported only in part.
const maxKept = 512

// claims are the records that may clash, as their numbers in file order: a number takes only four
// bytes, and there may be millions.
type claims struct {
	list   []uint32 // without empty ones; the comparison reorders it
	at     func(uint32) claim
	nested bool // a record may lie inside another
}

// clashes calls report with each record that Breakpad drops. Breakpad takes records in file order
// and drops a record that overlaps an earlier one (range_map-inl.h). If c.nested is set, a record
// may lie inside another unless the two are equal (contained_range_map-inl.h).
func (c *claims) clashes(report func(clash)) {
	rva := func(i int) symfmt.RVA { return c.at(c.list[i]).rva }
	slices.SortFunc(c.list, func(a, b uint32) int { return cmp.Or(cmp.Compare(c.at(a).rva, c.at(b).rva), cmp.Compare(a, b)) })
	var kept []claim
	for start := 0; start < len(c.list); {
		first, reach := rva(start), c.at(c.list[start]).size // reach of the heap that starts at first
		end := start + 1
		for end < len(c.list) && uint64(rva(end)-first) < reach {
			reach = max(reach, extent.Sum(uint64(rva(end)-first), c.at(c.list[end]).size))
			end++
		}
		if end-start > 1 {
			kept = c.settle(c.list[start:end], kept[:0], report)
		}
		start = end
	}
}

// settle finds the clashes in one heap of overlapping records. It returns kept for reuse.
func (c *claims) settle(heap []uint32, kept []claim, report func(clash)) []claim {
	slices.Sort(heap)
next:
	for _, i := range heap {
		x := c.at(i)
		for j := len(kept) - 1; j >= max(0, len(kept)-maxKept); j-- {
			k := kept[j]
			same := x.rva == k.rva && x.size == k.size
			if x.overlaps(&k) && (same || !c.nested || !x.within(&k) && !k.within(&x)) {
				report(clash{x, k, same})
				continue next
			}
		}
		if len(kept) == 2*maxKept {
			kept = append(kept[:0], kept[maxKept:]...)
		}
		kept = append(kept, x)
	}
	return kept
}

func (c *claim) overlaps(o *claim) bool {
	if c.rva >= o.rva {
		return uint64(c.rva-o.rva) < o.size
	}
	return uint64(o.rva-c.rva) < c.size
}

func (c *claim) within(o *claim) bool {
	return c.rva >= o.rva && uint64(c.rva-o.rva) <= o.size && c.size <= o.size-uint64(c.rva-o.rva)
}

// checkClashes returns the check for two rules about clashes, which share one search: one for
// records that overlap, and one for records with the same range.
func checkClashes(look func(*facts.Facts, func(clash)), overlap, same string) check.Func {
	return check.SharedAtEnd(func(p *check.Pass) {
		look(p.Facts, func(c clash) {
			id, message := overlap, "[%x, %x) overlaps [%x, %x) of line %d"
			if c.same {
				id, message = same, "[%x, %x) has the range of line %[5]d"
			}
			p.As(id, func() {
				p.ReportAt(int(c.dropped.line), c.dropped.rva, message,
					c.dropped.rva, c.dropped.end(), c.kept.rva, c.kept.end(), c.kept.line)
			})
		})
	})
}

// blockClashes reports the clashes of the STACK CFI blocks.
func blockClashes(f *facts.Facts, report func(clash)) {
	ordered := true
	for i := 1; i < f.Blocks.Len() && ordered; i++ {
		before, b := f.Blocks.At(i-1), f.Blocks.At(i)
		ordered = b.RVA >= before.RVA && uint64(b.RVA-before.RVA) >= max(before.Size, 1)
	}
	if ordered {
		return
	}
	c := claims{at: func(i uint32) claim { b := f.Blocks.At(int(i)); return claim{b.RVA, b.Size, b.Line} }}
	for i, b := range f.Blocks.All {
		if b.Size > 0 {
			c.list = append(c.list, uint32(i))
		}
	}
	c.clashes(report)
}

// winClashes reports the clashes of the STACK WIN records of the types that readers use.
func winClashes(f *facts.Facts, report func(clash)) {
	for _, kind := range []uint8{facts.WinFPO, facts.WinFrameData} {
		c := claims{nested: true, at: func(i uint32) claim { w := f.Wins.At(int(i)); return claim{w.RVA, w.Size, w.Line} }}
		for i, w := range f.Wins.All {
			if w.Type == kind && w.Size > 0 {
				c.list = append(c.list, uint32(i))
			}
		}
		c.clashes(report)
	}
}
