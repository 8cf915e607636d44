package sorting

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type element struct {
	key  int
	name string
	at   [3]uint64
}

func byKey(a, b element) int { return cmp.Compare(a.key, b.key) }

// The order is that of package slices, also where elements compare as equal.
func TestOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for size := range 300 {
		for _, keys := range []int{1, 2, 7, 1 << 20} {
			list := make([]element, size)
			for i := range list {
				list[i] = element{random.IntN(keys), string(rune('a' + i%26)), [3]uint64{uint64(i)}}
			}
			if size%3 == 1 {
				slices.SortFunc(list[:size/2], byKey)
			}
			for name, two := range map[string][2]func([]element, func(a, b element) int){
				"Func":       {Func[element], slices.SortFunc[[]element]},
				"StableFunc": {StableFunc[element], slices.SortStableFunc[[]element]},
			} {
				got, want := slices.Clone(list), slices.Clone(list)
				two[0](got, byKey)
				two[1](want, byKey)
				if !slices.Equal(got, want) {
					t.Fatalf("%s of %d elements with %d keys: not the order of package slices", name, size, keys)
				}
			}
		}
	}
}

func benchmark(b *testing.B, sort func([]element, func(a, b element) int)) {
	random := rand.New(rand.NewPCG(1, 2))
	list := make([]element, 10000)
	for i := range list {
		list[i].key = random.IntN(1 << 30)
	}
	work := make([]element, len(list))
	for b.Loop() {
		copy(work, list)
		sort(work, byKey)
	}
}

func BenchmarkFunc(b *testing.B)       { benchmark(b, Func) }
func BenchmarkSlices(b *testing.B)     { benchmark(b, slices.SortFunc) }
func BenchmarkStableFunc(b *testing.B) { benchmark(b, StableFunc) }
func BenchmarkSlicesStable(b *testing.B) {
	benchmark(b, slices.SortStableFunc)
}
