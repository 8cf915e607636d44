package coderange

import (
	"math"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

func TestJoinAndIn(t *testing.T) {
	const top = math.MaxUint64
	for _, c := range []struct {
		in, want []symfmt.Range
		rva      symfmt.RVA
		size     uint64
		n        uint64
	}{
		{nil, nil, 0, 8, 0},
		{[]symfmt.Range{{RVA: 8, Size: 2}, {RVA: 1, Size: 2}, {RVA: 3, Size: 1}, {RVA: 20}}, []symfmt.Range{{RVA: 1, Size: 3}, {RVA: 8, Size: 2}}, 2, 7, 3},
		{[]symfmt.Range{{RVA: 1, Size: 9}, {RVA: 2, Size: 2}}, []symfmt.Range{{RVA: 1, Size: 9}}, 0, top, 9},
		// Up to the last address, and beyond it.
		{[]symfmt.Range{{RVA: top - 7, Size: 8}, {RVA: top - 9, Size: 2}}, []symfmt.Range{{RVA: top - 9, Size: 10}}, top - 1, 2, 2},
		{[]symfmt.Range{{RVA: 16, Size: top - 8}, {RVA: 8, Size: 16}}, []symfmt.Range{{RVA: 8, Size: top}}, 0, 10, 2},
	} {
		got := Join(slices.Clone(c.in))
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: joined %v, want %v", c.in, got, c.want)
		}
		if n := In(got, c.rva, c.size); n != c.n {
			t.Errorf("%v: %d bytes of [%#x, +%d), want %d", got, n, c.rva, c.size, c.n)
		}
	}
}
