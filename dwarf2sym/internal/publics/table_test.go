package publics

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/object"
	"github.com/symtool/symtool/symfmt"
)

// tableOf makes candidates from symbols at addresses; every third one is a function without a
// size.
func tableOf(addrs ...symfmt.RVA) *pubTable {
	t := &pubTable{}
	for i, rva := range addrs {
		name := fmt.Sprintf("f%d", i)
		t.all = append(t.all, pubCandidate{rva: rva, size: uint64(i % 3), name: uint32(len(t.names)), nameLen: uint32(len(name)), bind: object.Global, typed: i%2 == 0})
		t.names = append(t.names, name...)
	}
	return t
}

// TestTable compares what a Table finds at and around each symbol with all symbols in order.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine")
	}
	random := rand.New(rand.NewPCG(1, 2))
	dense, sparse := make([]symfmt.RVA, 3000), make([]symfmt.RVA, 300)
	for i := range dense {
		dense[i] = symfmt.RVA(0x1000 + random.IntN(8000))
	}
	for i := range sparse {
		sparse[i] = symfmt.RVA(random.Uint64() >> random.IntN(64))
	}
	for _, c := range []struct {
		name  string
		addrs []symfmt.RVA
	}{
		{"none", nil},
		{"one", []symfmt.RVA{0x1000}},
		{"all at an address", slices.Repeat([]symfmt.RVA{7}, 100)},
		{"the whole address space", []symfmt.RVA{0, math.MaxUint64, 0, 5}},
		{"dense", dense},
		{"sparse", sparse},
		{"one far away", append(slices.Clone(dense), 1<<62)},
	} {
		from := tableOf(c.addrs...)
		all := tableOf(c.addrs...)
		want := Sorted(all.pick(all.all))
		table := newTable(from)
		if got := table.All(); !slices.Equal(got, want) {
			t.Errorf("%s: %d symbols in all, want %d", c.name, len(got), len(want))
		}
		at := []symfmt.RVA{0, math.MaxUint64}
		for _, s := range want {
			at = append(at, s.RVA-1, s.RVA, s.RVA+1)
		}
		for _, rva := range at {
			checkAt(t, c.name, table, want, rva)
		}
	}
}

func checkAt(t *testing.T, name string, table *Table, want Sorted, rva symfmt.RVA) {
	t.Helper()
	for _, size := range []symfmt.RVA{0, 1, 100, 5000} {
		if got, want := table.In(rva, rva+size), want.In(rva, rva+size); !slices.Equal(got, want) {
			t.Fatalf("%s: %d symbols in %d bytes at %#x, want %d", name, len(got), size, rva, len(want))
		}
	}
	got, gotOK := table.OpenBefore(rva)
	if want, ok := want.OpenBefore(rva); gotOK != ok || ok && got != want {
		t.Errorf("%s: %v %t before %#x, want %v %t", name, got, gotOK, rva, want, ok)
	}
	got, gotOK = table.UpTo(rva)
	if want, ok := want.UpTo(rva); gotOK != ok || got != want {
		t.Errorf("%s: %v %t up to %#x, want %v %t", name, got, gotOK, rva, want, ok)
	}
}
