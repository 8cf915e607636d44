package facts

import (
	"cmp"
	"slices"
	"testing"
)

// A table has the added entries in order, at and around the ends of its pieces.
func TestTable(t *testing.T) {
	for _, n := range []int{0, 1, tablePiece - 1, tablePiece, tablePiece + 1, 3*tablePiece + 7} {
		var table Table[int]
		var first *int
		for i := range n {
			table.Add(i ^ 1)
			if i == 0 {
				first = table.At(0)
			}
		}
		var all []int
		for i, x := range table.All {
			if i != len(all) || x != table.At(i) {
				t.Fatalf("entry %d of %d is number %d", len(all), n, i)
			}
			all = append(all, *x)
		}
		if table.Len() != n || len(all) != n || n > 0 && first != table.At(0) {
			t.Errorf("%d of %d entries; the first moved: %v", len(all), n, n > 0 && first != table.At(0))
		}
		byValue := SortTable(&table, func(a, b *int) int { return cmp.Compare(*a, *b) })
		if n > 1 != (byValue.order != nil) {
			t.Errorf("%d entries: order of %d", n, len(byValue.order))
		}
		slices.Sort(all)
		for i, x := range byValue.All {
			if *x != all[i] || byValue.At(i) != x {
				t.Fatalf("%d entries: %d at place %d, want %d", n, *x, i, all[i])
			}
		}
		for i := range table.All {
			if i == tablePiece {
				break // the table must stop, too: otherwise the runtime panics
			}
		}
	}
}

// Equal entries stay in order.
func TestSortTableStable(t *testing.T) {
	var table Table[[2]int]
	for i := range 5000 {
		table.Add([2]int{i * 7919 % 13, i})
	}
	before := [2]int{-1, -1}
	for _, x := range SortTable(&table, func(a, b *[2]int) int { return cmp.Compare(a[0], b[0]) }).All {
		if slices.Compare(x[:], before[:]) <= 0 {
			t.Fatalf("%v after %v", *x, before)
		}
		before = *x
	}
}
