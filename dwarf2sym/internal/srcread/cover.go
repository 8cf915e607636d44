package srcread

import (
	"slices"
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
)

// piece is code that has something.
type piece struct {
	dwarf.Span
	what int32
}

// cover says what code has. Where pieces overlap, the last one counts.
type cover struct {
	starts []uint64 // in order
	what   []int32  // from a start up to the next; -1 for nothing
}

func newCover(pieces []piece) (c cover) {
	for _, p := range pieces {
		c.starts = append(c.starts, p.Lo, p.Hi)
	}
	slices.Sort(c.starts)
	c.starts = slices.Clone(slices.Compact(c.starts))
	c.what = make([]int32, len(c.starts))
	free := make([]int32, len(c.starts)+1) // leads to the first at or behind an index that nothing has yet
	for i := range free {
		free[i] = int32(i)
	}
	for i := range c.what {
		c.what[i] = -1
	}
	for _, p := range slices.Backward(pieces) {
		first, _ := slices.BinarySearch(c.starts, p.Lo)
		end, _ := slices.BinarySearch(c.starts, p.Hi)
		for i := nextFree(free, int32(first)); i < int32(end); i = nextFree(free, i) {
			c.what[i], free[i] = p.what, i+1
		}
	}
	return c
}

// nextFree follows free from i, and shortens the way for the next time.
func nextFree(free []int32, i int32) int32 {
	for free[i] != i {
		free[i] = free[free[i]]
		i = free[i]
	}
	return i
}

// at returns what there is at an address, or -1.
func (c *cover) at(addr uint64) int32 {
	i := sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > addr }) - 1
	if i < 0 {
		return -1
	}
	return c.what[i]
}

// size returns the memory that the cover takes, in bytes.
func (c *cover) size() int { return len(c.starts) * 12 }
