package lint

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// clashes finds the records that a reader drops if it adds one record after another.
func TestClashesAgainstReaders(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	type record struct{ rva, size int }
	overlap := func(a, b record) bool { return a.rva < b.rva+b.size && b.rva < a.rva+a.size }
	within := func(a, b record) bool { return a.rva >= b.rva && a.rva+a.size <= b.rva+b.size }
	dropped := [2]int{}
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 9))
		var cfi, win strings.Builder
		cfi.WriteString("MODULE Linux x86 0 a\n")
		win.WriteString("MODULE Linux x86 0 a\n")
		kept := [2][]record{}
		want := [2][]string{}
		room := 40 + r.IntN(200)
		for line := range r.IntN(30) {
			rec := record{r.IntN(room), r.IntN(16)}
			fmt.Fprintf(&cfi, "STACK CFI INIT %x %x .cfa: $esp 4 + .ra: .cfa -4 + ^\n", rec.rva, rec.size)
			fmt.Fprintf(&win, "STACK WIN 0 %x %x 0 0 0 0 0 0 0 0\n", rec.rva, rec.size)
			for nested := range 2 {
				clash, same := false, false
				for _, k := range kept[nested] {
					if overlap(rec, k) && (nested == 0 || rec == k || !within(rec, k) && !within(k, rec)) {
						clash, same = true, same || rec == k
					}
				}
				ids := [][2]string{{"SYM402", "SYM403"}, {"SYM433", "SYM434"}}[nested]
				switch {
				case rec.size == 0:
				case !clash:
					kept[nested] = append(kept[nested], rec)
				case same:
					want[nested] = append(want[nested], fmt.Sprint(ids[1], " ", line+2))
				default:
					want[nested] = append(want[nested], fmt.Sprint(ids[0], " ", line+2))
				}
			}
		}
		for nested, text := range []string{cfi.String(), win.String()} {
			var got []string
			for _, f := range lintText(t, text).Findings {
				if slices.Contains([]string{"SYM402", "SYM403", "SYM433", "SYM434"}, f.Rule.ID) {
					got = append(got, fmt.Sprint(f.Rule.ID, " ", f.Line))
				}
			}
			if !slices.Equal(got, want[nested]) {
				t.Fatalf("seed %d: got %v, want %v\n%s", seed, got, want[nested], text)
			}
			dropped[nested] += len(got)
		}
	}
	if dropped[0] < 500 || dropped[1] < 500 {
		t.Errorf("%v clashes: the files are too simple", dropped)
	}
}
