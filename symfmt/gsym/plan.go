package gsym

import (
	"cmp"
	"math"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

// item becomes one FunctionInfo: the FUNCs of one range or the PUBLICs at the
// same address. All but the first are merged functions in it.
type item struct {
	rva     symfmt.RVA
	end     symfmt.RVA // after the last address; equal to rva for PUBLICs
	funcs   span       // in plan.funcs
	publics span       // in plan.publics
	pieces  span       // in plan.pieces
	infos   uint32     // index of its first FunctionInfo
	last    symfmt.RVA // index of its last entry in the address table
}

// span is a part of a slice.
type span struct{ first, count uint32 }

// piece is the rest of a FUNC after another that begins inside it: readers
// consider only the last function that begins before an address.
type piece struct {
	item  uint32
	start symfmt.RVA // the end is the item's
}

// entry is an entry of the address table.
type entry struct {
	rva  symfmt.RVA
	item uint32
	part uint32 // 0 for the item, otherwise the index of the piece + 1
}

// maxPieces is the maximum number of pieces of a FUNC. Each repeats the rest of
// the FUNC's records, so without a limit a file of nested FUNCs would take
// quadratic time and space. Compilers produce none.
const maxPieces = 32

// plan is what will be written, in order.
type plan struct {
	m       *symfmt.Module
	last    symfmt.RVA // last RVA that has an address
	funcs   []uint32   // FUNCs in canonical order, without empty ones
	publics []uint32
	items   []item
	pieces  []piece
	entries []entry
	infos   uint32 // number of FunctionInfos

	open    []uint32 // items around the current address, the innermost last
	pending []piece
	counts  counts
}

// newPlan decides which FUNC or PUBLIC answers for which addresses, as package
// resolve does: of the FUNCs around an address, the one that begins last, and
// the shortest of several such; otherwise the last PUBLIC after the last FUNC.
//
// base is the address of RVA 0. RVAs beyond the address space are left out.
func newPlan(m *symfmt.Module, base uint64) *plan {
	p := &plan{m: m, last: symfmt.RVA(math.MaxUint64 - base)}
	p.sortFuncs()
	p.sortPublics()
	// Most become an item. Growing the slice instead would leave as much garbage.
	room := len(p.funcs) + p.publicAddresses()
	p.items, p.entries = make([]item, 0, room), make([]entry, 0, room)
	next := uint32(0) // index of the next PUBLIC
	for first := uint32(0); int(first) < len(p.funcs); {
		rva := m.Funcs[p.funcs[first]].RVA
		next = p.addPublics(next, rva)
		p.closeBefore(rva)
		first, next = p.addFuncs(first, next)
	}
	p.addPublics(next, math.MaxUint64)
	p.closeThrough(math.MaxUint64)
	p.finish()
	return p
}

func (p *plan) sortFuncs() {
	funcs := p.m.Funcs
	for i := range funcs {
		switch {
		case funcs[i].Size == 0:
			p.counts.emptyFuncs++
		case endOf(&funcs[i])-1 > p.last:
			p.counts.farFuncs++
		default:
			p.funcs = append(p.funcs, uint32(i))
		}
	}
	sortBy(p.funcs, func(i, j uint32) int {
		a, b := &funcs[i], &funcs[j]
		if a.RVA != b.RVA {
			return cmp.Compare(a.RVA, b.RVA)
		}
		return cmp.Or(cmp.Compare(endOf(a), endOf(b)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ParamSize, b.ParamSize))
	})
}

func (p *plan) sortPublics() {
	publics := p.m.Publics
	for i := range publics {
		if publics[i].RVA > p.last {
			p.counts.farPublics++
			continue
		}
		p.publics = append(p.publics, uint32(i))
	}
	sortBy(p.publics, func(i, j uint32) int {
		a, b := &publics[i], &publics[j]
		return cmp.Or(cmp.Compare(a.RVA, b.RVA), cmp.Compare(a.Name, b.Name), cmp.Compare(a.ParamSize, b.ParamSize))
	})
}

// publicAddresses returns the number of distinct addresses of PUBLICs.
func (p *plan) publicAddresses() (n int) {
	publics := p.m.Publics
	for i, k := range p.publics {
		if i == 0 || publics[k].RVA != publics[p.publics[i-1]].RVA {
			n++
		}
	}
	return n
}

// sortBy sorts a slice that is mostly sorted; the sort is stable.
func sortBy(s []uint32, compare func(i, j uint32) int) {
	full := func(i, j uint32) int { return cmp.Or(compare(i, j), cmp.Compare(i, j)) }
	if !slices.IsSortedFunc(s, full) {
		slices.SortFunc(s, full)
	}
}

// maxSize is the largest size of a function, which has 32 bits even in version
// 2.
const maxSize = math.MaxUint32

// endOf returns the end of a FUNC as written.
func endOf(f *symfmt.Func) symfmt.RVA {
	return f.RVA + symfmt.RVA(min(f.Size, maxSize, math.MaxUint64-uint64(f.RVA)))
}

// addFuncs adds an item for each range of the FUNCs that begin where first does;
// PUBLICs at that address go into the first of them.
func (p *plan) addFuncs(first, next uint32) (afterFuncs, afterPublics uint32) {
	m := p.m
	rva := m.Funcs[p.funcs[first]].RVA
	from := uint32(len(p.items))
	for int(first) < len(p.funcs) && m.Funcs[p.funcs[first]].RVA == rva {
		end, n := endOf(&m.Funcs[p.funcs[first]]), first+1
		for int(n) < len(p.funcs) && m.Funcs[p.funcs[n]].RVA == rva && endOf(&m.Funcs[p.funcs[n]]) == end {
			n++
		}
		p.addItem(item{rva: rva, end: end, funcs: span{first, n - first}})
		p.counts.merged += int(n - first - 1)
		first = n
	}
	same := next
	for int(same) < len(p.publics) && m.Publics[p.publics[same]].RVA == rva {
		same++
	}
	p.items[from].publics = span{next, same - next}
	for i := uint32(len(p.items)); i > from; i-- {
		p.open = append(p.open, i-1)
	}
	return first, same
}

// addPublics adds the PUBLICs from index next on that lie before an address.
func (p *plan) addPublics(next uint32, before symfmt.RVA) uint32 {
	for int(next) < len(p.publics) {
		rva := p.m.Publics[p.publics[next]].RVA
		if rva >= before && (rva > before || before != math.MaxUint64) {
			break
		}
		n := next + 1
		for int(n) < len(p.publics) && p.m.Publics[p.publics[n]].RVA == rva {
			n++
		}
		p.closeThrough(rva)
		if len(p.open) > 0 {
			p.counts.insidePublics += int(n - next)
		} else {
			p.addItem(item{rva: rva, end: rva, publics: span{next, n - next}})
		}
		next = n
	}
	return next
}

func (p *plan) addItem(it item) {
	it.last = it.rva
	p.entries = append(p.entries, entry{rva: it.rva, item: uint32(len(p.items))})
	p.items = append(p.items, it)
}

// closeBefore closes the FUNCs that end before an address. closeThrough also
// closes those that end at it.
func (p *plan) closeBefore(rva symfmt.RVA) { p.close(func(end symfmt.RVA) bool { return end < rva }) }

func (p *plan) closeThrough(rva symfmt.RVA) { p.close(func(end symfmt.RVA) bool { return end <= rva }) }

// close closes the innermost FUNCs for which ended returns true. An enclosing
// FUNC gets a piece if readers would otherwise find no entry for it.
func (p *plan) close(ended func(end symfmt.RVA) bool) {
	for len(p.open) > 0 {
		end := p.items[p.open[len(p.open)-1]].end
		if !ended(end) {
			return
		}
		for len(p.open) > 0 && p.items[p.open[len(p.open)-1]].end <= end {
			p.open = p.open[:len(p.open)-1]
		}
		if len(p.open) == 0 {
			return
		}
		i := p.open[len(p.open)-1]
		it := &p.items[i]
		if last := p.entries[len(p.entries)-1].rva; it.last == last {
			continue
		}
		if it.pieces.count == maxPieces {
			p.counts.lostPieces++
			continue
		}
		it.last = end
		it.pieces.count++
		p.entries = append(p.entries, entry{rva: end, item: i, part: it.pieces.count})
		p.pending = append(p.pending, piece{item: i, start: end})
		p.counts.pieces++
	}
}

// finish numbers the FunctionInfos; those of an item are consecutive.
func (p *plan) finish() {
	slices.SortStableFunc(p.pending, func(a, b piece) int { return cmp.Compare(a.item, b.item) })
	p.pieces, p.pending = p.pending, nil
	first := uint32(0)
	for i := range p.items {
		it := &p.items[i]
		it.pieces.first, it.infos = first, p.infos
		first += it.pieces.count
		p.infos += 1 + it.pieces.count
	}
}
