package lint

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// claim is a range of code that a record is for.
type claim struct {
	rva  symfmt.RVA
	size uint64
	line uint32
}

func (c *claim) end() uint64 { return uint64(c.rva) + c.size }

// clash is a record that readers drop for one that came before it.
type clash struct {
	dropped, kept claim
	same          bool // they have the same range
}

// maxKept is with how many earlier records of one heap of overlaps a record is
// compared: a heap of more is damage, of which not all is told.
const maxKept = 512

// clashes returns the records that Breakpad drops, which takes them in the order
// of the file (range_map-inl.h): each that overlaps one taken before. Where
// nested, one may lie within another, if it is not the same
// (contained_range_map-inl.h).
func clashes(claims []claim, nested bool) (found []clash) {
	claims = slices.DeleteFunc(claims, func(c claim) bool { return c.size == 0 })
	byRVA := func(a, b claim) int { return cmp.Compare(a.rva, b.rva) }
	if !slices.IsSortedFunc(claims, byRVA) {
		slices.SortStableFunc(claims, byRVA)
	}
	for start := 0; start < len(claims); {
		first := claims[start].rva
		reach := claims[start].size // of the heap, from first on
		end := start + 1
		for end < len(claims) && uint64(claims[end].rva-first) < reach {
			reach = max(reach, addUp(uint64(claims[end].rva-first), claims[end].size))
			end++
		}
		if end-start > 1 {
			found = settle(found, claims[start:end], nested)
		}
		start = end
	}
	return found
}

// settle finds the clashes of one heap.
func settle(found []clash, heap []claim, nested bool) []clash {
	slices.SortFunc(heap, func(a, b claim) int { return cmp.Compare(a.line, b.line) })
	kept := make([]claim, 0, min(len(heap), 2*maxKept))
next:
	for _, c := range heap {
		for i := len(kept) - 1; i >= max(0, len(kept)-maxKept); i-- {
			k := kept[i]
			same := c.rva == k.rva && c.size == k.size
			if c.overlaps(&k) && (same || !nested || !c.within(&k) && !k.within(&c)) {
				found = append(found, clash{c, k, same})
				continue next
			}
		}
		kept = append(kept, c)
	}
	return found
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

// reportClashes tells of the clashes that are of the same range, or of the others.
func (p *Pass) reportClashes(all []clash, same bool) {
	for _, c := range all {
		if c.same == same {
			message := "[%x, %x) overlaps [%x, %x) of line %d"
			if same {
				message = "[%x, %x) has the range of line %[5]d"
			}
			p.ReportAt(int(c.dropped.line), c.dropped.rva, message,
				c.dropped.rva, c.dropped.end(), c.kept.rva, c.kept.end(), c.kept.line)
		}
	}
}

// blockClashes are those of the STACK CFI blocks, looked for once.
func (f *Facts) blockClashes() []clash {
	c := &f.cfi
	if c.compared {
		return c.clashes
	}
	c.compared = true
	ordered := true
	for i := 1; i < f.Blocks.Len() && ordered; i++ {
		before, b := f.Blocks.At(i-1), f.Blocks.At(i)
		ordered = b.RVA >= before.RVA && uint64(b.RVA-before.RVA) >= max(before.Size, 1)
	}
	if ordered {
		return nil
	}
	claims := make([]claim, f.Blocks.Len())
	for i, b := range f.Blocks.All {
		claims[i] = claim{b.RVA, b.Size, b.Line}
	}
	c.clashes = clashes(claims, false)
	return c.clashes
}

// winClashes are those of the STACK WIN records of the types that readers use.
func (f *Facts) winClashes() []clash {
	w := &f.win
	if w.compared {
		return w.clashes
	}
	w.compared = true
	for _, kind := range []uint8{winFPO, winFrameData} {
		var claims []claim
		for _, win := range f.Wins.All {
			if win.Type == kind {
				claims = append(claims, claim{win.RVA, win.Size, win.Line})
			}
		}
		w.clashes = append(w.clashes, clashes(claims, true)...)
	}
	return w.clashes
}
