package symcache

import (
	"cmp"
	"slices"

	"github.com/symtool/symtool/internal/span"
	"github.com/symtool/symtool/symfmt"
)

// segment is code that belongs to one FUNC or PUBLIC, or to neither. It extends to
// the next segment.
type segment struct {
	start uint64
	owner owner
}

// owner is the index of a FUNC, or -2 minus the index of a PUBLIC, or nobody.
type owner int32

const nobody owner = -1

func publicOwner(i int) owner { return owner(-2 - i) }
func (o owner) public() int   { return int(-2 - o) }

// cover divides the 2^32 addresses from base, from which all addresses here count, into
// segments. Of the FUNCs around an address, the one that starts last wins, and of several
// of those the first in the file. Where there is no FUNC, code belongs to the nearest
// PUBLIC below (the first at its address), unless a FUNC starts after that PUBLIC. Code
// never belongs to a PUBLIC at address 0 (resolve.Resolver.Find).
type cover struct {
	m        *symfmt.Module
	base     symfmt.RVA
	funcs    []int32 // in the order of funcsByStart
	segments []segment
}

// coverOf returns the segments of a module in ascending order. Adjacent segments have
// different owners.
func coverOf(m *symfmt.Module, base symfmt.RVA) []segment {
	c := cover{m: m, base: base, funcs: funcsByStart(m, base)}
	var sweep span.Sweep
	sweep.Reset(len(c.funcs))
	for order, i := range c.funcs {
		sweep.Claim(order, c.start(i), c.end(i))
	}
	end := uint64(0)
	sweep.Each(func(order int32, start, next uint64) bool {
		c.take(end, nobody)
		c.take(start, owner(c.funcs[order]))
		end = next
		return true
	})
	c.take(end, nobody)
	return c.withPublics(publicsByStart(m, base))
}

// hasCode reports whether a FUNC can be in the cover.
func hasCode(f *symfmt.Func, base symfmt.RVA) bool { return f.Size > 0 && inReach(f.RVA, base) }

// inReach reports whether an address can be written: the last of the 2^32 means
// "none".
func inReach(rva, base symfmt.RVA) bool { return rva >= base && rva-base < none }

func (c *cover) start(i int32) uint64       { return uint64(c.m.Funcs[i].RVA - c.base) }
func (c *cover) publicStart(i int32) uint64 { return uint64(c.m.Publics[i].RVA - c.base) }

// funcsByStart sorts the FUNCs with code so that, at an address, the one that
// wins comes last.
func funcsByStart(m *symfmt.Module, base symfmt.RVA) []int32 {
	order := make([]int32, 0, len(m.Funcs))
	for i := range m.Funcs {
		if hasCode(&m.Funcs[i], base) {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(m.Funcs[a].RVA, m.Funcs[b].RVA), cmp.Compare(b, a))
	})
	return order
}

// speaks reports whether a PUBLIC may be in the cover.
func speaks(p *symfmt.Public, base symfmt.RVA) bool { return p.RVA > 0 && inReach(p.RVA, base) }

// publicsByStart sorts the PUBLICs that may be in the cover, one for each address.
func publicsByStart(m *symfmt.Module, base symfmt.RVA) []int32 {
	order := make([]int32, 0, len(m.Publics))
	for i := range m.Publics {
		if speaks(&m.Publics[i], base) {
			order = append(order, int32(i))
		}
	}
	at := func(i int32) symfmt.RVA { return m.Publics[i].RVA }
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(at(a), at(b)) })
	return slices.CompactFunc(order, func(a, b int32) bool { return at(a) == at(b) })
}

// end returns the end of a FUNC, at most 2^32.
func (c *cover) end(i int32) uint64 {
	start, size := c.start(i), c.m.Funcs[i].Size
	return start + min(size, addressEnd-start)
}

// take starts a segment, replacing one that starts at the same address.
func (c *cover) take(start uint64, o owner) {
	if n := len(c.segments); n > 0 && c.segments[n-1].start == start {
		c.segments = c.segments[:n-1]
	}
	if n := len(c.segments); n == 0 || c.segments[n-1].owner != o {
		c.segments = append(c.segments, segment{start, o})
	}
}

// withPublics assigns code without a FUNC to PUBLICs.
func (c *cover) withPublics(publics []int32) []segment {
	funcs := c.segments
	c.segments = make([]segment, 0, len(funcs)+len(publics))
	nextFunc, nextPublic := 0, 0
	for i, p := range funcs {
		end := uint64(addressEnd)
		if i+1 < len(funcs) {
			end = funcs[i+1].start
		}
		c.take(p.start, p.owner)
		if p.owner != nobody || p.start == addressEnd {
			continue
		}
		for nextFunc < len(c.funcs) && c.start(c.funcs[nextFunc]) <= p.start {
			nextFunc++
		}
		for nextPublic < len(publics) && c.publicStart(publics[nextPublic]) <= p.start {
			nextPublic++
		}
		if nextPublic > 0 {
			last := publics[nextPublic-1]
			if nextFunc == 0 || c.publicStart(last) > c.start(c.funcs[nextFunc-1]) {
				c.take(p.start, publicOwner(int(last)))
			}
		}
		for ; nextPublic < len(publics) && c.publicStart(publics[nextPublic]) < end; nextPublic++ {
			c.take(c.publicStart(publics[nextPublic]), publicOwner(int(publics[nextPublic])))
		}
	}
	if n := len(c.segments); c.segments[n-1].start == addressEnd {
		c.segments = c.segments[:n-1]
	}
	return c.segments
}
