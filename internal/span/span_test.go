package span

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

type testRange struct{ lo, hi uint64 }

var testType = Type[testRange]{
	Ends: func(r testRange) (uint64, uint64) { return r.lo, r.hi },
	Make: func(lo, hi uint64) testRange { return testRange{lo, hi} },
}

func TestJoin(t *testing.T) {
	for _, c := range []struct{ in, want []testRange }{
		{nil, nil},
		{[]testRange{{1, 2}}, []testRange{{1, 2}}},
		{[]testRange{{5, 5}, {7, 6}}, nil},
		{[]testRange{{1, 3}, {3, 4}, {4, 4}, {6, 7}}, []testRange{{1, 4}, {6, 7}}},
		{[]testRange{{8, 10}, {1, 9}, {20, 30}, {21, 22}}, []testRange{{1, 10}, {20, 30}}},
		{[]testRange{{math.MaxUint64 - 1, math.MaxUint64}, {0, 1}}, []testRange{{0, 1}, {math.MaxUint64 - 1, math.MaxUint64}}},
	} {
		if got := testType.Join(slices.Clone(c.in)); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.in, got, c.want)
		}
	}
}

// The functions agree with a simple set of addresses.
func TestAgainstSet(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const top = 60
	random := func() testRange {
		lo := rng.Uint64N(top)
		return testRange{lo, lo + rng.Uint64N(min(12, top-lo)+1)}
	}
	add := func(set *[top]bool, r testRange) {
		for a := r.lo; a < r.hi; a++ {
			set[a] = true
		}
	}
	for range 2000 {
		var list []testRange
		var set [top]bool
		for range rng.IntN(8) {
			list = append(list, random())
			add(&set, list[len(list)-1])
		}
		in := fmt.Sprint(list)
		list = testType.Join(list)
		var got [top]bool
		for i, r := range list {
			add(&got, r)
			if r.lo >= r.hi || i > 0 && r.lo <= list[i-1].hi {
				t.Fatalf("%s: joined %v", in, list)
			}
		}
		whole := random()
		var gaps [top]bool
		for r := range testType.Gaps(whole, list) {
			add(&gaps, r)
		}
		for a := range uint64(top) {
			inside := a >= whole.lo && a < whole.hi
			if gaps[a] != (inside && !set[a]) {
				t.Fatalf("%s: gaps of %v are wrong at %d", in, whole, a)
			}
		}
		if got != set {
			t.Fatalf("%s: joined %v", in, list)
		}
	}
}
