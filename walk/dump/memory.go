package dump

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"slices"
	"sort"
)

// Region is a piece of memory that the dump contains.
type Region struct {
	Addr uint64
	Data []byte
}

// End returns the address after the last byte.
func (r *Region) End() uint64 { return r.Addr + uint64(len(r.Data)) }

// Memory is the known memory of a process: regions sorted by address, without overlaps. Its
// methods may be called concurrently.
type Memory struct {
	Regions []Region
	Order   binary.ByteOrder
	// More, if non-nil, is called with an address that is in no region. It returns a region that
	// contains the address, for instance from a process that still exists, or nil. It may be called
	// concurrently.
	More func(addr uint64) *Region
}

// NewMemory returns a Memory with the given regions. Where regions overlap, the first in the list takes
// precedence, and the others are cut. A region that would wrap around ends at the last address.
func NewMemory(order binary.ByteOrder, regions []Region) Memory {
	m := Memory{Order: order, Regions: make([]Region, 0, len(regions))}
	for _, r := range regions {
		if len(r.Data) == 0 {
			continue
		}
		if room := -r.Addr; room != 0 && uint64(len(r.Data)) > room {
			r.Data = r.Data[:room]
		}
		m.Regions = append(m.Regions, r)
	}
	byAddr := func(a, b Region) int { return cmp.Compare(a.Addr, b.Addr) }
	if slices.IsSortedFunc(m.Regions, byAddr) && !overlap(m.Regions) {
		return m
	}
	m.Regions = apart(m.Regions)
	return m
}

// last returns the address of the last byte.
func (r *Region) last() uint64 { return r.Addr + uint64(len(r.Data)-1) }

func overlap(sorted []Region) bool {
	for k := 1; k < len(sorted); k++ {
		if sorted[k-1].last() >= sorted[k].Addr {
			return true
		}
	}
	return false
}

// edge is the start or the end of a region.
type edge struct {
	addr   uint64
	region int
	begins bool
}

// apart sorts regions and cuts overlaps. It sweeps over their edges by address with a heap of the open
// regions, the first in the list on top, so the cost is n log n for any number of overlaps.
func apart(list []Region) []Region {
	edges := make([]edge, 0, 2*len(list))
	for i := range list {
		edges = append(edges, edge{list[i].Addr, i, true})
		if end := list[i].End(); end != 0 { // otherwise it ends at the last address
			edges = append(edges, edge{end, i, false})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.addr, b.addr), cmp.Compare(a.region, b.region)) })
	var out []Region
	c := cutter{list: list, closed: make([]bool, len(list)), now: -1}
	for k, e := range edges {
		if e.begins {
			heap.Push(&c.open, e.region)
		} else {
			c.closed[e.region] = true
		}
		if k+1 == len(edges) || edges[k+1].addr != e.addr {
			out = c.change(out, e.addr)
		}
	}
	return c.end(out)
}

// cutter builds a list of regions without overlaps.
type cutter struct {
	list   []Region
	open   indexHeap
	closed []bool
	now    int    // the region that takes precedence, or -1
	since  uint64 // where it began to take precedence
}

// change ends the current piece at addr if another region takes precedence from there on.
func (c *cutter) change(out []Region, addr uint64) []Region {
	for len(c.open) > 0 && c.closed[c.open[0]] {
		heap.Pop(&c.open)
	}
	next := -1
	if len(c.open) > 0 {
		next = c.open[0]
	}
	if next == c.now {
		return out
	}
	if c.now >= 0 {
		r := &c.list[c.now]
		out = append(out, Region{c.since, r.Data[c.since-r.Addr : addr-r.Addr]})
	}
	c.now, c.since = next, addr
	return out
}

// end adds the pieces that extend to the last address.
func (c *cutter) end(out []Region) []Region {
	if c.now >= 0 {
		r := &c.list[c.now]
		out = append(out, Region{c.since, r.Data[c.since-r.Addr:]})
	}
	return out
}

// indexHeap is a heap of indices, the smallest on top.
type indexHeap []int

func (h indexHeap) Len() int           { return len(h) }
func (h indexHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h indexHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *indexHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *indexHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

// Find returns the region that contains an address, or nil.
func (m *Memory) Find(addr uint64) *Region {
	lo, hi := 0, len(m.Regions)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); m.Regions[mid].Addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo > 0 && addr-m.Regions[lo-1].Addr < uint64(len(m.Regions[lo-1].Data)) {
		return &m.Regions[lo-1]
	}
	if m.More != nil {
		return m.More(addr)
	}
	return nil
}

// Next returns the start of the first region above an address.
func (m *Memory) Next(addr uint64) (next uint64, ok bool) {
	i := sort.Search(len(m.Regions), func(i int) bool { return m.Regions[i].Addr > addr })
	if i == len(m.Regions) {
		return 0, false
	}
	return m.Regions[i].Addr, true
}

// Bytes returns up to n bytes at an address, as many as one region or adjacent regions contain. The
// result may alias the dump: the caller must not modify it.
func (m *Memory) Bytes(addr uint64, n int) []byte {
	r := m.Find(addr)
	if r == nil {
		return nil
	}
	b := r.Data[addr-r.Addr:]
	if len(b) >= n {
		return b[:n]
	}
	b = slices.Clip(b)
	for len(b) < n {
		next := m.Find(addr + uint64(len(b)))
		if next == nil || addr+uint64(len(b)) < addr {
			break
		}
		b = append(b, next.Data[:min(n-len(b), len(next.Data))]...)
	}
	return b
}

// Word reads an unsigned number of 1, 2, 4 or 8 bytes in the byte order of the memory. It does not
// allocate within a region.
func (m *Memory) Word(addr uint64, size int) (uint64, bool) {
	b := m.Bytes(addr, size)
	if len(b) < size {
		return 0, false
	}
	switch size {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(m.Order.Uint16(b)), true
	case 4:
		return uint64(m.Order.Uint32(b)), true
	case 8:
		return m.Order.Uint64(b), true
	}
	return 0, false
}
