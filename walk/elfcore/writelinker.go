package elfcore

import (
	"cmp"
	"debug/elf"
	"slices"

	"github.com/symtool/symtool/walk/dump"
)

// addLinker adds to the memory what debuggers use to find libraries, if the dump has it only
// outside its memory, as Breakpad's minidumps do: the program's dynamic section, the struct r_debug
// that it refers to, and a list of link maps at a free address.
func (w *writer) addLinker() {
	w.memory = w.d.Memory.Regions
	l := w.d.Linker
	if l == nil || len(l.Maps) == 0 {
		return
	}
	debug, ok := w.debugAddr(l)
	if !ok {
		if len(l.Section) > 0 {
			w.problem("list of libraries", "the program's dynamic section does not have its address")
		}
		return
	}
	if _, ok := w.d.Memory.Word(debug, w.word); ok {
		return // the memory has it already
	}
	list := w.freePlace()
	added := []dump.Region{{Addr: debug, Data: w.rDebug(l, list)}, {Addr: list, Data: w.linkMaps(l, list)}}
	if _, ok := w.d.Memory.Word(l.Dynamic, w.word); !ok {
		added = append(added, dump.Region{Addr: l.Dynamic, Data: l.Section})
	}
	w.memory = dump.NewMemory(w.order, append(slices.Clone(w.memory), added...)).Regions
}

// debugAddr returns the address of struct r_debug.
func (w *writer) debugAddr(l *dump.Linker) (uint64, bool) {
	for off := 0; off+2*w.word <= len(l.Section); off += 2 * w.word {
		tag, _ := uintAt(l.Section, off, w.word, w.order)
		value, _ := uintAt(l.Section, off+w.word, w.word, w.order)
		if elf.DynTag(tag) == elf.DT_DEBUG {
			return value, value != 0
		}
	}
	return 0, false
}

// freePlace returns the address of a page after the first mapping that is followed by enough
// unused address space.
func (w *writer) freePlace() uint64 {
	const room = 1 << 20 // more than any list of libraries needs
	end := uint64(pageSize)
	ranges := []dump.Range{}
	for i := range w.d.Maps {
		ranges = append(ranges, w.d.Maps[i].Range)
	}
	for _, r := range w.d.Memory.Regions {
		ranges = append(ranges, dump.Range{Addr: r.Addr, Size: uint64(len(r.Data))})
	}
	slices.SortFunc(ranges, func(a, b dump.Range) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, r := range ranges {
		if r.Size > 0 && r.Addr > end && r.Addr-end >= 2*room {
			break
		}
		if r.Size > 0 {
			end = max(end, last(r)+1)
		}
	}
	return (end + pageSize - 1) &^ (pageSize - 1)
}

// rDebug encodes a struct r_debug whose list begins at an address.
func (w *writer) rDebug(l *dump.Linker, list uint64) (b []byte) {
	b = appendUint(b, uint64(l.Version), 4, w.order)
	b = append(b, make([]byte, w.word-4)...)
	const consistent = 0 // r_state
	for _, v := range []uint64{list, l.Break, consistent, l.Base} {
		b = appendUint(b, v, w.word, w.order)
	}
	return b
}

// linkMaps encodes the list of struct link_map, followed by the names.
func (w *writer) linkMaps(l *dump.Linker, at uint64) (b []byte) {
	size := uint64(5 * w.word)
	name := at + size*uint64(len(l.Maps))
	var names []byte
	for i, m := range l.Maps {
		next, prev := at+uint64(i+1)*size, at+uint64(i-1)*size
		if i+1 == len(l.Maps) {
			next = 0
		}
		if i == 0 {
			prev = 0
		}
		for _, v := range []uint64{m.Addr, name + uint64(len(names)), m.Dynamic, next, prev} {
			b = appendUint(b, v, w.word, w.order)
		}
		names = append(append(names, m.Name...), 0)
	}
	return append(b, names...)
}
