package funcs

import "iter"

// chunks is a list that grows without copying, which would briefly take twice its memory.
type chunks[T any] struct{ list [][]T }

// Chunk sizes start at minChunk and double up to maxChunk.
const (
	minChunk = 64
	maxChunk = 4096
)

func (c *chunks[T]) add(v T) {
	n := len(c.list)
	if n == 0 || len(c.list[n-1]) == cap(c.list[n-1]) {
		size := minChunk
		if n > 0 {
			size = min(2*cap(c.list[n-1]), maxChunk)
		}
		c.list = append(c.list, make([]T, 0, size))
		n++
	}
	c.list[n-1] = append(c.list[n-1], v)
}

// all iterates over the elements in the order in which they were added.
func (c *chunks[T]) all() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for _, chunk := range c.list {
			for i := range chunk {
				if !yield(&chunk[i]) {
					return
				}
			}
		}
	}
}

// reset removes all elements. It keeps the last chunk, the largest.
func (c *chunks[T]) reset() {
	if n := len(c.list); n > 0 {
		c.list[0] = c.list[n-1][:0]
		clear(c.list[1:])
		c.list = c.list[:1]
	}
}
