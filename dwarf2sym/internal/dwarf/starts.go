package dwarf

import "slices"

// Starts is the set of positions in a unit at which DIEs begin. Only they show whether a reference is right: bytes in
// the middle of a DIE can often be read as another DIE.
type Starts struct {
	bits  []uint64 // by position
	upTo  int      // every DIE before this position was added
	stuck bool     // the last of them cannot be skipped
}

// Reset removes all positions, for a unit of n bytes.
func (s *Starts) Reset(n int) {
	n = (n + 63) / 64
	s.bits, s.upTo, s.stuck = slices.Grow(s.bits[:0], n)[:n], 0, false
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

// Starts adds the DIEs of u at or before target to s, stopping at one that cannot be skipped. Many references lead to
// the first part of a large unit, and few units are asked about to their end.
func (u *Unit) Starts(s *Starts, target int) {
	s.upTo = max(s.upTo, u.FirstDIE) // nothing begins in the header
	pos := s.upTo
	if s.stuck || pos > target || !u.meter.Spend(uint64(target+1-pos)) {
		return
	}
	dense := u.Abbrevs.dense
	for pos <= target && pos < len(u.data) {
		s.bits[pos/64] |= 1 << (pos % 64)
		next := pos + 1
		if code := u.data[pos]; code != 0 { // 0 ends a list of children
			if code < 0x80 && int(code) < len(dense) && dense[code].known && dense[code].size >= 0 {
				next += int(dense[code].size)
			} else {
				next = u.after(pos)
			}
		}
		if next < 0 || next > len(u.data) {
			s.upTo, s.stuck = pos+1, true
			return
		}
		s.upTo, pos = next, next
	}
}

// after returns the position after the DIE or end of children at pos, or -1 if it cannot be skipped.
func (u *Unit) after(pos int) int {
	code, next := uleb(u.data, pos)
	if next < 0 || code == 0 {
		return next
	}
	d := u.Abbrevs.lookup(code)
	if !d.known || d.bad {
		return -1
	}
	return u.over(d, next)
}
