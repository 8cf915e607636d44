package cfi

import "testing"

// Many overlapping records are not compared pair by pair.
func TestClashesInHeaps(t *testing.T) {
	c := claims{nested: true, at: func(i uint32) claim { return claim{0, uint64(i + 1), i} }}
	for i := range uint32(40000) {
		c.list = append(c.list, i)
	}
	c.clashes(func(x clash) { t.Errorf("%v among nested records", x) })
}

// A record is compared with the last maxKept records before it.
func TestClashesForget(t *testing.T) {
	for n, want := range map[int]int{maxKept: 1, maxKept + 1: 0, 2 * maxKept: 0, 2*maxKept + 1: 0} {
		c := claims{nested: true, at: func(i uint32) claim {
			if int(i) == n {
				return claim{0, 1 << 20, i} // as the first
			}
			return claim{0, 1<<20 - uint64(i), i}
		}}
		for i := range uint32(n + 1) {
			c.list = append(c.list, i)
		}
		found := 0
		c.clashes(func(x clash) {
			if found++; !x.same || x.kept.line != 0 || int(x.dropped.line) != n {
				t.Errorf("%d: %v", n, x)
			}
		})
		if found != want {
			t.Errorf("%d records of a heap: %d clashes, want %d", n, found, want)
		}
	}
}
