// Package lookup knows which units have functions at an address: New makes an Index of the code of units, whose Groups
// are what must be read together (index.go); a Builder makes an exact one, without copies of
// functions (copies.go); Order arranges many addresses so that each unit is read once (order.go).
package lookup

import (
	"cmp"
	"encoding/binary"
	"iter"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
)

// Portion is what is read in one step: a unit, or split units.
type Portion struct {
	Off  uint64 // of the unit in .debug_info
	Size int64  // number of bytes to read; an upper bound until the unit was found
	Job  int    // index in funcs.Split.Jobs; -1 for a unit
}

// Extent is code where a portion may have functions, in addresses of the file.
type Extent struct {
	dwarf.Span
	Ref
}

// Ref identifies what describes the functions of some code.
type Ref struct {
	Portion int32
	DIE     uint64 // offset of the only DIE that describes them, or 0 if any in the portion may
}

func compareRefs(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Portion, b.Portion), cmp.Compare(a.DIE, b.DIE))
}

// Origin is the source of an index. Each source finds more code than the one before it.
type Origin int

const (
	Listed   Origin = iota // .debug_aranges and, for units that it does not list, what they declare
	Declared               // what units declare
	Exact                  // all functions
)

// Index knows which portions have functions at an address.
type Index struct {
	Origin   Origin
	Portions []Portion

	synthesized map[int32][]dwarf.Span // the code of functions made from symbols, by portion

	areas  []area // in order of address, without overlaps
	places []Ref
	groups []*Group

	// With many announced addresses: by rank, the part of each group that they need.
	parts atomic.Pointer[[]*Group]
}

// area is a piece of code whose functions do not depend on code outside it: functions of several portions
// overlap only within areas.
type area struct {
	dwarf.Span
	group *Group
	first int32 // index in Index.places of its first place; the last is before the next area's first
}

// Group is the set of portions that have the code of an area. All areas with the same portions share one
// Group. Until the index is exact, an inline function of C++ belongs to all portions that use it. An area
// of several portions therefore has its own Group, so that only its functions are read from all of them.
type Group struct {
	of       *Index
	rank     int // index in Index.groups
	portions []int32
	areas    []int32       // indices of its areas
	asked    *announcement // restricts what is read; nil means everything
}

// New joins overlapping extents into areas.
func New(origin Origin, portions []Portion, extents []Extent) *Index {
	slices.SortFunc(extents, func(a, b Extent) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	x := &Index{Origin: origin, Portions: portions}
	groups := make(map[string]*Group)
	var members []int32
	var key []byte
	for i := 0; i < len(extents); {
		code, first := extents[i].Span, len(x.places)
		members, key = members[:0], key[:0]
		for ; i < len(extents) && (len(members) == 0 || extents[i].Lo < code.Hi); i++ {
			code.Hi = max(code.Hi, extents[i].Hi)
			members = append(members, extents[i].Portion)
			x.places = append(x.places, extents[i].Ref)
		}
		slices.Sort(members)
		members = slices.Compact(members)
		for _, p := range members {
			key = binary.LittleEndian.AppendUint32(key, uint32(p))
		}
		g := groups[string(key)]
		switch {
		case g == nil:
			g = &Group{of: x, rank: len(x.groups), portions: slices.Clone(members)}
			groups[string(key)] = g
			x.groups = append(x.groups, g)
		case len(members) > 1 && !x.Exact():
			g = &Group{of: x, rank: len(x.groups), portions: g.portions}
			x.groups = append(x.groups, g)
		}
		n := len(x.areas)
		if n > 0 && x.areas[n-1].Hi == code.Lo && x.areas[n-1].group == g {
			x.areas[n-1].Hi = code.Hi
			continue
		}
		g.areas = append(g.areas, int32(n))
		x.areas = append(x.areas, area{code, g, int32(first)})
	}
	x.areas, x.places = slices.Clip(x.areas), slices.Clip(x.places)
	return x
}

// Exact reports whether the index has the code of all functions, and nothing else.
func (x *Index) Exact() bool { return x.Origin == Exact }

// before returns the index of the last area that starts at or before addr, or -1.
func (x *Index) before(addr uint64) int {
	return sort.Search(len(x.areas), func(i int) bool { return x.areas[i].Lo > addr }) - 1
}

// at returns the area that contains addr, or nil.
func (x *Index) at(addr uint64) *area {
	if i := x.before(addr); i >= 0 && addr < x.areas[i].Hi {
		return &x.areas[i]
	}
	return nil
}

// At returns the group to read for addr, or nil if no portion has code there.
func (x *Index) At(addr uint64) *Group {
	if a := x.at(addr); a != nil {
		return a.group
	}
	return nil
}

// Areas iterates over the areas that overlap [lo, hi], and the groups to read for their parts of it. If that is more
// than one address, only functions matter.
func (x *Index) Areas(lo, hi uint64) iter.Seq2[dwarf.Span, *Group] {
	return func(yield func(dwarf.Span, *Group) bool) {
		for i := max(x.before(lo), 0); i < len(x.areas) && x.areas[i].Lo <= hi; i++ {
			if a := &x.areas[i]; a.Hi > lo && !yield(a.Span, x.groupOf(i, lo, hi)) {
				return
			}
		}
	}
}

// Covers reports whether one area contains [lo, hi].
func (x *Index) Covers(lo, hi uint64) bool {
	a := x.at(lo)
	return a != nil && hi < a.Hi
}

// Has reports whether, according to the index, the portion has the code.
func (x *Index) Has(code dwarf.Span, portion int32) bool {
	a := x.at(code.Lo)
	return a != nil && code.Hi <= a.Hi && slices.Contains(a.group.portions, portion)
}

// End returns the end of the last area, or 0.
func (x *Index) End() uint64 {
	if n := len(x.areas); n > 0 {
		return x.areas[n-1].Hi
	}
	return 0
}

// Groups returns all groups.
func (x *Index) Groups() []*Group { return x.groups }

// Silent returns the portions without code.
func (x *Index) Silent() (all []*Portion) {
	has := make([]bool, len(x.Portions))
	for _, p := range x.places {
		has[p.Portion] = true
	}
	for i := range x.Portions {
		if !has[i] {
			all = append(all, &x.Portions[i])
		}
	}
	return all
}

// In reports whether the group is one of x.
func (g *Group) In(x *Index) bool { return g.of == x }

// Portions returns the indices of the group's portions in those of its index, in order.
func (g *Group) Portions() []int32 { return g.portions }

// Size returns the number of bytes of debug information that must be read for the group.
func (g *Group) Size() (n int64) {
	for _, p := range g.portions {
		n += g.of.Portions[p].Size
	}
	return n
}

// End returns the end of the group's last portion in .debug_info.
func (g *Group) End() int64 {
	last := &g.of.Portions[g.portions[len(g.portions)-1]]
	return int64(last.Off) + last.Size
}

// Has reports whether s begins in an area of the group that is read.
func (g *Group) Has(s dwarf.Span) bool {
	i := g.of.before(s.Lo)
	return i >= 0 && s.Lo < g.of.areas[i].Hi && g.of.areas[i].group.rank == g.rank && g.reads(int32(i))
}

// reads reports whether area i of the group is read.
func (g *Group) reads(i int32) bool { return g.asked == nil || g.asked.areas[i] }

// Filters iterates over the group's portions, and what is wanted of each.
func (g *Group) Filters() iter.Seq2[int32, funcs.Filter] {
	return func(yield func(int32, funcs.Filter) bool) {
		f := funcs.Filter{Wants: g.Has}
		if g.asked != nil {
			f.OnlyAddrs = g.asked.addrs
		}
		places := g.places()
		for _, p := range g.portions {
			if f.Only = g.of.describedBy(p, places); !yield(p, f) {
				return
			}
		}
	}
}

// places returns the places of the areas of g that are read, in order of portion and DIE.
func (g *Group) places() (all []Ref) {
	for _, i := range g.areas {
		if g.reads(i) {
			all = append(all, g.of.placesOf(i)...)
		}
	}
	slices.SortFunc(all, compareRefs)
	return slices.Compact(all)
}

// placesOf returns the places of area i.
func (x *Index) placesOf(i int32) []Ref {
	if int(i)+1 < len(x.areas) {
		return x.places[x.areas[i].first:x.areas[i+1].first]
	}
	return x.places[x.areas[i].first:]
}

// describedBy returns what describes the functions of a portion at places, which are sorted. It returns nil
// if that can be anywhere in the portion.
func (x *Index) describedBy(portion int32, places []Ref) *funcs.Described {
	first := sort.Search(len(places), func(i int) bool { return places[i].Portion >= portion })
	d := &funcs.Described{Synthesized: x.synthesized[portion]}
	for _, p := range places[first:] {
		if p.Portion != portion {
			break
		}
		if p.DIE == 0 {
			return nil
		}
		d.DIEs = append(d.DIEs, p.DIE)
	}
	return d
}
