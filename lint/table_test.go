package lint

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A table has what was added, in order, at and around the ends of its pieces.
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
				t.Fatalf("entry %d of %d comes as number %d", len(all), n, i)
			}
			all = append(all, *x)
		}
		if table.Len() != n || len(all) != n || n > 0 && first != table.At(0) {
			t.Errorf("%d of %d entries; the first moved: %v", len(all), n, n > 0 && first != table.At(0))
		}
		byValue := sortTable(&table, func(a, b *int) int { return cmp.Compare(*a, *b) })
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
				break // the table stops, too, or the runtime panics
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
	for _, x := range sortTable(&table, func(a, b *[2]int) int { return cmp.Compare(a[0], b[0]) }).All {
		if slices.Compare(x[:], before[:]) <= 0 {
			t.Fatalf("%v behind %v", *x, before)
		}
		before = *x
	}
}

// Which blocks have a name, in random files, against a look at each FUNC and PUBLIC.
func TestNamedCodeRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	rules, err := SelectRules([]string{"SYM420"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	nameless := 0
	for range 2000 {
		var text strings.Builder
		text.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 a\n")
		type code struct{ rva, size uint64 }
		var funcs []code
		var publics, blocks []uint64
		for range rng.IntN(6) {
			f := code{rng.Uint64N(64), rng.Uint64N(8)}
			funcs = append(funcs, f)
			fmt.Fprintf(&text, "FUNC %x %x 0 f\n", f.rva, f.size)
		}
		for range rng.IntN(4) {
			publics = append(publics, rng.Uint64N(64))
			fmt.Fprintf(&text, "PUBLIC %x 0 g\n", publics[len(publics)-1])
		}
		for range 8 {
			blocks = append(blocks, rng.Uint64N(80))
			fmt.Fprintf(&text, "STACK CFI INIT %x 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", blocks[len(blocks)-1])
		}
		if len(funcs)+len(publics) == 0 {
			continue
		}
		var want []int
		for i, rva := range blocks {
			named, from := false, uint64(0)
			for _, f := range funcs {
				named = named || f.rva <= rva && rva < f.rva+f.size
				if end := f.rva + f.size; f.size > 0 && f.rva <= rva {
					from = max(from, end)
				}
			}
			for _, p := range publics {
				named = named || from <= p && p <= rva
			}
			if !named {
				want = append(want, 2+len(funcs)+len(publics)+i)
			}
		}
		r, err := Run(context.Background(), strings.NewReader(text.String()), Options{Rules: rules})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, f := range r.Findings {
			got = append(got, f.Line)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("lines %d, want %d in\n%s", got, want, text.String())
		}
		nameless += len(want)
	}
	if nameless < 1000 {
		t.Errorf("%d blocks without a name only", nameless)
	}
}
