package dump

// SetListed is like SetModules, for modules that a writer listed; it corrects their extents by what the dump itself
// shows. main is the index of the program in the list, or -1.
//
// Writers take sizes from mappings. Breakpad's client for Linux joins consecutive mappings of a file; so it includes
// parts of its own file that a program maps again, lists such a part as a module if it is executable, and leaves out
// what follows a gap. LLDB writes the size of the first segment. The program headers in memory take precedence:
// loaded, if non-nil, returns the size that they give for the module at an address. Otherwise the mappings of the
// process decide, as far as the dump contains them.
func (d *Dump) SetListed(list []Module, main int, loaded func(addr uint64) (size uint64, ok bool)) []Overlap {
	b := d.newBounds(list)
	out, at := make([]Module, 0, len(list)), -1
	for i, m := range list {
		size, ok, listed := uint64(0), false, m.Size
		if loaded != nil {
			size, ok = loaded(m.Addr)
		}
		switch {
		case ok:
			m.Size = size
		case b.isAgain(m.Addr):
			continue
		default:
			b.bound(&m)
		}
		if m.Size != listed {
			m.Listed = listed
		}
		if i == main {
			at = len(out)
		}
		out = append(out, m)
	}
	return d.SetModules(out, at)
}

// bounds contains what the mappings of a process show about the modules of a list.
type bounds struct {
	d      *Dump
	images map[int]Image   // by the index of their first mapping
	of     []int           // by mapping: the index of the first mapping of its image, or -1
	listed map[uint64]bool // addresses of the modules
	whole  map[string]bool // files with an image that is a module
}

func (d *Dump) newBounds(list []Module) *bounds {
	b := &bounds{d: d, images: map[int]Image{}, listed: map[uint64]bool{}, whole: map[string]bool{}}
	if len(d.Maps) == 0 {
		return b
	}
	for i := range list {
		b.listed[list[i].Addr] = true
	}
	b.of = make([]int, len(d.Maps))
	for i := range b.of {
		b.of[i] = -1
	}
	for _, g := range Images(d.Maps) {
		b.images[g.First] = g
		for i := g.First; i <= g.Last; i++ {
			b.of[i] = g.First
		}
		if b.listed[g.Addr] {
			b.whole[g.Path] = true
		}
	}
	return b
}

// mappingFrom returns the index of the mapping that begins at an address, or -1.
func (b *bounds) mappingFrom(addr uint64) int {
	i := b.d.mappingsTo(addr) - 1
	if i < 0 || b.d.Maps[i].Addr != addr {
		return -1
	}
	return i
}

// isAgain reports whether the mapping at an address is part of a file that is a module elsewhere in the list.
func (b *bounds) isAgain(addr uint64) bool {
	i := b.mappingFrom(addr)
	switch {
	case i < 0 || !b.d.Maps[i].isSegment() || b.of[i] == i:
		return false
	case b.of[i] >= 0:
		return b.listed[b.d.Maps[b.of[i]].Addr]
	}
	return b.whole[b.d.Maps[i].Path]
}

// bound corrects the size of a module by the mappings from its address on, if there is a mapping there.
func (b *bounds) bound(m *Module) {
	i := b.mappingFrom(m.Addr)
	if i < 0 {
		return
	}
	at := &b.d.Maps[i]
	image, isImage := b.images[i]
	switch {
	case at.Type == memImage && at.AllocBase == m.Addr:
		m.Size = min(m.Size, b.d.allocated(i))
	case isImage:
		m.Size = min(max(m.Size, image.Size), b.d.room(&image))
	case at.Path != "": // [vdso]
		m.Size = min(m.Size, at.Size)
	}
}

// memImage is the type of a mapping of a program or library on Windows (winnt.h, MEM_IMAGE).
const memImage = 0x1000000

// allocated returns the size of the allocation that begins with a mapping. On Windows, a module is one allocation.
func (d *Dump) allocated(first int) uint64 {
	base := d.Maps[first].Addr
	end := base
	for _, m := range d.Maps[first:] {
		if m.AllocBase != base || m.Addr != end {
			break
		}
		end += m.Size
	}
	return end - base
}

// room returns the largest size that an image may have: its mappings, and the memory after them that may be its .bss,
// which belongs to no file and is not executable.
func (d *Dump) room(g *Image) uint64 {
	end := g.Addr + g.Size
	for _, m := range d.Maps[g.Last+1:] {
		if m.Addr != end || m.Path != "" || m.Exec {
			break
		}
		end += m.Size
	}
	return end - g.Addr
}

// InGap reports whether an address of a module is between the module's mappings, where nothing is mapped. It returns
// false if the dump does not say where the module's file is mapped.
func (d *Dump) InGap(module int, addr uint64) bool {
	first := d.MappingAt(d.Modules[module].Addr)
	return first != nil && first.IsFile() && d.MappingAt(addr) == nil
}
