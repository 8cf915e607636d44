package dwarf2sym

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
)

// Names that several workers left for later are those at their offsets, with one number for each text, also where
// .debug_str has a text twice, where a name is the end of another one, and beside names that were read at once.
func TestLaterNames(t *testing.T) {
	var str []byte
	var starts []uint64
	for i := range 3000 {
		starts = append(starts, uint64(len(str)))
		str = append(str, fmt.Sprintf("name%0*d\x00", i%900, i%2000)...)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, count := range []int{1, 2, 3, 7} {
		d := &units.Data{Sections: dwarf.Sections{Str: str}, Effort: &dwarf.Effort{Limit: 1 << 40}}
		var workers []*worker
		var want [][]string
		for i := range count {
			w := &worker{records: newRecords()}
			w.names.main, w.names.most = d, 2000
			var texts []string
			for k := range 2500 { // more than most: the others are read at once
				off := starts[rng.IntN(len(starts))] + uint64(rng.IntN(4))
				text, _ := dwarf.CString(str, off)
				id, ok := w.names.readLater(d, off)
				if ok != (k < 2000) {
					t.Fatalf("name %d of worker %d is left for later: %v", k, i, ok)
				}
				if !ok {
					id = w.names.intern(text)
				}
				texts = append(texts, string(text))
				w.origins = append(w.origins, id)
				w.funcs = append(w.funcs, funcRecord{name: id})
			}
			workers, want = append(workers, w), append(want, texts)
		}
		names, err := joinNames(context.Background(), d, workers, count)
		if err != nil {
			t.Fatal(err)
		}
		numbers := map[string]nameID{}
		for i, w := range workers {
			for k, id := range w.origins {
				text := want[i][k]
				if got := names.At(uint32(id)); got != text || w.funcs[k].name != id {
					t.Fatalf("%d workers: name %d of worker %d is %q, want %q", count, k, i, got, text)
				}
				if n, ok := numbers[text]; ok && n != id {
					t.Fatalf("%d workers: %q has the numbers %d and %d", count, text, n, id)
				}
				numbers[text] = id
			}
		}
	}
}

// An empty name cannot be left for later.
func TestLaterNamesEmpty(t *testing.T) {
	d := &units.Data{Sections: dwarf.Sections{Str: []byte("f\x00")}, Effort: &dwarf.Effort{Limit: 1 << 40}}
	w := &worker{records: newRecords()}
	w.names.main, w.names.most = d, 10
	for _, off := range []uint64{0, 1} {
		if _, ok := w.names.readLater(d, off); !ok {
			t.Fatalf("the name at %d is not left for later", off)
		}
	}
	if _, ok := w.names.readLater(d, 2); ok {
		t.Error("a name behind the section is left for later")
	}
	if _, err := joinNames(context.Background(), d, []*worker{w}, 1); !errors.Is(err, errNamesNow) {
		t.Errorf("error %v, want %v", err, errNamesNow)
	}
}

func TestMergeSorted(t *testing.T) {
	for _, c := range []struct{ a, b, want []uint64 }{
		{nil, nil, nil},
		{nil, []uint64{1}, []uint64{1}},
		{[]uint64{1}, nil, []uint64{1}},
		{[]uint64{1, 4, 9}, []uint64{2, 3, 10, 11}, []uint64{1, 2, 3, 4, 9, 10, 11}},
	} {
		if got := mergeSorted(c.a, c.b); !slices.Equal(got, c.want) {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}
