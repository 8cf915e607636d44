package elfcore

import (
	"bytes"
	"cmp"
	"container/heap"
	"debug/elf"
	"slices"
	"sort"

	"github.com/symtool/symtool/walk/dump"
)

// Limits on what is kept of a process's memory if not all of it can be kept.
const (
	maxKept      = 128 << 20 // bytes in all
	keptStacks   = 64 << 20  // bytes of stacks, shared by the threads
	minStack     = 64 << 10  // bytes of a thread's stack that are kept in any case
	maxStack     = 8 << 20   // bytes of a thread's stack
	belowStack   = 288       // bytes below a stack pointer: the red zone has 128 on x86-64 and 288 on 64-bit PowerPC
	overflowed   = 1 << 20   // after an overflow, a stack pointer may be this far below its stack
	keptPages    = 8192      // pages around registers
	keptPage     = 4096
	maxKeptTable = 64 << 10 // bytes of a dynamic section or of notes of a binary
)

// keeper chooses what is kept of a process's memory: stacks, the pages that registers point to,
// headers of binaries, and the list of the dynamic linker. Addresses become known as memory is
// read; it may be readable only once, in order of address.
type keeper struct {
	r     *reader
	loads []dump.Range // existing memory, by address
	wants wantHeap
	asked map[dump.Range]bool             // wants without a function, and link maps
	pages map[uint64][]dump.Region        // kept pieces, by page
	room  int                             // bytes that may still be kept
	old   func(addr uint64, b []byte) int // reads memory that has passed, and returns the number of bytes
}

// want is memory to keep.
type want struct {
	dump.Range
	then func(data []byte) // called with the memory, which may be shorter; or nil
}

// wantHeap is a heap of wants by address.
type wantHeap []want

func (h wantHeap) Len() int           { return len(h) }
func (h wantHeap) Less(i, j int) bool { return h[i].Addr < h[j].Addr }
func (h wantHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *wantHeap) Push(x any)        { *h = append(*h, x.(want)) }
func (h *wantHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}

func newKeeper(r *reader, loads []dump.Range) *keeper {
	loads = slices.Clone(loads)
	slices.SortFunc(loads, func(a, b dump.Range) int { return cmp.Compare(a.Addr, b.Addr) })
	k := &keeper{r: r, loads: loads, asked: map[dump.Range]bool{}, pages: map[uint64][]dump.Region{}, room: maxKept}
	for i := range r.d.Threads {
		if t := &r.d.Threads[i]; t.Context != nil {
			k.wantThread(t)
		}
	}
	if at, ok := r.aux(atRandom); ok { // on the stack of the first thread, below its arguments
		if l, ok := k.loadFrom(at); ok {
			k.wantEnd(l, l.Addr, maxStack)
		}
	}
	return k
}

// want adds memory to keep. A range that would wrap around is ignored.
func (k *keeper) want(addr, size uint64, then func([]byte)) {
	w := want{dump.Range{Addr: addr, Size: size}, then}
	if size == 0 || addr+size < addr || then == nil && k.asked[w.Range] {
		return
	}
	if then == nil {
		k.asked[w.Range] = true
	}
	heap.Push(&k.wants, w)
}

// loadFrom returns the first memory that ends after an address.
func (k *keeper) loadFrom(addr uint64) (dump.Range, bool) {
	i := sort.Search(len(k.loads), func(i int) bool { return last(k.loads[i]) >= addr })
	if i == len(k.loads) {
		return dump.Range{}, false
	}
	return k.loads[i], true
}

// wantThread keeps the stack of a thread and what its registers point to. A thread that handles a
// signal may be on another stack; if the C library made the thread, its own stack is below its
// thread-local storage.
func (k *keeper) wantThread(t *dump.Thread) {
	c := t.Context
	share := uint64(min(max(keptStacks/len(k.r.d.Threads), minStack), maxStack))
	sp := c.SP()
	if l, ok := k.loadFrom(sp); ok && (l.Contains(sp) || l.Addr-sp <= overflowed) {
		from := start(sp, l)
		k.want(from, min(l.Addr+l.Size-from, share), nil)
	}
	pointers := []uint64{t.TEB}
	for _, name := range []string{"$fs.base", "$gs.base", "tp"} {
		tls, _ := c.Get(name)
		pointers = append(pointers, tls)
	}
	for _, tls := range pointers {
		if l, ok := k.loadFrom(tls); ok && l.Contains(tls) && tls != 0 {
			from := l.Addr
			if l.Contains(sp) { // memory below sp is not in use
				from = min(start(sp, l), tls&^(keptPage-1))
			}
			k.wantEnd(dump.Range{Addr: l.Addr, Size: min(tls-l.Addr+keptPage, l.Size)}, from, share)
		}
	}
	for i := range c.Arch.Regs {
		if len(k.asked) >= keptPages {
			return
		}
		v, ok := c.At(i)
		if l, found := k.loadFrom(v); ok && found && l.Contains(v) {
			k.want(v&^(keptPage-1), keptPage, nil)
		}
	}
}

// start returns the address in memory l from which a stack is kept.
func start(sp uint64, l dump.Range) uint64 { return max(sp, l.Addr+belowStack) - belowStack }

// wantEnd keeps the end of memory l: at most most bytes, and none below from.
func (k *keeper) wantEnd(l dump.Range, from, most uint64) {
	end := l.Addr + l.Size
	start := max(from, end-min(most, end-l.Addr))
	k.want(start, end-start, nil)
}

// keep adds memory that was read.
func (k *keeper) keep(addr uint64, data []byte) {
	data = data[:min(len(data), k.room)]
	k.room -= len(data)
	for len(data) > 0 {
		page := addr / keptPage
		n := min(len(data), int((page+1)*keptPage-addr))
		k.pages[page] = append(k.pages[page], dump.Region{Addr: addr, Data: data[:n:n]})
		addr, data = addr+uint64(n), data[n:]
	}
}

// kept copies kept memory at an address to b, and returns the number of bytes.
func (k *keeper) kept(addr uint64, b []byte) (n int) {
	for n < len(b) {
		at, found := addr+uint64(n), false
		for _, p := range k.pages[at/keptPage] {
			if at-p.Addr < uint64(len(p.Data)) {
				n += copy(b[n:], p.Data[at-p.Addr:])
				found = true
				break
			}
		}
		if !found {
			break
		}
	}
	return n
}

// late keeps memory that has passed, if it was kept or can be read again.
func (k *keeper) late(w want) {
	data, n := make([]byte, min(w.Size, maxStack)), 0
	for n < len(data) {
		there := k.kept(w.Addr+uint64(n), data[n:])
		n += there
		more := k.old(w.Addr+uint64(n), data[n:])
		k.keep(w.Addr+uint64(n), data[n:n+more])
		if n += more; there+more == 0 {
			break
		}
	}
	if w.then != nil {
		w.then(data[:n])
	}
}

// lateAll keeps all wanted memory that has passed.
func (k *keeper) lateAll() {
	for len(k.wants) > 0 {
		k.late(heap.Pop(&k.wants).(want))
	}
}

// head finds the dynamic section and the notes of a binary from the start of a mapping, if a binary
// is there.
func (k *keeper) head(addr uint64, data []byte) {
	r := k.r
	r.d.Memory = dump.NewMemory(r.order(), []dump.Region{{Addr: addr, Data: data}})
	img := r.imageAt(addr)
	if img == nil {
		return
	}
	program := false
	if phdr, ok := r.aux(atPHdr); ok {
		program = phdr-addr < keptPage
	}
	vdso, ok := r.aux(atSysinfoEHdr)
	for _, p := range img.f.Segments {
		at := r.addr(img.bias + p.Addr)
		size := min(p.MemSize, maxKeptTable)
		switch {
		case p.Type == elf.PT_DYNAMIC && program:
			k.want(at, size, func(data []byte) { k.dynamic(at, data) })
		case p.Type == elf.PT_DYNAMIC || p.Type == elf.PT_NOTE || p.Type == elf.PT_LOAD && ok && addr == vdso:
			k.want(at, size, nil)
		}
	}
}

// dynamic finds the dynamic linker's list from the dynamic section of the program.
func (k *keeper) dynamic(at uint64, data []byte) {
	word := k.r.word
	for i := 0; ; i += 2 * word {
		tag, ok := uintAt(data, i, word, k.r.order())
		value, ok2 := uintAt(data, i+word, word, k.r.order())
		if !ok || !ok2 || elf.DynTag(tag) == elf.DT_NULL {
			return
		}
		switch elf.DynTag(tag) {
		case elf.DT_DEBUG:
			k.debug(value)
		case dtMIPSRldMapRel:
			value += at + uint64(i)
			fallthrough
		case dtMIPSRldMap:
			k.want(k.r.addr(value), uint64(word), func(data []byte) {
				debug, _ := uintAt(data, 0, word, k.r.order())
				k.debug(debug)
			})
		}
	}
}

// debug keeps the struct r_debug at an address, and the list that it begins.
func (k *keeper) debug(at uint64) {
	word := k.r.word
	k.want(at, uint64(5*word), func(data []byte) {
		if first, ok := uintAt(data, word, word, k.r.order()); ok {
			k.linkMap(first)
		}
	})
}

// linkMap keeps a struct link_map, its name, and the structs that follow it in the list.
func (k *keeper) linkMap(at uint64) {
	word := k.r.word
	key := dump.Range{Addr: at}
	if at == 0 || k.asked[key] || len(k.asked) >= maxLinkMaps {
		return
	}
	k.asked[key] = true
	k.want(at, uint64(4*word), func(data []byte) {
		name, _ := uintAt(data, word, word, k.r.order())
		k.want(name, maxKeptName, func([]byte) {})
		if next, ok := uintAt(data, 3*word, word, k.r.order()); ok {
			k.linkMap(next)
		}
	})
}

// maxKeptName is how many bytes are kept of the name of a library.
const maxKeptName = 512

// memory returns what was kept, and forgets it.
func (k *keeper) memory() (list []dump.Region) {
	var all []dump.Region
	for _, pieces := range k.pages {
		all = append(all, pieces...)
	}
	k.pages = nil
	slices.SortFunc(all, func(a, b dump.Region) int { return cmp.Compare(a.Addr, b.Addr) })
	for len(all) > 0 {
		n, end := 1, all[0].End()
		for n < len(all) && all[n].Addr <= end {
			end = max(end, all[n].End())
			n++
		}
		joined := dump.Region{Addr: all[0].Addr, Data: make([]byte, end-all[0].Addr)}
		for _, p := range all[:n] {
			copy(joined.Data[p.Addr-joined.Addr:], p.Data)
		}
		list, all = append(list, joined), all[n:]
	}
	return list
}

// isImage reports whether memory begins like a binary.
func isImage(head []byte) bool { return bytes.HasPrefix(head, []byte(elf.ELFMAG)) }
