package resolve

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/symtool/symtool/symfmt"
	"github.com/symtool/symtool/symfmt/cfi"
)

// manyFunctions returns a text with n functions of 16 bytes from 0x1000 on, each
// with an inlined function, PUBLICs after them, and blocks.
func manyFunctions(n int) string {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, "FILE %d file%d\nINLINE_ORIGIN %d inlined%d\n", i, i, i, i)
	}
	for i := range n {
		rva := 0x1000 + 16*i
		fmt.Fprintf(&b, "FUNC %x 10 0 function%d\nINLINE 0 %d %d %d %x 8\n%x 10 %d %d\n", rva, i, i+1, i, n-1-i, rva, rva, i+7, i)
		fmt.Fprintf(&b, "PUBLIC %x 0 public%d\nSTACK CFI INIT %x 10 .cfa: $rsp %d +\n", 0x1000+16*(n+i), i, rva, i)
	}
	return b.String()
}

// Many goroutines look up addresses at once, with a cache that is too small for
// all the functions.
func TestConcurrent(t *testing.T) {
	const n = 300
	text := manyFunctions(n)
	for _, limit := range []int64{1, 2000, heldFunctions} {
		r := openString(t, text)
		r.limit = limit
		var wg sync.WaitGroup
		for seed := range uint64(8) {
			wg.Go(func() {
				rng := rand.New(rand.NewPCG(seed, 1))
				var at Location
				for range 3000 {
					i := rng.IntN(2 * n)
					rva := symfmt.RVA(0x1000 + 16*i)
					want := fmt.Sprintf("public%d public", i-n)
					if i < n {
						want = fmt.Sprintf("inlined%d file%d:%d < function%d file%d:%d", n-1-i, i, i+7, i, i, i+1)
					}
					if ok, err := r.Find(t.Context(), rva, &at); !ok || err != nil || text2line(&at) != want {
						t.Errorf("%#x: %q, %v, want %q", uint64(rva), text2line(&at), err, want)
						return
					}
					if start, ok, err := r.LineStart(t.Context(), rva); err != nil || ok != (i < n) || ok && start != rva {
						t.Errorf("%#x: line at %#x, %v, %v", uint64(rva), uint64(start), ok, err)
						return
					}
					if b, err := r.Rules(t.Context(), rva, cfi.NewNames(nil)); i < n && (err != nil || b.Row.String() != fmt.Sprintf(".cfa: $rsp %d +", i)) {
						t.Errorf("%#x: CFI %+v, %v", uint64(rva), b, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

// The cache never holds more than its limit and one function.
func TestCacheLimit(t *testing.T) {
	r := openString(t, manyFunctions(300))
	r.limit = 1000
	var at Location
	var most, cleared int64
	before := int64(0)
	for i := range 300 {
		if _, err := r.Find(t.Context(), symfmt.RVA(0x1000+16*i), &at); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := r.LineStart(t.Context(), symfmt.RVA(0x1000+16*i)); !ok || err != nil {
			t.Fatal(ok, err)
		}
		held := r.cache.Load().held
		if held < before {
			cleared++
		}
		most, before = max(most, held), held
	}
	if most > 1000 || most < 500 || cleared < 10 {
		t.Errorf("held up to %d bytes, cleared %d times", most, cleared)
	}
}
