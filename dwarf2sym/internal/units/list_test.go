package units

import (
	"slices"
	"testing"
)

// Large units are read first, the largest one in front, and every unit once. The batches of the
// others are in the file's order.
func TestBatches(t *testing.T) {
	d := &Data{unitList: unitList{Batch: 100}}
	off := uint64(0)
	for _, size := range []uint64{40, 50, 60, 300, 10, 20, 101, 99, 500} {
		u := Header{}
		u.Off, u.Size = off, size
		d.Units = append(d.Units, u)
		off += size
	}
	want := []Batch{{8, 9}, {3, 4}, {6, 7}, {0, 2}, {2, 3}, {4, 6}, {7, 8}}
	if got := d.Batches(); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
