package intern

import (
	"math/rand/v2"
	"testing"
)

// Offsets agree with a map, through growth and many rounds.
func TestOffsets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var o Offsets
	check := func(want map[uint64]uint32, off uint64) {
		t.Helper()
		n, ok := o.Get(off)
		if m, known := want[off]; n != m && ok || ok != known {
			t.Fatalf("%#x: %d, %t; want %d, %t", off, n, ok, m, known)
		}
	}
	for round := range 200 {
		if round == 100 {
			o.round = ^uint32(0) - 3
			clear(o.slots)
		}
		want := map[uint64]uint32{}
		for range rng.IntN(5000) {
			off := uint64(rng.IntN(3000))
			if rng.IntN(4) == 0 {
				off = 1<<63 | off<<20
			}
			check(want, off)
			n := rng.Uint32()
			o.Put(off, n)
			want[off] = n
			check(want, off)
		}
		for off := range want {
			check(want, off)
		}
		check(want, 1<<40)
		o.Clear()
		for off := range want {
			check(nil, off)
		}
	}
}
