package elfobj

import (
	"debug/elf"
	"math"
	"strings"

	"github.com/symtool/symtool/internal/object"
)

// Sections of a relocatable file (ET_REL: .o, .ko) have no addresses until a linker or
// the kernel's module loader assigns them. For functions to have addresses, the
// allocated sections (SHF_ALLOC) are placed one after the other, each at the next
// multiple of its sh_addralign, from RVA 0 on:
//
//  1. those with instructions (SHF_EXECINSTR), in order of the section header
//     table, but not those whose name begins with ".init";
//  2. those with instructions whose name begins with ".init";
//  3. all others, in order of the table.
//
// So the first .text of an object is at RVA 0, and every RVA is the address that
// Linux gives the code of a module (kernel/module/main.c, layout_sections),
// relative to where it loads the module: the address in /proc/modules, which is
// also that of the first executable section in /sys/module/NAME/sections. Init
// code lies elsewhere, and is soon freed: to convert an address in it, subtract
// the address of its section and add the section's RVA (for example that of
// PUBLIC init_module).
//
// Sections without SHF_ALLOC have offsets instead of addresses. If several have the
// same name (the .debug_info of type units in groups), File.Section returns all of
// them, concatenated without gaps as a linker does.
//
// # Addresses
//
// Section.Addr is RVA + objectBase, and LoadBase is objectBase. It is not 0, because
// an address that no relocation fills is 0: "ld -r" leaves such addresses in the debug
// information of functions that it dropped, so no code may be there. Nor may the two
// addresses of an entry in a range list both be 0, which would end the list.

// objectBase is the address of RVA 0 in relocatable files.
const objectBase = 0x10000

// place assigns addresses to the sections of a relocatable file.
func (f *File) place() {
	p := placer{f: f, at: 0, end: f.pick(math.MaxUint32, math.MaxInt64) - objectBase}
	for _, wanted := range []func(*Section) bool{
		func(s *Section) bool { return s.IsCode() && !strings.HasPrefix(s.Name, ".init") },
		func(s *Section) bool { return s.IsCode() && strings.HasPrefix(s.Name, ".init") },
		func(s *Section) bool { return !s.IsCode() },
	} {
		for _, s := range f.Sections {
			if s.Flags&elf.SHF_ALLOC == 0 {
				s.Addr = 0
				continue
			}
			if s.Type != elf.SHT_NULL && wanted(s) {
				p.put(s)
			}
		}
	}
	f.joinSections()
}

// placer puts sections one after the other.
type placer struct {
	f       *File
	at, end uint64 // RVAs
}

// put places s. A section that does not fit into the address space gets address 0,
// where there is no code.
func (p *placer) put(s *Section) {
	align := max(s.Align, 1)
	at, over := p.at, p.at%align
	if over != 0 {
		if align-over > p.end-at {
			p.refuse(s)
			return
		}
		at += align - over
	}
	if s.FileSize > p.end-at {
		p.refuse(s)
		return
	}
	s.Addr = objectBase + at
	p.at = at + s.FileSize
}

func (p *placer) refuse(s *Section) {
	s.Addr, s.Unplaced = 0, true
	p.f.placeProblem("the contents of "+s.label(), s.errorf(0, "%d bytes with alignment %#x do not fit after the %d bytes of sections before it",
		s.FileSize, s.Align, p.at))
}

func (f *File) placeProblem(lost string, err error) {
	f.problem(lost, err)
	f.unplaced = append(f.unplaced, f.Damaged[len(f.Damaged)-1])
}

// joinSections joins the sections that are not loaded and share a name. Together they
// may be no longer than the file; only overlapping sections can exceed that.
func (f *File) joinSections() {
	parts := map[string][]*Section{}
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 && s.HasData() && s.piece.Damage() == nil && isDebugName(s.Name) {
			parts[s.Name] = append(parts[s.Name], s)
		}
	}
	f.joined = map[string]*Section{}
	for name, all := range parts {
		if len(all) > 1 {
			f.joined[name] = f.join(all)
		}
	}
}

func isDebugName(name string) bool {
	return strings.HasPrefix(name, ".debug_") || strings.HasPrefix(name, ".zdebug_")
}

// join returns a section with the contents of parts.
func (f *File) join(parts []*Section) *Section {
	first := parts[0]
	j := newSection(f, first.Index, elf.SectionHeader{
		Name: first.Name, Type: first.Type, Flags: first.Flags &^ elf.SHF_COMPRESSED, Link: first.Link, Addralign: 1,
	})
	size := int64(0)
	var pieces []*object.Piece
	for _, s := range parts {
		if j.FileSize += s.FileSize; j.FileSize > uint64(f.Size) || s.Size() > math.MaxInt64-size {
			f.placeProblem("all sections of this name but the first", first.errorf(0, "%d sections of this name hold more bytes than the file", len(parts)))
			return first
		}
		s.Addr = uint64(size)
		size += s.Size()
		pieces = append(pieces, s.piece)
	}
	j.setPiece(object.JoinPieces(f.in, j.label(), pieces))
	return j
}

// SectionsNamed implements object.Container. In relocatable files, several loaded sections may share a name;
// together they are no longer than the file. A kernel has several of type SHT_ARM_EXIDX, under other names.
func (f *File) SectionsNamed(name string) []*object.Section {
	if name == ".ARM.exidx" {
		return f.sectionsWhere(func(s *Section) bool { return s.Type == shtARMExidx })
	}
	s := f.Header(name)
	if s == nil || !s.HasData() {
		return nil
	}
	if f.Type != elf.ET_REL || s.Flags&elf.SHF_ALLOC == 0 {
		return []*object.Section{&s.Section}
	}
	size := uint64(0)
	return f.sectionsWhere(func(s *Section) bool {
		if s.Name != name || s.Flags&elf.SHF_ALLOC == 0 || s.piece.Damage() != nil || size+s.FileSize > uint64(f.Size) {
			return false
		}
		size += s.FileSize
		return true
	})
}

// sectionsWhere returns the sections with bytes that wanted accepts.
func (f *File) sectionsWhere(wanted func(*Section) bool) (all []*object.Section) {
	for _, s := range f.Sections {
		if s.HasData() && wanted(s) {
			all = append(all, &s.Section)
		}
	}
	return all
}
