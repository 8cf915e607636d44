package span

import (
	"cmp"
	"slices"
)

// Sweep assigns each piece of code to the highest-numbered owner that claims it. The zero value
// has no claims.
type Sweep struct {
	edges  []edge
	live   []bool
	active activeHeap
}

// edge is where a claim starts or ends.
type edge struct {
	addr  uint64
	owner int32
	start bool
}

// activeHeap holds the owners of the current code, the highest on top. Claims that have ended
// are removed when they reach the top. container/heap would allocate for each.
type activeHeap []int32

func (a *activeHeap) push(owner int32) {
	h := append(*a, owner)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up] >= h[i] {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*a = h
}

func (a *activeHeap) pop() {
	h := *a
	last := len(h) - 1
	h[0], h = h[last], h[:last]
	for i := 0; ; {
		down := 2*i + 1
		if down >= last {
			break
		}
		if right := down + 1; right < last && h[right] > h[down] {
			down = right
		}
		if h[i] >= h[down] {
			break
		}
		h[i], h[down] = h[down], h[i]
		i = down
	}
	*a = h
}

// Reset removes all claims and prepares for owners below n.
func (w *Sweep) Reset(n int) {
	w.edges, w.active = w.edges[:0], w.active[:0]
	w.live = slices.Grow(w.live[:0], n)[:n]
	clear(w.live)
}

// Claim adds [lo, hi), which must not be empty. The claims of one owner must not touch.
func (w *Sweep) Claim(owner int, lo, hi uint64) {
	w.edges = append(w.edges, edge{lo, int32(owner), true}, edge{hi, int32(owner), false})
}

// Each calls piece for each piece of code that is claimed, in order of address, until piece
// returns false.
func (w *Sweep) Each(piece func(owner int32, lo, hi uint64) bool) {
	slices.SortFunc(w.edges, func(a, b edge) int {
		switch {
		case a.addr != b.addr:
			return cmp.Compare(a.addr, b.addr)
		case a.start == b.start:
			return 0
		case a.start:
			return 1 // ends come first
		}
		return -1
	})
	for i := 0; i < len(w.edges); {
		at := w.edges[i].addr
		for ; i < len(w.edges) && w.edges[i].addr == at; i++ {
			e := w.edges[i]
			w.live[e.owner] = e.start
			if e.start {
				w.active.push(e.owner)
			}
		}
		for len(w.active) > 0 && !w.live[w.active[0]] {
			w.active.pop()
		}
		if len(w.active) > 0 && i < len(w.edges) && !piece(w.active[0], at, w.edges[i].addr) {
			return
		}
	}
}
