package supplier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/internal/testenv"
	"github.com/symtool/symtool/resolve"
	"github.com/symtool/symtool/symfmt"
)

// The answer of a part for an address does not depend on earlier or concurrent requests: the answers for many
// addresses equal those of the whole file in any order, and in the pieces that Order makes, by one thread or
// by several.
func TestOrderOfABatch(t *testing.T) {
	pieces := func(ordered func(all []symfmt.RVA) []int) func(*comparison, []symfmt.RVA) [][]int {
		return func(_ *comparison, all []symfmt.RVA) [][]int { return [][]int{ordered(all)} }
	}
	orders := []struct {
		name   string
		jobs   int
		pieces func(*comparison, []symfmt.RVA) [][]int
	}{
		{"ascending", 1, pieces(ascending)},
		{"descending", 1, pieces(func(all []symfmt.RVA) []int {
			order := ascending(all)
			slices.Reverse(order)
			return order
		})},
		{"random", 1, pieces(func(all []symfmt.RVA) []int { return rand.New(rand.NewPCG(1, 2)).Perm(len(all)) })},
		{"by Order", 1, func(c *comparison, all []symfmt.RVA) [][]int { return resolve.Order(t.Context(), c.lazy, all) }},
		{"by Order, several threads", 4, func(c *comparison, all []symfmt.RVA) [][]int { return resolve.Order(t.Context(), c.lazy, all) }},
		{"by Order, then others", 1, func(c *comparison, all []symfmt.RVA) [][]int {
			var some []symfmt.RVA
			others := []int{}
			for i, rva := range all {
				if i%2 == 0 {
					some = append(some, rva)
				} else {
					others = append(others, i)
				}
			}
			order := resolve.Order(t.Context(), c.lazy, some)
			for _, piece := range order {
				for k := range piece {
					piece[k] *= 2
				}
			}
			return append(order, others)
		}},
		{"any pieces, several threads", 4, func(_ *comparison, all []symfmt.RVA) [][]int {
			return slices.Collect(slices.Chunk(rand.New(rand.NewPCG(3, 4)).Perm(len(all)), 10))
		}},
	}
	names := []string{"bbsections", "gcc-dwarf5", "gcc-dwarf5-types", "hotcold-gcc5", "icf-gold", "dead-bfd-v5", "nestedfn", "init-parts", "rust-v0", "dwz5", "lto-gcc", "split-inlining"}
	if testing.Short() {
		names = names[:3]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			for _, o := range orders {
				c := newComparison(t, filepath.Join(testenv.Input(t), name+".elf"), "")
				all := addressesOf(c)
				order := o.pieces(c, all)
				err := par.Each(t.Context(), o.jobs, len(order), func(_ context.Context, _, k int) error {
					for _, i := range order[k] {
						if part, whole := nearest(t, c.lazy, all[i]), nearest(t, c.whole, all[i]); part != whole {
							return fmt.Errorf("%s, %#x: %s, from the whole file %s", o.name, uint64(all[i]), part, whole)
						}
					}
					return nil
				})
				if n := len(slices.Concat(order...)); err != nil || n != len(all) {
					t.Fatalf("%d of %d addresses: %v", n, len(all), err)
				}
			}
		})
	}
}

// addressesOf returns some addresses in each function, enough for Order to count them as many.
func addressesOf(c *comparison) (all []symfmt.RVA) {
	for i := range c.funcs {
		f := &c.funcs[i]
		for k := range 1 + 3000/uint64(len(c.funcs)) {
			all = append(all, f.RVA+symfmt.RVA(k%f.Size))
		}
	}
	return all
}

func ascending(all []symfmt.RVA) []int {
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	return order
}

func nearest(t *testing.T, s resolve.Symbols, rva symfmt.RVA) string {
	var at resolve.Location
	found, err := s.Nearest(t.Context(), rva, &at)
	start, line, lineErr := s.LineStart(t.Context(), rva)
	return fmt.Sprintf("%v %+v %v, line %v %v %v", found, at, err, start, line, lineErr)
}
