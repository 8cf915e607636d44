package lint

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// Which blocks have a name, in random files, is compared with a search of all FUNCs and PUBLICs.
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
		r, err := Run(context.Background(), symfmt.TextRecords(strings.NewReader(text.String())), Options{Rules: rules})
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
		t.Errorf("only %d blocks without a name", nameless)
	}
}
