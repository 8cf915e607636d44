package elfcore

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	elfobj "github.com/symtool/symtool/internal/object/elfobj"
	"github.com/symtool/symtool/symfmt/arch"
	"github.com/symtool/symtool/symfmt/damage"
	"github.com/symtool/symtool/walk/dump"
)

// Live is a live process whose threads are stopped, described like a core.
type Live struct {
	Arch    *arch.Arch
	Process dump.Process
	Threads []LiveThread // the first thread first
	Auxv    []byte       // /proc/PID/auxv
	Maps    []dump.Mapping
	Memory  io.ReaderAt // by address, such as /proc/PID/mem
	// Reads, if non-nil, is called with the dump. What it reads of the process's memory is kept, too.
	Reads func(*dump.Dump)
}

// LiveThread is a stopped thread.
type LiveThread struct {
	ID   uint32
	Name string
	Regs []byte // as in pr_reg of struct elf_prstatus, which is what NT_PRSTATUS of ptrace returns
	Sets []LiveSet
}

// LiveSet is a set of registers, which ptrace returns like the note of a core.
type LiveSet struct {
	Type uint32 // of the note
	Data []byte
}

// LiveSets returns the types of the sets of registers that a core of a CPU has and Sets should have, if the machine has
// them.
func LiveSets(a *arch.Arch) []uint32 {
	switch a {
	case arch.X86_64:
		return []uint32{ntPRFPReg, ntXState}
	case arch.ARM64:
		return []uint32{ntPRFPReg, ntARMTLS, ntSVE, ntSSVE, ntPACMask}
	}
	return nil
}

// ReadLive reads a live process as the core that the kernel would write for it, and keeps the same
// parts as ReadStream. When it returns, it has read the memory, so the process may continue.
func ReadLive(p *Live, path string, o Options) (*dump.Dump, error) {
	layout := layoutOf(p.Arch, 0)
	if layout == nil {
		return nil, &damage.Error{File: path, Msg: fmt.Sprintf("the layout of the registers of %s is not known", p.Arch.Name)}
	}
	w := &writer{d: &dump.Dump{Arch: p.Arch, Order: binary.LittleEndian, Process: p.Process, Maps: p.Maps}, order: binary.LittleEndian, word: p.Arch.PtrSize, layout: layout}
	r, err := newReader(w.liveHead(p), path, o)
	if err != nil {
		return nil, err
	}
	r.chosen = true
	r.readNotes()
	for i := range r.d.Threads {
		if i < len(p.Threads) {
			r.d.Threads[i].Name = p.Threads[i].Name
		}
	}
	k := liveMemory(p, r)
	d := r.finish(k.memory())
	if p.Reads != nil {
		k.readAs(d, p.Reads)
	}
	if k.room == 0 {
		r.problem("memory", 0, "more than %d bytes are worth keeping", maxKept)
	}
	d.Process, d.Maps, d.Parts, d.Time = p.Process, p.Maps, nil, time.Now()
	return d, nil
}

// liveHead returns the headers and the notes of the core of a process.
func (w *writer) liveHead(p *Live) []byte {
	var notes []byte
	add := func(kind uint32, desc []byte) {
		owner := ownerCore
		if noteNames[ownerLinux][kind] != "" {
			owner = ownerLinux
		}
		notes = elfobj.AppendNote(notes, w.order, owner, kind, desc)
	}
	for i, t := range p.Threads {
		status := w.status(&dump.Thread{ID: t.ID}, false)
		copy(status[w.layout.regs:len(status)-w.word], t.Regs)
		add(ntPRStatus, status)
		for _, set := range t.Sets {
			add(set.Type, set.Data)
		}
		if i > 0 {
			continue
		}
		add(ntPRPSInfo, w.psInfo())
		add(ntAuxv, p.Auxv)
		if files := w.files(); files != nil {
			add(ntFile, files)
		}
	}
	class := elf.ELFCLASS64
	if w.word == 4 {
		class = elf.ELFCLASS32
	}
	h := elfobj.CoreHeader(class, w.order, w.d.Arch.Machine, len(p.Maps)+1)
	at := h.Size() + uint64(len(notes))
	segments := []elfobj.Segment{{Type: elf.PT_NOTE, Offset: h.Size(), FileSize: uint64(len(notes)), Align: 4}}
	for i := range p.Maps {
		m := &p.Maps[i]
		segments = append(segments, elfobj.Segment{Type: elf.PT_LOAD, Flags: flagsOf(m), Addr: m.Addr, MemSize: m.Size, Offset: at, Align: pageSize})
	}
	return append(append(h.Bytes(segments, at), notes...), h.Trailer()...)
}

// liveMemory reads the memory that is worth keeping.
func liveMemory(p *Live, r *reader) *keeper {
	var ranges []dump.Range
	for i := range p.Maps {
		if m := &p.Maps[i]; m.Read {
			ranges = append(ranges, m.Range)
		}
	}
	k := newKeeper(r, ranges)
	k.old = func(addr uint64, b []byte) int {
		n, _ := p.Memory.ReadAt(b, int64(addr))
		return max(n, 0)
	}
	for i := range p.Maps {
		m := &p.Maps[i]
		if magic := make([]byte, len(elf.ELFMAG)); m.Read && k.old(m.Addr, magic) > 0 && isImage(magic) {
			k.want(m.Addr, min(m.Size, headPage), func(data []byte) { k.head(m.Addr, data) })
		}
	}
	k.lateAll()
	return k
}

// readAs keeps the pages of a process that reads needs in addition to the dump's memory.
func (k *keeper) readAs(d *dump.Dump, reads func(*dump.Dump)) {
	pages := map[uint64]*dump.Region{}
	var mu sync.Mutex
	d.Memory.More = func(addr uint64) *dump.Region {
		mu.Lock()
		defer mu.Unlock()
		at := addr &^ (keptPage - 1)
		page, met := pages[at]
		if !met {
			page = k.page(at)
			pages[at] = page
		}
		return page
	}
	reads(d)
	more := slices.Clone(d.Memory.Regions) // memory that was kept already takes precedence
	for _, page := range pages {
		if page != nil {
			more = append(more, *page)
		}
	}
	d.Memory = dump.NewMemory(d.Memory.Order, more)
}

// page reads the page at an address. It returns nil if the process does not have the page, or if
// there is no room.
func (k *keeper) page(at uint64) *dump.Region {
	l, ok := k.loadFrom(at)
	if !ok || !l.Contains(at) || k.room < keptPage {
		return nil
	}
	data := make([]byte, keptPage)
	data = data[:k.old(at, data)]
	if len(data) == 0 {
		return nil
	}
	k.room -= len(data)
	return &dump.Region{Addr: at, Data: data}
}
