package dwarf2sym

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/symtool/symtool/dwarf2sym/internal/dwarf"
	"github.com/symtool/symtool/dwarf2sym/internal/funcs"
	"github.com/symtool/symtool/dwarf2sym/internal/publics"
	"github.com/symtool/symtool/dwarf2sym/internal/units"
	"github.com/symtool/symtool/internal/par"
	"github.com/symtool/symtool/symfmt"
)

// extent is code where a portion may have functions, in addresses of the file.
type extent struct {
	dwarf.Span
	unitRef
}

// unitRef identifies what describes the functions of some code.
type unitRef struct {
	portion int32
	die     uint64 // offset of the only DIE that describes them, or 0 if any in the portion may
}

// area is a piece of code whose functions do not depend on code outside it: functions of several portions
// overlap only within areas.
type area struct {
	dwarf.Span
	group *Group
	first int32 // index in unitIndex.places of its first place; the last is before the next area's first
}

// Group is the set of portions that have the code of an area. All areas with the same portions share one
// Group. Until the index is exact, an inline function of C++ belongs to all portions that use it. An area
// of several portions therefore has its own Group, so that only its functions are read from all of them.
type Group struct {
	of       *unitIndex
	rank     int // index in unitIndex.groups
	portions []int32
	areas    []int32       // indices of its areas
	asked    *announcement // restricts what is read; nil means everything
}

// announcement is a large set of addresses that will be looked up. In the areas that contain them, functions are
// read with only the lines and inlined functions at these addresses.
type announcement struct {
	areas []bool   // by index in unitIndex.areas
	addrs []uint64 // sorted
}

// indexOrigin is the source of an index. Each source finds more code than the one before it.
type indexOrigin int

const (
	byIndex indexOrigin = iota // .debug_aranges and, for units that it does not list, what they declare
	byUnits                    // what units declare
	byFuncs                    // all functions
)

// unitIndex knows which portions have functions at an address.
type unitIndex struct {
	source   indexOrigin
	portions []portion
	areas    []area // in order of address, without overlaps
	places   []unitRef
	groups   []*Group

	synthesized map[int32][]dwarf.Span // by portion: the code of functions made from symbols

	// With many announced addresses: by rank, the part of each group that they need.
	parts atomic.Pointer[[]*Group]
}

// exact reports whether the index has the code of all functions, and nothing else.
func (o *unitIndex) exact() bool { return o.source == byFuncs }

// newUnitIndex joins overlapping extents into areas.
func newUnitIndex(source indexOrigin, portions []portion, extents []extent) *unitIndex {
	slices.SortFunc(extents, func(a, b extent) int { return cmp.Or(cmp.Compare(a.Lo, b.Lo), cmp.Compare(a.Hi, b.Hi)) })
	o := &unitIndex{source: source, portions: portions}
	groups := make(map[string]*Group)
	var members []int32
	var key []byte
	for i := 0; i < len(extents); {
		code, first := extents[i].Span, len(o.places)
		members, key = members[:0], key[:0]
		for ; i < len(extents) && (len(members) == 0 || extents[i].Lo < code.Hi); i++ {
			code.Hi = max(code.Hi, extents[i].Hi)
			members = append(members, extents[i].portion)
			o.places = append(o.places, extents[i].unitRef)
		}
		slices.Sort(members)
		members = slices.Compact(members)
		for _, p := range members {
			key = binary.LittleEndian.AppendUint32(key, uint32(p))
		}
		g := groups[string(key)]
		switch {
		case g == nil:
			g = &Group{of: o, rank: len(o.groups), portions: slices.Clone(members)}
			groups[string(key)] = g
			o.groups = append(o.groups, g)
		case len(members) > 1 && !o.exact():
			g = &Group{of: o, rank: len(o.groups), portions: g.portions}
			o.groups = append(o.groups, g)
		}
		n := len(o.areas)
		if n > 0 && o.areas[n-1].Hi == code.Lo && o.areas[n-1].group == g {
			o.areas[n-1].Hi = code.Hi
			continue
		}
		g.areas = append(g.areas, int32(n))
		o.areas = append(o.areas, area{code, g, int32(first)})
	}
	o.areas, o.places = slices.Clip(o.areas), slices.Clip(o.places)
	return o
}

// before returns the index of the last area that starts at or before addr, or -1.
func (o *unitIndex) before(addr uint64) int {
	return sort.Search(len(o.areas), func(i int) bool { return o.areas[i].Lo > addr }) - 1
}

// at returns the area that contains addr, or nil.
func (o *unitIndex) at(addr uint64) *area {
	if i := o.before(addr); i >= 0 && addr < o.areas[i].Hi {
		return &o.areas[i]
	}
	return nil
}

// in reports whether s begins in an area of group g.
func (o *unitIndex) in(s dwarf.Span, g *Group) bool {
	i := o.before(s.Lo)
	return i >= 0 && s.Lo < o.areas[i].Hi && o.areas[i].group.rank == g.rank && g.has(int32(i))
}

// size returns the number of bytes of debug information that must be read for the group.
func (g *Group) size() (n int64) {
	for _, p := range g.portions {
		n += g.of.portions[p].size
	}
	return n
}

// has reports whether area i of the group is read.
func (g *Group) has(i int32) bool { return g.asked == nil || g.asked.areas[i] }

// announce restricts groups to what the addresses that will be looked up need.
func (o *unitIndex) announce(asked *announcement) {
	parts := make([]*Group, len(o.groups))
	for i, is := range asked.areas {
		if g := o.areas[i].group; is && parts[g.rank] == nil {
			part := *g
			part.asked = asked
			parts[g.rank] = &part
		}
	}
	o.parts.Store(&parts)
}

// groupOf returns the group to read for the part of [lo, hi] in area i. If that is more than one address,
// only functions matter.
func (o *unitIndex) groupOf(i int, lo, hi uint64) *Group {
	g := o.areas[i].group
	if parts := o.parts.Load(); parts != nil {
		if part := (*parts)[g.rank]; part != nil && part.asked.areas[i] && (lo < hi || containsAddr(part.asked.addrs, lo)) {
			return part
		}
	}
	return g
}

// placesOf returns the places of area i.
func (o *unitIndex) placesOf(i int32) []unitRef {
	if int(i)+1 < len(o.areas) {
		return o.places[o.areas[i].first:o.areas[i+1].first]
	}
	return o.places[o.areas[i].first:]
}

// placesIn returns the places of the areas of g that are read, in order of portion and DIE.
func (o *unitIndex) placesIn(g *Group) (all []unitRef) {
	for _, i := range g.areas {
		if g.has(i) {
			all = append(all, o.placesOf(i)...)
		}
	}
	slices.SortFunc(all, func(a, b unitRef) int { return cmp.Or(cmp.Compare(a.portion, b.portion), cmp.Compare(a.die, b.die)) })
	return slices.Compact(all)
}

// describedBy returns what describes the functions of a portion at places, which are sorted. It returns nil
// if that can be anywhere in the portion.
func (o *unitIndex) describedBy(portion int32, places []unitRef) *funcs.Described {
	first := sort.Search(len(places), func(i int) bool { return places[i].portion >= portion })
	d := &funcs.Described{Synthesized: o.synthesized[portion]}
	for _, p := range places[first:] {
		if p.portion != portion {
			break
		}
		if p.die == 0 {
			return nil
		}
		d.DIEs = append(d.DIEs, p.die)
	}
	return d
}

// has reports whether, according to the index, the portion has the code.
func (o *unitIndex) has(code dwarf.Span, portion int32) bool {
	a := o.at(code.Lo)
	return a != nil && code.Hi <= a.Hi && slices.Contains(a.group.portions, portion)
}

// covers reports whether one area contains [lo, hi].
func (o *unitIndex) covers(lo, hi uint64) bool {
	a := o.at(lo)
	return a != nil && hi < a.Hi
}

// withOpenSymbol extends code to the symbol whose function may continue in it; see funcs.Func.Tail.
func (l *Lookup) withOpenSymbol(s dwarf.Span) dwarf.Span {
	rva := l.r.code.RVA(s.Lo)
	if sym, ok := (*l.symbols.Load()).OpenBefore(rva); ok {
		if at, _ := l.symbolUpTo(rva); at.RVA != rva {
			return l.extended(s, sym)
		}
	}
	return s
}

// extended extends code back to a symbol before it.
func (l *Lookup) extended(s dwarf.Span, to publics.Symbol) dwarf.Span {
	if lo := l.r.code.Addr(to.RVA); l.r.code.Together(lo, s.Lo) {
		s.Lo = min(s.Lo, lo)
	}
	return s
}

// better returns an index with more code than the inexact index than.
func (l *Lookup) better(than *unitIndex) *unitIndex {
	if than.source != byIndex {
		return l.makeExact()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.unitIndex.Load()
	if o.source == byIndex {
		o = l.newUnitIndex(byUnits, l.allPortions())
		l.unitIndex.Store(o)
	}
	return o
}

// makeExact returns the index of all functions. It is made only once.
func (l *Lookup) makeExact() *unitIndex {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.unitIndex.Load(); o.exact() {
		return o
	}
	if t, ok := (*l.symbols.Load()).(*publics.Table); ok {
		l.useSymbols(t.All())
	}
	portions := l.allPortions()
	effort := &dwarf.Effort{Limit: l.d.Effort.Limit}
	workers := make([]*funcs.Worker, l.r.jobs)
	all, synthesized := newDedup(), make(map[int32][]dwarf.Span)
	err := par.Ordered(context.Background(), len(workers), len(portions), func(_ context.Context, worker, p int) (found indexedUnits, _ error) {
		w := workers[worker]
		if w == nil {
			w = l.newWorker(effort)
			w.Wants, w.Indexing = func(dwarf.Span) bool { return false }, true
			workers[worker] = w
		}
		l.read(w, &portions[p])
		found.funcs = l.indexedIn(w, p, &portions[p])
		found.problems, found.elsewhere = w.Problems, w.Elsewhere
		w.Records = funcs.NewRecords()
		return found, nil
	}, func(_ int, found indexedUnits) error {
		if len(found.funcs) == 0 { // it will not be read again
			l.noteUnit(&found.problems, &found.elsewhere)
		}
		for _, f := range found.funcs {
			if at := &portions[f.portion]; f.die != 0 && f.die == at.off {
				synthesized[f.portion] = append(synthesized[f.portion], f.Span)
			}
			all.add(f)
		}
		return nil
	})
	if effort.Over() {
		return l.giveUp()
	}
	if err != nil {
		l.note([]symfmt.Problem{{Lost: "all functions", Err: err}})
	}
	o := newUnitIndex(byFuncs, portions, all.extents())
	o.synthesized = synthesized
	l.unitIndex.Store(o)
	return o
}

// indexedUnits holds what an index needs of a portion.
type indexedUnits struct {
	funcs               []indexedFunc
	problems, elsewhere units.Problems
}

// indexedIn returns what an index needs to know about the functions that w has read from a portion. A
// damaged portion is read again as a whole, which reports the damage.
func (l *Lookup) indexedIn(w *funcs.Worker, p int, at *portion) (found []indexedFunc) {
	for i := range w.Funcs {
		f := indexedFunc{extent{l.codeOf(&w.Funcs[i]), unitRef{portion: int32(p)}}, funcs.ComdatKey{}}
		if at.job < 0 && !w.Funcs[i].Tail && !w.Problems.Any() {
			f.die, f.id = w.Funcs[i].Key, w.ComdatKey(i)
		}
		found = append(found, f)
	}
	markOverlaps(found)
	return found
}

// codeOf returns the code that a function depends on.
func (l *Lookup) codeOf(f *funcs.Func) dwarf.Span {
	code := dwarf.Span{Lo: f.Addr, Hi: f.Addr + f.Size}
	if f.Tail {
		if sym, ok := publics.Before(*l.symbols.Load(), l.r.code.RVA(f.Addr)); ok {
			code = l.extended(code, sym)
		}
	}
	return code
}

// worthIndex reports whether so much was or will be read that the exact index pays off: units whose code
// is also in other units are read again for each piece of it. For Ceph's OSD, 30 addresses spread over the
// file need a quarter of it.
func (l *Lookup) worthIndex(more int64) bool {
	return l.done.Load()+more > (l.d.Info.Size()+l.split.Size)/4
}

// giveUp reports that reading takes too much work, and drops all functions, as Read does. The caller holds
// l.mu.
func (l *Lookup) giveUp() *unitIndex {
	if !l.gaveUp.Swap(true) {
		l.note([]symfmt.Problem{l.d.TooMuchWork()})
	}
	o := newUnitIndex(byFuncs, nil, nil)
	l.unitIndex.Store(o)
	return o
}

// containsAddr reports whether addr is one of addrs, which must be sorted.
func containsAddr(addrs []uint64, addr uint64) bool {
	_, found := slices.BinarySearch(addrs, addr)
	return found
}
