package elfcore

import (
	"debug/elf"

	"github.com/symtool/symtool/walk/dump"
)

// maxLinkMaps limits the dynamic linker's list, which may be circular. The kernel allows 65,530
// mappings, and a library has at least one.
const maxLinkMaps = 1 << 16

// Tags of MIPS's dynamic section, which is read-only and so lacks DT_DEBUG (GNU C library,
// elf/elf.h).
const (
	dtMIPSRldMap    = 0x70000016
	dtMIPSRldMapRel = 0x70000035
)

// readLinker reads what the dynamic linker publishes for debuggers. The program's dynamic section
// has the address of its struct r_debug, which has the head of the list of struct link_map (GNU C
// library, elf/link.h).
func (r *reader) readLinker() {
	img := r.programImage()
	if img == nil {
		return
	}
	var debug uint64
	found, size := false, 0
	dynamic, ok := r.eachDynamic(img, func(at uint64, tag elf.DynTag, value uint64) bool {
		size += 2 * r.word
		switch tag {
		case elf.DT_DEBUG:
			debug, found = value, true
		case dtMIPSRldMap:
			debug, found = r.d.Memory.Word(value, r.word)
		case dtMIPSRldMapRel:
			debug, found = r.d.Memory.Word(r.addr(at+value), r.word)
		}
		return true
	})
	if ok && found && debug != 0 && r.readDebug(dynamic, debug) {
		r.d.Linker.Section = r.d.Memory.Bytes(dynamic, size)
	}
}

// maxDynamic limits the entries of a dynamic section that are read; usually there are about 30.
const maxDynamic = 4096

// eachDynamic calls fn with the entries of the dynamic section and their addresses until it returns
// false. It returns the section's address.
func (r *reader) eachDynamic(img *image, fn func(at uint64, tag elf.DynTag, value uint64) bool) (dynamic uint64, ok bool) {
	for _, p := range img.f.Segments {
		if p.Type != elf.PT_DYNAMIC {
			continue
		}
		dynamic = r.addr(img.bias + p.Addr)
		for n := range min(p.MemSize/uint64(2*r.word), maxDynamic) {
			at := dynamic + n*uint64(2*r.word)
			tag, ok := r.d.Memory.Word(at, r.word)
			value, ok2 := r.d.Memory.Word(at+uint64(r.word), r.word)
			if !ok || !ok2 || !fn(at, elf.DynTag(tag), value) || elf.DynTag(tag) == elf.DT_NULL {
				break
			}
		}
		return dynamic, true
	}
	return 0, false
}

// programImage returns the image of the program itself, whose program headers
// follow its ELF header.
func (r *reader) programImage() *image {
	phdr, ok := r.aux(atPHdr)
	if !ok {
		return nil
	}
	size := uint64(52) // size of the ELF32 header
	if r.word == 8 {
		size = 64
	}
	return r.imageAt(phdr - size)
}

// addr truncates a sum to the width of an address.
func (r *reader) addr(v uint64) uint64 {
	if r.word == 4 {
		return uint64(uint32(v))
	}
	return v
}

// readDebug reads the struct r_debug at an address, if it is in the core.
func (r *reader) readDebug(dynamic, at uint64) bool {
	word := func(i int) uint64 {
		v, _ := r.d.Memory.Word(at+uint64(i*r.word), r.word)
		return v
	}
	version, ok := r.d.Memory.Word(at, 4)
	if !ok {
		return false
	}
	l := &dump.Linker{Version: uint32(version), Break: word(2), Base: word(4), Dynamic: dynamic}
	for m := word(1); m != 0 && len(l.Maps) < maxLinkMaps; {
		var fields [4]uint64 // l_addr, l_name, l_ld, l_next
		for i := range fields {
			if fields[i], ok = r.d.Memory.Word(m+uint64(i*r.word), r.word); !ok {
				r.lostLinkMap(m)
				break
			}
		}
		if !ok {
			break
		}
		name, _ := r.cstring(fields[1], maxPath)
		l.Maps = append(l.Maps, dump.LinkMap{Addr: fields[0], Name: name, Dynamic: fields[2]})
		m = fields[3]
	}
	r.d.Linker = l
	return true
}

// lostLinkMap reports the end of the list where memory is missing.
func (r *reader) lostLinkMap(at uint64) {
	if !r.chosen {
		r.problem("libraries", 0, "the dynamic linker's list of libraries ends at %#x, which is not in the core", at)
	}
}

// maxPath is the longest path that is accepted (include/uapi/linux/limits.h, PATH_MAX).
const maxPath = 4096
