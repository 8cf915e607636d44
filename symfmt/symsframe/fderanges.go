package symsframe

import "github.com/symtool/symtool/sframe"

// fdeRange is code that belongs to a single FDE.
type fdeRange struct {
	lo, hi uint64
	fde    int
	first  bool // the FDE's first range, although the FDE starts before it
}

// fdeRanges cuts functions that overlap. The function that starts last wins and,
// of several with the same start, the last one, as in Section.FindFDE. The
// ranges are sorted by address.
func fdeRanges(s *sframe.Section, wanted func(fde int) bool) []fdeRange {
	c := cutter{s: s, out: make([]fdeRange, 0, len(s.FDEs))}
	for k := range s.FDEs {
		if i := s.ByAddress(k); wanted(i) {
			c.advance(s.FDEs[i].Start)
			c.open = append(c.open, openFDE{fde: i})
		}
	}
	c.advance(^uint64(0))
	return c.out
}

type cutter struct {
	s    *sframe.Section
	open []openFDE // around the current address; the last one wins
	at   uint64
	out  []fdeRange
}

type openFDE struct {
	fde  int
	said bool // has a range already
}

// advance assigns the code up to an address to the open FDEs.
func (c *cutter) advance(limit uint64) {
	for len(c.open) > 0 && c.at < limit {
		top := &c.open[len(c.open)-1]
		f := &c.s.FDEs[top.fde]
		c.at = max(c.at, f.Start)
		end := f.Start + uint64(f.Size)
		if to := min(limit, end); c.at < to {
			c.out = append(c.out, fdeRange{c.at, to, top.fde, !top.said})
			top.said, c.at = true, to
		}
		if end <= c.at {
			c.open = c.open[:len(c.open)-1]
		}
	}
	c.at = limit
}
