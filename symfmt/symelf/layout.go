package symelf

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/symtool/symtool/symfmt"
)

const pageSize = 4096

// space is the range of addresses that a module can have.
type space struct {
	base uint64 // address of RVA 0
	last uint64 // last address in the ELF class
	far  bool   // .eh_frame and some code may be too far apart for 4-byte offsets
}

// isFar returns the value for s.far: .eh_frame comes after the code if there is
// room.
func (s space) isFar(code []region) bool {
	n := len(code)
	if n == 0 {
		return false
	}
	const most = 1 << 30 // limit for each of code and .eh_frame
	return code[n-1].end-code[0].start > most || s.last-s.base-code[n-1].end < most
}

// holds reports whether code fits the address space.
func (s space) holds(rva symfmt.RVA, size uint64) bool {
	room := s.last - s.base // bytes after the first
	return uint64(rva) <= room && (size == 0 || size-1 <= room-uint64(rva))
}

// region is a part of the address space, [start, end), relative to the base.
type region struct{ start, end uint64 }

// regions returns the regions of code, from FUNCs, PUBLICs and blocks of STACK CFI,
// including small gaps between them.
func regions(m *symfmt.Module, s space) []region {
	var all []region
	sorted := true
	add := func(rva symfmt.RVA, size uint64) {
		size = max(size, 1)
		if !s.holds(rva, size) {
			return
		}
		start := uint64(rva)
		end := start + size
		if n := len(all); n > 0 {
			last := &all[n-1]
			if start >= last.start && start <= last.end+near {
				last.end = max(last.end, end)
				return
			}
			sorted = sorted && start >= last.start
		}
		all = append(all, region{start, end})
	}
	for i := range m.Funcs {
		add(m.Funcs[i].RVA, m.Funcs[i].Size)
	}
	for i := range m.Publics {
		add(m.Publics[i].RVA, 0)
	}
	for i := range m.CFI.Blocks {
		if b := &m.CFI.Blocks[i]; b.Size > 0 {
			add(b.RVA, b.Size)
		}
	}
	if !sorted {
		slices.SortFunc(all, func(a, b region) int { return cmp.Compare(a.start, b.start) })
	}
	for gap := uint64(near); ; gap *= 2 {
		if all = joined(all, gap); len(all) <= mostRegions || gap == far {
			return all
		}
	}
}

// Regions no further apart than near are joined and, if more than mostRegions
// remain, regions no further apart than far. If there are still more, the highest
// get no section, and their symbols are absolute.
const (
	near        = 1 << 20
	far         = 1 << 40
	mostRegions = 32
)

// joined joins neighbours that are no further apart than gap.
func joined(all []region, gap uint64) []region {
	out := all[:0]
	for _, r := range all {
		if n := len(out); n > 0 && r.start <= satAdd(out[n-1].end, gap) {
			out[n-1].end = max(out[n-1].end, r.end)
			continue
		}
		out = append(out, r)
	}
	return out
}

func satAdd(a, b uint64) uint64 {
	if a+b < a {
		return ^uint64(0)
	}
	return a + b
}

// roomFor finds addresses, relative to the base, for size bytes starting at a
// page: after the code, or otherwise before or inside it.
func (s space) roomFor(code []region, size uint64) (uint64, error) {
	end := uint64(0)
	if n := len(code); n > 0 {
		end = code[n-1].end
	}
	fits := func(start, limit uint64) (uint64, bool) {
		at := (start + pageSize - 1) &^ (pageSize - 1)
		return at, at >= start && at <= limit && size <= limit-at
	}
	if at, ok := fits(max(end, pageSize), s.last-s.base); ok {
		return at, nil
	}
	from := uint64(pageSize)
	for _, r := range code {
		if at, ok := fits(from, r.start&^(pageSize-1)); ok && r.start >= from {
			return at, nil
		}
		from = max(from, r.end)
	}
	return 0, fmt.Errorf("no room for %d bytes of .eh_frame next to the code, which ends at %#x", size, s.base+end-1)
}
