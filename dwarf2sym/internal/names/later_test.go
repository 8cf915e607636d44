package names

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

// Names that several tables left for later are the names at their offsets, with one number for each text. This
// holds even if .debug_str has a text twice, if a name is the end of another one, and beside names that were
// read at once.
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
		var tables []*Table
		var ids [][]ID
		var want [][]string
		for i := range count {
			table := New()
			table.main, table.most = d, 2000
			var own []ID
			var texts []string
			for k := range 2500 { // more than most, so that the others are read at once
				off := starts[rng.IntN(len(starts))] + uint64(rng.IntN(4))
				text, _ := dwarf.CString(str, off)
				id, ok := table.readLater(d, off)
				if ok != (k < 2000) {
					t.Fatalf("name %d of table %d is left for later: %v", k, i, ok)
				}
				if !ok {
					id = table.Intern(text)
				}
				texts = append(texts, string(text))
				own = append(own, id)
			}
			tables, ids, want = append(tables, &table), append(ids, own), append(want, texts)
		}
		all, common, err := Join(context.Background(), d, tables, count)
		if err != nil {
			t.Fatal(err)
		}
		numbers := map[string]ID{}
		for i := range tables {
			for k, id := range ids[i] {
				text := want[i][k]
				id = common[i].Of(id)
				if got := all.At(uint32(id)); got != text {
					t.Fatalf("%d tables: name %d of table %d is %q, want %q", count, k, i, got, text)
				}
				if n, ok := numbers[text]; ok && n != id {
					t.Fatalf("%d tables: %q has the numbers %d and %d", count, text, n, id)
				}
				numbers[text] = id
			}
		}
	}
}

// An empty name cannot be left for later.
func TestLaterNamesEmpty(t *testing.T) {
	d := &units.Data{Sections: dwarf.Sections{Str: []byte("f\x00")}, Effort: &dwarf.Effort{Limit: 1 << 40}}
	table := New()
	table.main, table.most = d, 10
	for _, off := range []uint64{0, 1} {
		if _, ok := table.readLater(d, off); !ok {
			t.Fatalf("the name at %d is not left for later", off)
		}
	}
	if _, ok := table.readLater(d, 2); ok {
		t.Error("a name behind the section is left for later")
	}
	if _, _, err := Join(context.Background(), d, []*Table{&table}, 1); !errors.Is(err, ErrNow) {
		t.Errorf("error %v, want %v", err, ErrNow)
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
