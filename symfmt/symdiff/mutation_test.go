package symdiff

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/testenv"
)

// Each kind of change at random places of real files is reported as that kind, and
// nothing else is reported.
func TestMutations(t *testing.T) {
	if testing.Short() {
		t.Skip("takes long with the race detector")
	}
	tried, missed := map[string]int{}, map[string]int{}
	files := realFiles(t)
	rounds := 1
	if testenv.OracleFull() {
		rounds = 5
	}
	if path := os.Getenv("SYMTOOL_BENCH_SYM"); path != "" {
		files, rounds = append(files, path), 1
	}
	for n, path := range files {
		base := newDoc(t, testenv.SymbolFile(t, path))
		text := base.text(t)
		for k, kind := range mutations {
			for round := range rounds {
				m := &mutant{old: base, new: base.copy(), rng: rand.New(rand.NewPCG(uint64(n*rounds+round), uint64(k)))}
				if !kind.apply(m) || m.want == nil && kind.name != "nothing" {
					break
				}
				tried[kind.name]++
				got := listed(compare(t, text, m.new.text(t), Options{}))
				slices.Sort(got)
				slices.Sort(m.want)
				if !slices.Equal(got, m.want) {
					missed[kind.name]++
					if missed[kind.name] <= 3 {
						t.Errorf("%s: %s: %s", filepath.Base(path), kind.name, difference(m.want, got))
					}
				}
			}
		}
	}
	for _, kind := range mutations {
		t.Logf("%-34s %4d of %4d", kind.name, tried[kind.name]-missed[kind.name], tried[kind.name])
		if tried[kind.name] == 0 {
			t.Errorf("%s: no file has a place for it", kind.name)
		}
	}
}

// difference returns a few of the lines that are only in one of two lists,
// for each list.
func difference(want, got []string) string {
	only := func(a, b []string) (out []string) {
		for _, s := range a {
			if !slices.Contains(b, s) {
				out = append(out, s)
			}
		}
		return out[:min(len(out), 6)]
	}
	return fmt.Sprintf("%d reported, want %d\n  missing %q\n  but     %q", len(got), len(want), only(want, got), only(got, want))
}
