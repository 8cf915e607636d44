package funcs

import "testing"

// TestChunks checks the order of elements, that iteration can stop early, and that a list can be reused
// after a reset.
func TestChunks(t *testing.T) {
	var c chunks[int]
	for _, n := range []int{0, 1, minChunk, minChunk + 1, 3 * maxChunk} {
		for i := range n {
			c.add(i)
		}
		next := 0
		for p := range c.all() {
			if *p != next {
				t.Fatalf("element %d is %d", next, *p)
			}
			next++
		}
		if next != n {
			t.Errorf("%d elements, want %d", next, n)
		}
		for range c.all() {
			break
		}
		c.reset()
		for range c.all() {
			t.Error("elements after reset")
		}
	}
	if got := cap(c.list[0]); got != maxChunk {
		t.Errorf("after reset a chunk of %d, want %d", got, maxChunk)
	}
	if got := testing.AllocsPerRun(10, func() {
		for i := range maxChunk {
			c.add(i)
		}
		c.reset()
	}); got > 0 {
		t.Errorf("%v allocations for elements that fit into the chunk", got)
	}
}
