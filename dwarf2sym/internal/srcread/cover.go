package srcread

import (
	"math"
	"sort"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/internal/span"
)

// piece is a span of code with a value, such as the index of its function.
type piece struct {
	dwarf.Span
	what int32
}

// cover maps code to values. Where pieces overlap, the last one counts.
type cover struct {
	starts []uint64 // in order
	what   []int32  // value from a start up to the next one; -1 for none
}

func newCover(pieces []piece) (c cover) {
	var sweep span.Sweep
	sweep.Reset(len(pieces))
	for i, p := range pieces {
		if p.Lo < p.Hi {
			sweep.Claim(i, p.Lo, p.Hi)
		}
	}
	end := uint64(0)
	sweep.Each(func(owner int32, lo, hi uint64) bool {
		c.add(end, lo, -1)
		c.add(lo, hi, pieces[owner].what)
		end = hi
		return true
	})
	c.add(end, math.MaxUint64, -1)
	return c
}

// add appends [lo, hi) with a value.
func (c *cover) add(lo, hi uint64, what int32) {
	if n := len(c.what); lo < hi && n > 0 && c.what[n-1] != what || n == 0 && what >= 0 {
		c.starts, c.what = append(c.starts, lo), append(c.what, what)
	}
}

// at returns the value at addr, or -1.
func (c *cover) at(addr uint64) int32 {
	i := sort.Search(len(c.starts), func(i int) bool { return c.starts[i] > addr }) - 1
	if i < 0 {
		return -1
	}
	return c.what[i]
}

// size returns the memory that the cover takes, in bytes.
func (c *cover) size() int { return len(c.starts) * 12 }
