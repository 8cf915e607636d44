package resolve

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// Where STACK WIN records overlap in any way, type 4 takes precedence over type 0 and, within
// a type, the record that starts last.
func TestWin(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for run := range 300 {
		var text strings.Builder
		var wins []symfmt.StackWin
		for i := range rng.IntN(12) {
			w := symfmt.StackWin{
				Type: uint32(rng.IntN(5)), RVA: symfmt.RVA(rng.IntN(20)), CodeSize: uint64(rng.IntN(20)), ParameterSize: uint64(i),
			}
			fmt.Fprintf(&text, "STACK WIN %x %x %x 0 0 %x 0 0 0 0 0\n", w.Type, uint64(w.RVA), w.CodeSize, w.ParameterSize)
			wins = append(wins, w)
		}
		r := openString(t, "MODULE windows x86 0 a\n"+text.String())
		for rva := range symfmt.RVA(45) {
			got, err := r.Win(rva)
			if err != nil {
				t.Fatal(err)
			}
			want := naiveWin(wins, rva)
			if (got == nil) != (want == nil) || got != nil && *got != *want {
				t.Fatalf("run %d: Win(%#x) = %+v, want %+v of\n%s", run, uint64(rva), got, want, &text)
			}
		}
	}
}

func naiveWin(wins []symfmt.StackWin, rva symfmt.RVA) *symfmt.StackWin {
	for _, kind := range []uint32{4, 0} {
		var found *symfmt.StackWin
		for i := range wins {
			w := &wins[i]
			if w.Type == kind && w.RVA <= rva && uint64(rva-w.RVA) < w.CodeSize && (found == nil || w.RVA > found.RVA) {
				found = w
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}
