package span

import (
	"math/rand/v2"
	"testing"
)

// Each address belongs to the highest claimant, as in a search of all claims.
func TestOwners(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const size = 60
	var s Sweep
	for range 2000 {
		var want, got [size]int32
		for i := range want {
			want[i], got[i] = -1, -1
		}
		owners := 1 + rng.IntN(8)
		s.Reset(owners)
		for owner := range owners {
			for at := uint64(rng.IntN(20)); at < size-1; at += uint64(1 + rng.IntN(30)) { // claims of one owner do not touch
				lo := at
				at = min(lo+1+uint64(rng.IntN(20)), size)
				s.Claim(owner, lo, at)
				for k := lo; k < at; k++ {
					want[k] = int32(owner)
				}
			}
		}
		last := uint64(0)
		s.Each(func(owner int32, lo, hi uint64) bool {
			if lo < last || lo >= hi {
				t.Fatalf("[%d, %d) behind %d", lo, hi, last)
			}
			last = hi
			for k := lo; k < hi; k++ {
				got[k] = owner
			}
			return true
		})
		if got != want {
			t.Fatalf("got %v\nwant %v", got, want)
		}
	}
}
