package resolve

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// index says where the records of a symbol file are. Its tables have the same form in memory and in
// an index file: records of fixed size, little-endian.
type index struct {
	Identity // without the Path

	OldInlines bool // INLINE records have no call file, and INLINE_ORIGINs have a file id before the name

	size    uint64 // of the text in bytes
	funcs   spans
	blocks  spans // STACK CFI INIT
	wins    spans // STACK WIN of type 4
	fpos    spans // STACK WIN of type 0, apart so that a search skips the other type
	publics table // by address; at the same address, in reverse order of the file
	files   table // by id, then in order of the file
	origins table
}

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

// newIndex returns an index without records.
func newIndex() *index {
	x := &index{}
	for _, s := range []*spans{&x.funcs, &x.blocks, &x.wins, &x.fpos} {
		s.starts.size, s.size, s.buckets.size, s.outer.size = startSize, spanSize, 4, 4
	}
	x.publics.size, x.files.size, x.origins.size = publicSize, numberSize, numberSize
	return x
}

// tables returns all tables, in the order of index files.
func (x *index) tables() []*table {
	return []*table{
		&x.funcs.starts, &x.funcs.table, &x.funcs.buckets, &x.funcs.outer,
		&x.blocks.starts, &x.blocks.table, &x.blocks.buckets, &x.blocks.outer,
		&x.wins.starts, &x.wins.table, &x.wins.buckets, &x.wins.outer,
		&x.fpos.starts, &x.fpos.table, &x.fpos.buckets, &x.fpos.outer,
		&x.publics, &x.files, &x.origins,
	}
}

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

// offsetOf returns the offset of the record of a FILE, INLINE_ORIGIN or PUBLIC.
func (t *table) offsetOf(i int) uint64 { return t.u64(i, 1) }
