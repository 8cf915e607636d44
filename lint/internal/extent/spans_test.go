package extent

import (
	"math/rand/v2"
	"testing"

	"github.com/symtool/symtool/symfmt"
)

// spans agree with a plain set of bytes about each byte.
func TestSpans(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const top = 200
	for _, base := range []symfmt.RVA{0, 0x1000, ^symfmt.RVA(0) - (top - 1)} {
		for range 300 {
			var s Spans
			var set [top]bool
			for range rng.IntN(30) {
				from := rng.IntN(top)
				size := 1 + rng.IntN(min(20, top-from))
				want := uint64(0)
				for i := from; i < from+size; i++ {
					if set[i] {
						want++
					}
				}
				if got := s.Add(base+symfmt.RVA(from), uint64(size)); got != want {
					t.Fatalf("base %x: add [%d, +%d): %d bytes were there, want %d", base, from, size, got, want)
				}
				for i := from; i < from+size; i++ {
					set[i] = true
				}
				from = rng.IntN(top)
				size = 1 + rng.IntN(min(20, top-from))
				all := true
				for i := from; i < from+size; i++ {
					all = all && set[i]
				}
				if s.Holds(base+symfmt.RVA(from), uint64(size)) != all {
					t.Fatalf("base %x: holds [%d, +%d) is not %v: %v", base, from, size, all, s.list)
				}
				for i := 1; i < len(s.list); i++ {
					if s.list[i].from-1 <= s.list[i-1].to {
						t.Fatalf("spans touch: %v", s.list)
					}
				}
			}
		}
	}
}

// With more gaps than are remembered, an overlap may be missed but none is invented.
func TestSpansForget(t *testing.T) {
	var s Spans
	for i := range symfmt.RVA(3 * maxSpans) {
		if again := s.Add(i*4, 2); again != 0 {
			t.Fatalf("%d bytes at %x were there", again, i*4)
		}
	}
	if !s.Forgot || len(s.list) > maxSpans {
		t.Errorf("%d spans, forgot: %v", len(s.list), s.Forgot)
	}
	if again := s.Add(3*maxSpans*4-4, 2); again != 2 {
		t.Errorf("the last span: %d bytes were there, want 2", again)
	}
	for i := range symfmt.RVA(2 * maxSpans) { // in between, in descending order: all are new
		if again := s.Add((2*maxSpans-i)*4+2, 1); again != 0 {
			t.Fatalf("%d bytes were there", again)
		}
	}
}
