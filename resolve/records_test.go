package resolve

import (
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// Records are returned as they were added: with fields of any size, in any order, across
// the ends of chunks.
func TestRecords(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	edges := []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64}
	for fields := 1; fields <= maxFields; fields++ {
		var list records
		var want [][]uint64
		for i := range 20000 {
			rec := make([]uint64, fields)
			for k := range rec {
				if rec[k] = rng.Uint64() >> rng.UintN(64); i%3 == 0 {
					rec[k] = edges[rng.IntN(len(edges))]
				}
			}
			list.add(rec...)
			want = append(want, rec)
		}
		if list.count != len(want) || len(list.chunks) < 5 {
			t.Errorf("%d records in %d chunks, want %d in many", list.count, len(list.chunks), len(want))
		}
		var got [][]uint64
		list.each(fields, func(f []uint64) { got = append(got, slices.Clone(f)) })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%d fields: records differ", fields)
		}
		if list.count != 0 || list.chunks != nil {
			t.Errorf("%d records are left", list.count)
		}
	}
}

// The tables are as large as their records, without spare capacity.
func TestSpanRecords(t *testing.T) {
	var list spanRecords
	x := newIndex()
	list.setLength(symfmt.Extent{End: 7}) // of no span
	spansOf := []span{
		{rva: 0x1000, size: 16, offset: 40, length: 100}, {rva: 0xfff, size: 1, offset: 140, length: math.MaxUint32}, {rva: math.MaxUint64, size: 1, offset: 900},
	}
	for _, v := range spansOf {
		length := v.length
		v.length = 0
		list.add(v)
		switch length {
		case 0:
		case math.MaxUint32:
			list.setLength(symfmt.Extent{End: 1 << 40})
		default:
			list.setLength(symfmt.Extent{Start: 7, End: 7 + int64(length)})
		}
	}
	list.spans(&x.funcs)
	if x.funcs.len() != len(spansOf) || cap(x.funcs.data) != len(x.funcs.data) || cap(x.funcs.starts.data) != len(x.funcs.starts.data) {
		t.Fatalf("%d spans in tables of %d and %d bytes", x.funcs.len(), cap(x.funcs.data), cap(x.funcs.starts.data))
	}
	for i, want := range spansOf {
		if got := x.funcs.span(i); got != want {
			t.Errorf("span %d is %+v, want %+v", i, got, want)
		}
	}
}

// Indexing a file allocates little more in total than its tables and room for names.
func TestOpenMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long, in one goroutine only")
	}
	path := filepath.Join(t.TempDir(), "large.sym")
	if err := writeLarge(path, 60e6); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := openPath(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	runtime.ReadMemStats(&after)
	tables := 0
	for _, table := range r.x.tables() {
		tables += len(table.data)
	}
	names := 17 * (r.x.files.len() + r.x.origins.len()) // cache for names that are read
	used := int(after.TotalAlloc - before.TotalAlloc)
	const buffers = 1 << 20 // of the text
	if most := tables + tables/2 + names + buffers; used > most {
		t.Errorf("%d bytes allocated for a file of %d with tables of %d, want %d at most", used, st.Size(), tables, most)
	}
	t.Logf("%d bytes allocated for a file of %d with tables of %d and names of %d", used, st.Size(), tables, names)
}
