package dwarf

import "slices"

// Starts is the set of positions in a unit at which DIEs begin. Only they show whether a reference is right: bytes in
// the middle of a DIE can often be read as another DIE.
type Starts struct {
	bits []uint64 // by position
	upTo int      // every DIE before this position was added
}

// Reset removes all positions, for a unit of n bytes.
func (s *Starts) Reset(n int) {
	n = (n + 63) / 64
	s.bits, s.upTo = slices.Grow(s.bits[:0], n)[:n], 0
	clear(s.bits)
}

// Has reports whether pos was added.
func (s *Starts) Has(pos int) bool {
	return uint(pos/64) < uint(len(s.bits)) && s.bits[pos/64]>>(pos%64)&1 != 0
}

// Known reports whether every DIE at or before pos was added.
func (s *Starts) Known(pos int) bool { return pos < s.upTo }

// Mark makes the scanner add the DIEs that it visits to starts, which must have been reset for the unit: all of them
// or, without all, the few kinds that names are taken from. DIEs skipped through a reference to a sibling are not
// added.
func (s *Scanner) Mark(starts *Starts, all bool) {
	s.starts, s.mark = starts.bits, 1<<ClassFunc|1<<ClassBare|1<<ClassInline|1<<ClassScope
	if all {
		s.mark = ^uint(0)
	}
}

// Starts adds the DIEs of u to s, stopping at one that cannot be skipped.
func (u *Unit) Starts(s *Starts) {
	if !u.meter.Spend(uint64(len(u.data))) {
		return
	}
	pos := u.FirstDIE
	for pos < len(u.data) {
		s.bits[pos/64] |= 1 << (pos % 64)
		s.upTo = pos + 1
		code, next := uleb(u.data, pos)
		if next < 0 {
			return
		}
		if code != 0 {
			d := u.Abbrevs.lookup(code)
			if !d.known || d.bad {
				return
			}
			next = u.over(d, next)
		}
		if next < 0 || next > len(u.data) {
			return
		}
		s.upTo, pos = next, next
	}
}
