package resolve

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// table holds records of size bytes.
type table struct {
	data []byte
	size int
}

func (t *table) len() int {
	if t.size == 0 {
		return 0
	}
	return len(t.data) / t.size
}

func (t *table) at(i int) []byte { return t.data[i*t.size:][:t.size] }

// u64 returns field n of record i; all fields before it have 8 bytes.
func (t *table) u64(i, n int) uint64 {
	return binary.LittleEndian.Uint64(t.data[i*t.size+8*n:])
}

func (t *table) u32(i int) uint32 { return binary.LittleEndian.Uint32(t.data[4*i:]) }

func (t *table) add(fields ...uint64) {
	for _, f := range fields {
		t.data = binary.LittleEndian.AppendUint64(t.data, f)
	}
}

func (t *table) add32(v uint32) { t.data = binary.LittleEndian.AppendUint32(t.data, v) }

// sort sorts records by their first fields. Equal records keep their order, or
// are reversed. The records of others are permuted likewise.
func (t *table) sort(reversed bool, others ...*table) {
	if t.isSorted(reversed) {
		return
	}
	order := make([]uint32, t.len())
	for i := range order {
		order[i] = uint32(i)
	}
	compare := func(a, b uint32) int {
		c := cmp.Compare(t.u64(int(a), 0), t.u64(int(b), 0))
		if c == 0 && reversed {
			return cmp.Compare(b, a)
		}
		return cmp.Or(c, cmp.Compare(a, b))
	}
	slices.SortFunc(order, compare)
	for _, t := range append(others, t) {
		t.arrange(order)
	}
}

// isSorted reports whether the table is sorted already.
func (t *table) isSorted(reversed bool) bool {
	for i := 1; i < t.len(); i++ {
		before, this := t.u64(i-1, 0), t.u64(i, 0)
		if before > this || before == this && reversed {
			return false
		}
	}
	return true
}

// arrange permutes records.
func (t *table) arrange(order []uint32) {
	sorted := make([]byte, 0, len(t.data))
	for _, i := range order {
		sorted = append(sorted, t.at(int(i))...)
	}
	t.data = sorted
}

// below returns the index after the last record whose first field is at most v.
func (t *table) below(v uint64) int { return t.belowIn(0, t.len(), v) }

// belowIn is like below for records lo to hi; all before lo must be at most v.
func (t *table) belowIn(lo, hi int, v uint64) int {
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); t.u64(mid, 0) <= v {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// numbered returns the index of the first record with an id, or -1. Ids are
// usually equal to indices.
func (t *table) numbered(id uint32) int {
	n := t.len()
	if int(id) < n && t.u64(int(id), 0) == uint64(id) && (id == 0 || t.u64(int(id)-1, 0) != uint64(id)) {
		return int(id)
	}
	k := 0
	if id > 0 {
		k = t.below(uint64(id) - 1)
	}
	if k < n && t.u64(k, 0) == uint64(id) {
		return k
	}
	return -1
}

// The records of the tables.
//
//	starts:          address
//	spans:           size, offset in the text; length in the text
//	publics:         address, offset
//	files, origins:  number, offset
//
// The text of a function extends from its FUNC record to its last line or INLINE record,
// the text of a block from its STACK CFI INIT to its last STACK CFI.
const (
	startSize  = 8
	spanSize   = 24
	publicSize = 16
	numberSize = 16
)
