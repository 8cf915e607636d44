package lookup

import (
	"cmp"
	"slices"
)

// announcement is a large set of addresses that will be looked up. In the areas that contain them, functions are
// read with only the lines and inlined functions at these addresses.
type announcement struct {
	areas []bool   // by index in Index.areas
	addrs []uint64 // sorted
}

// fewest is the minimum number of addresses that are assumed to be all that will be looked up. With fewer, more from
// the same units are likely to follow.
const fewest = 1000

// Order returns the indices of addresses in the order in which they should be looked up, one slice for each group. If
// there are many addresses, they are announced: Areas then returns groups that have only what these need. Order sorts
// the addresses.
func (x *Index) Order(addrs []uint64) (pieces [][]int) {
	ranks, order, at := make([]int, len(addrs)), make([]int, len(addrs)), slices.Clone(addrs)
	asked := &announcement{areas: make([]bool, len(x.areas)), addrs: addrs}
	for i, addr := range addrs {
		order[i] = i
		if k := x.before(addr); k >= 0 { // between areas, it matters whether a function starts before the address
			ranks[i], asked.areas[k] = x.areas[k].group.rank, true
		}
	}
	if len(addrs) >= fewest {
		slices.Sort(addrs)
		x.announce(asked)
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(ranks[a], ranks[b]), cmp.Compare(at[a], at[b]), a-b) })
	for first := 0; first < len(order); {
		last := first + 1
		for last < len(order) && ranks[order[last]] == ranks[order[first]] {
			last++
		}
		pieces = append(pieces, order[first:last])
		first = last
	}
	return pieces
}

// announce restricts groups to what the addresses that will be looked up need.
func (x *Index) announce(asked *announcement) {
	parts := make([]*Group, len(x.groups))
	for i, is := range asked.areas {
		if g := x.areas[i].group; is && parts[g.rank] == nil {
			part := *g
			part.asked = asked
			parts[g.rank] = &part
		}
	}
	x.parts.Store(&parts)
}

// groupOf returns the group to read for the part of [lo, hi] in area i.
func (x *Index) groupOf(i int, lo, hi uint64) *Group {
	g := x.areas[i].group
	if parts := x.parts.Load(); parts != nil {
		if part := (*parts)[g.rank]; part != nil && part.asked.areas[i] && (lo < hi || part.asked.has(lo)) {
			return part
		}
	}
	return g
}

// has reports whether addr is one of the addresses.
func (a *announcement) has(addr uint64) bool {
	_, found := slices.BinarySearch(a.addrs, addr)
	return found
}

// Size returns the number of bytes of .debug_info needed for addresses.
func (x *Index) Size(addrs []uint64) (n int64) {
	known := make(map[*Group]bool)
	for _, addr := range addrs {
		if g := x.At(addr); g != nil && !known[g] {
			known[g] = true
			n += g.Size()
		}
	}
	return n
}
