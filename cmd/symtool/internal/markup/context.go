package markup

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// mapping is a part of a module that is mapped in the process.
type mapping struct {
	module     *Module
	start      uint64
	size       uint64
	mode       string
	moduleAddr uint64 // address of start in the module
}

// mostParts is the maximum number of modules and of mappings. Linux allows 65,530 mappings.
const mostParts = 1 << 16

// last returns the address of the last byte of a mapping.
func (m *mapping) last() uint64 { return m.start + m.size - 1 }

// at returns the mapping that contains an address, or nil.
func (f *Filter) at(addr uint64) *mapping {
	i := sort.Search(len(f.maps), func(i int) bool { return f.maps[i].start > addr }) - 1
	if i < 0 || addr-f.maps[i].start >= f.maps[i].size {
		return nil
	}
	return f.maps[i]
}

// overlapped returns a mapping that overlaps m, or nil.
func (f *Filter) overlapped(m *mapping) *mapping {
	i := sort.Search(len(f.maps), func(i int) bool { return f.maps[i].start > m.start })
	if i > 0 && (f.maps[i-1].start == m.start || m.start-f.maps[i-1].start < f.maps[i-1].size) {
		return f.maps[i-1]
	}
	if i < len(f.maps) && f.maps[i].start-m.start < m.size {
		return f.maps[i]
	}
	return nil
}

// infoLine is an unfinished line about a module, which ends after the module's mappings.
type infoLine struct {
	module *Module
	maps   []*mapping
}

// reset forgets the modules, since modules of another process follow.
func (f *Filter) reset(e *element, before []byte) bool {
	f.has(e, 0, 0)
	if len(f.modules) == 0 && len(f.maps) == 0 {
		return true
	}
	f.close()
	f.elements(before)
	f.raw(e)
	f.dst = append(f.dst, f.end...)
	f.modules, f.maps = nil, nil
	return true
}

// module handles {{{module:ID:NAME:elf:BUILD-ID}}}.
func (f *Filter) module(e *element, before []byte) bool {
	if !f.has(e, 4, 4) {
		return false
	}
	m := &Module{Name: e.fields[1]}
	var ok bool
	if m.ID, ok = f.number(e, 0, "module's number"); !ok {
		return false
	}
	if e.fields[2] != "elf" {
		f.problem(e, "its kind of module is unknown")
		return false
	}
	if m.Build, ok = f.build(e, 3); !ok {
		return false
	}
	if f.modules[m.ID] != nil {
		f.problem(e, "there is a module with this number")
		return false
	}
	if len(f.modules) == mostParts {
		f.problem(e, "there are too many modules")
		return false
	}
	if f.modules == nil {
		f.modules = map[uint64]*Module{}
	}
	f.modules[m.ID] = m
	f.begin(m, before)
	f.dst = append(f.dst, "; BuildID="...)
	f.value(m.Build)
	return true
}

// mmap handles {{{mmap:ADDR:SIZE:load:ID:MODE:ADDR}}}, where the last ADDR is in the module. If the last line is
// about the module, it adds the mapping to that line.
func (f *Filter) mmap(e *element, before []byte) bool {
	m, ok := f.mapping(e)
	if !ok {
		return false
	}
	if other := f.overlapped(m); other != nil {
		f.problem(e, fmt.Sprintf("it overlaps what is at 0x%x", other.start))
		return false
	}
	if len(f.maps) == mostParts {
		f.problem(e, "there are too many mappings")
		return false
	}
	i := sort.Search(len(f.maps), func(i int) bool { return f.maps[i].start > m.start })
	f.maps = slices.Insert(f.maps, i, m)
	if f.open == nil || f.open.module != m.module {
		f.begin(m.module, before)
		f.dst = append(f.dst, "; adds"...)
	}
	f.open.maps = append(f.open.maps, m)
	return true
}

func (f *Filter) mapping(e *element) (*mapping, bool) {
	if !f.has(e, 6, 6) {
		return nil, false
	}
	m := &mapping{}
	var ok [5]bool
	if m.start, ok[0] = f.address(e, 0); !ok[0] {
		return nil, false
	}
	if m.size, ok[1] = f.number(e, 1, "size"); !ok[1] {
		return nil, false
	}
	if e.fields[2] != "load" {
		f.problem(e, "its kind of mapping is unknown")
		return nil, false
	}
	id, known := f.number(e, 3, "module's number")
	if !known {
		return nil, false
	}
	if m.module = f.modules[id]; m.module == nil {
		f.problem(e, "there is no module with its number")
		return nil, false
	}
	if m.mode, ok[3] = f.mode(e, 4); !ok[3] {
		return nil, false
	}
	m.moduleAddr, ok[4] = f.address(e, 5)
	return m, ok[4]
}

// begin begins the line about a module.
func (f *Filter) begin(m *Module, before []byte) {
	f.close()
	f.elements(before)
	f.highlight()
	f.dst = append(f.dst, "[[[ELF module"...)
	f.value(fmt.Sprintf(" #0x%x ", m.ID))
	f.dst = append(f.dst, '"')
	f.value(m.Name)
	f.dst = append(f.dst, '"')
	f.open = &infoLine{module: m}
}

// close ends the open line about a module, if any.
func (f *Filter) close() {
	if f.open == nil {
		return
	}
	maps := f.open.maps
	slices.SortFunc(maps, func(a, b *mapping) int { return cmp.Compare(a.start, b.start) })
	for i, m := range maps {
		separator := byte(',')
		if i == 0 {
			separator = ' '
		}
		f.dst = append(f.dst, separator, '[')
		f.value(fmt.Sprintf("0x%x", m.start))
		f.dst = append(f.dst, '-')
		f.value(fmt.Sprintf("0x%x", m.last()))
		f.dst = append(f.dst, "]("...)
		f.value(m.mode)
		f.dst = append(f.dst, ')')
	}
	f.dst = append(append(f.dst, "]]]"...), f.end...)
	f.restore()
	f.open = nil
}
