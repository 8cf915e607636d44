package facts

import (
	"cmp"
	"slices"
)

// Table is a list that only grows. It grows in chunks, without copying: a growing slice would
// leave twice its size as garbage.
type Table[T any] struct {
	pieces [][]T
	n      int
}

// tablePiece is the number of entries in a chunk.
const (
	tableShift = 10
	tablePiece = 1 << tableShift
)

// Add appends x.
func (t *Table[T]) Add(x T) {
	i := t.n >> tableShift
	if i == len(t.pieces) {
		t.pieces = append(t.pieces, make([]T, 0, tablePiece))
	}
	t.pieces[i] = append(t.pieces[i], x)
	t.n++
}

// Len returns the number of entries.
func (t *Table[T]) Len() int { return t.n }

// At returns entry i, from 0. The pointer remains valid.
func (t *Table[T]) At(i int) *T { return &t.pieces[i>>tableShift][i&(tablePiece-1)] }

// All yields the entries in order.
func (t *Table[T]) All(yield func(int, *T) bool) {
	for p, piece := range t.pieces {
		for i := range piece {
			if !yield(p<<tableShift+i, &piece[i]) {
				return
			}
		}
	}
}

// Sorted is a table in a different order.
type Sorted[T any] struct {
	*Table[T]
	order []uint32 // nil for the table's own order: files are mostly sorted, and large
}

// SortTable returns the table in the order given by compare; the sort is stable.
func SortTable[T any](t *Table[T], compare func(a, b *T) int) Sorted[T] {
	inOrder := true
	for i := 1; i < t.n && inOrder; i++ {
		inOrder = compare(t.At(i-1), t.At(i)) <= 0
	}
	if inOrder {
		return Sorted[T]{Table: t}
	}
	order := make([]uint32, t.n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(i, j uint32) int { return cmp.Or(compare(t.At(int(i)), t.At(int(j))), cmp.Compare(i, j)) })
	return Sorted[T]{t, order}
}

// Index returns the index in the table of the i-th entry of the order.
func (s Sorted[T]) Index(i int) int {
	if s.order != nil {
		return int(s.order[i])
	}
	return i
}

// At returns the i-th entry of the order.
func (s Sorted[T]) At(i int) *T { return s.Table.At(s.Index(i)) }

// All yields the entries with their positions in the order.
func (s Sorted[T]) All(yield func(int, *T) bool) {
	for i := range s.Len() {
		if !yield(i, s.At(i)) {
			return
		}
	}
}
