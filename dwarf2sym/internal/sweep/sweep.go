// Package sweep determines the owner of each piece of code among several that claim it.
package sweep

import (
	"cmp"
	"container/heap"
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

// activeHeap has the owners of the current code, the highest on top. Ended
// claims are removed when they come to the top.
type activeHeap []int32

func (a activeHeap) Len() int           { return len(a) }
func (a activeHeap) Less(i, j int) bool { return a[i] > a[j] }
func (a activeHeap) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *activeHeap) Push(x any)        { *a = append(*a, x.(int32)) }
func (a *activeHeap) Pop() any {
	last := (*a)[len(*a)-1]
	*a = (*a)[:len(*a)-1]
	return last
}

// Reset prepares for owners below n.
func (w *Sweep) Reset(n int) {
	w.edges, w.active = w.edges[:0], w.active[:0]
	w.live = slices.Grow(w.live[:0], n)[:n]
	clear(w.live)
}

// Claim adds [lo, hi), which must not be empty. The claims of one owner must not touch.
func (w *Sweep) Claim(owner int, lo, hi uint64) {
	w.edges = append(w.edges, edge{lo, int32(owner), true}, edge{hi, int32(owner), false})
}

// Each calls piece for the pieces of code, in order of address, until it
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
				heap.Push(&w.active, e.owner)
			}
		}
		for len(w.active) > 0 && !w.live[w.active[0]] {
			heap.Pop(&w.active)
		}
		if len(w.active) > 0 && i < len(w.edges) && !piece(w.active[0], at, w.edges[i].addr) {
			return
		}
	}
}
