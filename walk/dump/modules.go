package dump

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// SetModules sorts modules by address into d.Modules. main is the index of the program itself in
// the list, or -1.
//
// A size may be wrong, depending on the dump's writer. A module that overlaps the start of the next
// one is cut there, so that a wrong size affects nothing else. If several modules have the same
// address, the first in the list is kept. A module of size 0 inside another is dropped, because it
// would hide the rest of the other. The result lists what was cut and dropped, in order of address.
func (d *Dump) SetModules(list []Module, main int) (overlaps []Overlap) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	// A module of size 0 goes before another at the same address.
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(list[a].Addr, list[b].Addr), cmp.Compare(min(list[a].Size, 1), min(list[b].Size, 1)))
	})
	d.Modules, d.Main = make([]Module, 0, len(list)), -1
	last := -1 // index of the last module with a size
	for _, i := range order {
		m := list[i]
		if room := -m.Addr; room != 0 && m.Size > room {
			m.Size = room
		}
		if last >= 0 && d.Modules[last].Contains(m.Addr) {
			before := &d.Modules[last]
			if before.Addr == m.Addr || m.Size == 0 {
				overlaps = append(overlaps, Overlap{Module: m, Other: before.Path, Dropped: true})
				continue
			}
			overlaps = append(overlaps, Overlap{Module: *before, Other: m.Path})
			before.Size = m.Addr - before.Addr
		}
		if i == main {
			d.Main = len(d.Modules)
		}
		if m.Size > 0 {
			last = len(d.Modules)
		}
		d.Modules = append(d.Modules, m)
	}
	return overlaps
}

// Overlap is a module whose range extended into another's.
type Overlap struct {
	Module  Module // as it was
	Other   string // path of the other module
	Dropped bool   // dropped, not cut
}

// String describes the overlap in a sentence.
func (o Overlap) String() string {
	if o.Dropped {
		return fmt.Sprintf("module %q at %#x is where %q is", o.Module.Path, o.Module.Addr, o.Other)
	}
	return fmt.Sprintf("module %q at %#x has a size of %#x, which reaches into %q", o.Module.Path, o.Module.Addr, o.Module.Size, o.Other)
}

// ByAddr compares modules by their addresses.
func ByAddr(a, b Module) int { return cmp.Compare(a.Addr, b.Addr) }

// SortMappings sorts mappings by address.
func SortMappings(list []Mapping) {
	slices.SortStableFunc(list, func(a, b Mapping) int { return cmp.Compare(a.Addr, b.Addr) })
}

// ModuleAt returns the index in Modules of the module that contains an address, or -1.
func (d *Dump) ModuleAt(addr uint64) int { return find(d.Modules, addr) }

func find(modules []Module, addr uint64) int {
	lo, hi := 0, len(modules)
	for lo < hi {
		if mid := int(uint(lo+hi) >> 1); modules[mid].Addr <= addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || !modules[lo-1].Contains(addr) {
		return -1
	}
	return lo - 1
}

// MappingAt returns the mapping that contains an address, or nil. If mappings overlap, it
// considers the one that starts last.
func (d *Dump) MappingAt(addr uint64) *Mapping {
	i := d.mappingsTo(addr)
	if i == 0 || !d.Maps[i-1].Contains(addr) {
		return nil
	}
	return &d.Maps[i-1]
}

// MappingAbove returns the first mapping that starts above an address, or nil.
func (d *Dump) MappingAbove(addr uint64) *Mapping {
	if i := d.mappingsTo(addr); i < len(d.Maps) {
		return &d.Maps[i]
	}
	return nil
}

// mappingsTo returns the number of mappings that start at or below an address.
func (d *Dump) mappingsTo(addr uint64) int {
	return sort.Search(len(d.Maps), func(i int) bool { return d.Maps[i].Addr > addr })
}
