package resolve

import (
	"encoding/binary"
	"errors"
	"slices"
	"sync/atomic"
)

// cache holds the functions read so far. When it is full, an empty one replaces it. That costs
// look-ups nothing, unlike tracking the order of use, and functions are read again at more than a
// million lines a second.
type cache struct {
	pages []atomic.Pointer[slotPage]
	arena arena
	lines map[int][]lineCode // by function, for LineStart; guarded by the Resolver's mutex
	held  int64              // approximate size of functions, lines and errors in bytes

	// Why functions cannot be used, by function; guarded by the Resolver's mutex.
	refused map[int]error
}

// heldFunctions is roughly the number of bytes of functions that a Resolver keeps: more than those
// of a whole kernel.
const heldFunctions = 256 << 20

// slotPage has the slots of consecutive functions, starting at a multiple of
// its size, so that a large module can be used before memory for all of them
// is allocated.
type slotPage [256]slot

// slot is a function that has been read if ref is set.
type slot struct { // 32 bytes, two to a cache line
	name  string
	ref   atomic.Uint32 // reference into the arena
	rows  uint32        // number of its segments
	size  uint32        // size of its code in bytes; 0 for 4 GB and more
	shape shape
}

func newCache(functions int) *cache {
	n := len(slotPage{})
	return &cache{pages: make([]atomic.Pointer[slotPage], (functions+n-1)/n), lines: map[int][]lineCode{}}
}

// slot returns the slot of function i, or nil if its page has not been allocated.
func (c *cache) slot(i int) *slot {
	page := c.pages[uint(i)/uint(len(slotPage{}))].Load()
	if page == nil {
		return nil
	}
	return &page[uint(i)%uint(len(slotPage{}))]
}

// newSlot returns the slot of function i. Only one goroutine may call it at a time.
func (c *cache) newSlot(i int) *slot {
	if s := c.slot(i); s != nil {
		return s
	}
	c.pages[i/len(slotPage{})].Store(new(slotPage))
	return c.slot(i)
}

// held returns the approximate memory that a function takes.
func held(name string, f packed) int64 { return int64(len(name) + len(f.data)) }

// arena keeps packed functions, many in one piece of memory without pointers for
// the garbage collector to follow. It only grows.
type arena struct {
	chunks atomic.Pointer[[][]byte]
	used   int // used bytes of the last chunk
}

const (
	chunkShift = 20
	chunkSize  = 1 << chunkShift
	firstChunk = 1 << 12                    // the chunks of a small module are small
	maxChunks  = 1 << (32 + 2 - chunkShift) // references count words of 4 bytes
)

var errArenaFull = errors.New("too many functions with a million lines")

// add adds a function to the arena and returns the reference to it, which is
// not 0. Only one goroutine may call it at a time. Length and offset of the
// data are multiples of 4.
func (a *arena) add(f packed) (ref uint32, err error) {
	var chunks [][]byte
	if p := a.chunks.Load(); p != nil {
		chunks = *p
	}
	last := len(chunks) - 1
	if last < 0 || len(f.data) > len(chunks[last])-a.used {
		if last++; last >= maxChunks {
			return 0, errArenaFull
		}
		size := max(len(f.data), min(chunkSize, firstChunk<<min(last, chunkShift)))
		grown := append(slices.Clip(chunks), make([]byte, size))
		a.used, chunks = 0, grown
		a.chunks.Store(&grown)
	}
	copy(chunks[last][a.used:], f.data)
	place := last<<chunkShift + a.used + f.place
	a.used += len(f.data)
	return uint32(place/4) + 1, nil
}

// at returns the chunk for a reference, and the offset in it. A chunk longer
// than chunkSize holds one function.
func (a *arena) at(ref uint32) (chunk []byte, place int) {
	at := uint64(ref-1) * 4
	return (*a.chunks.Load())[at>>chunkShift], int(at & (chunkSize - 1))
}

// paramSize returns a function's parameter size.
func (c *cache) paramSize(s *slot) uint64 {
	if s.shape&hasParams == 0 {
		return 0
	}
	data, place := c.arena.at(s.ref.Load())
	return binary.LittleEndian.Uint64(data[place:])
}

// lineCode is the code of a line record, relative to the function's start.
type lineCode struct{ off, end uint32 }
