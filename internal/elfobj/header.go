package elfobj

import (
	"debug/elf"
	"encoding/binary"
	"strings"

	"github.com/symtool/symtool/internal/bin"
)

// header holds the fields of the ELF header that only the reader needs.
type header struct {
	phoff, shoff         uint64
	phentsize, shentsize uint64
	phnum, shnum         uint64
	shstrndx             uint32
}

// Sizes in bytes of the structures of gABI chapters 4 and 5: 32-bit, 64-bit.
const (
	ehdrSize32, ehdrSize64 = 52, 64
	phdrSize32, phdrSize64 = 32, 56
	shdrSize32, shdrSize64 = 40, 64
)

// pnXNum in e_phnum says that the number is in sh_info of section 0 (gABI
// chapter 5, program header).
const pnXNum = 0xffff

// maxName is the length of the longest section name that is believed. Section
// names are identifiers; a longer one is a name table without its NUL, and
// many sections pointing into it would cost a scan of it each.
const maxName = 4096

func (f *File) readHeaders() error {
	ident := make([]byte, min(f.Size, sniffLen))
	if err := f.readAt(ident, 0); err != nil {
		return err
	}
	if what := notELF(ident); what != "" {
		return f.errorf(0, "not an ELF file: %s", what)
	}
	h, err := f.readEhdr(ident)
	if err != nil {
		return err
	}
	if f.Type == elf.ET_CORE && !f.lim.Core {
		return f.errorf(16, "not a program or library: a core dump (ET_CORE)")
	}
	if err := f.readSections(h); err != nil {
		return err
	}
	if err := f.readSegments(h); err != nil {
		return err
	}
	f.nameSections(h.shstrndx)
	for _, s := range f.Sections {
		s.inspect()
	}
	f.indexNames()
	return nil
}

// pick returns a for ELF32 and b for ELF64.
func (f *File) pick(a, b uint64) uint64 {
	if f.Class == elf.ELFCLASS64 {
		return b
	}
	return a
}

// word reads an address, offset or size: 4 or 8 bytes.
func (f *File) word(c *bin.Cursor) uint64 {
	if f.Class == elf.ELFCLASS64 {
		return c.U64()
	}
	return uint64(c.U32())
}

func (f *File) readEhdr(data []byte) (*header, error) {
	if len(data) < elf.EI_NIDENT {
		return nil, f.errorf(uint64(len(data)), "ELF header cut short: %d bytes, want %d", len(data), ehdrSize32)
	}
	switch f.Class = elf.Class(data[elf.EI_CLASS]); f.Class {
	case elf.ELFCLASS32, elf.ELFCLASS64:
	default:
		return nil, f.errorf(elf.EI_CLASS, "ELF class %d, want 1 (32-bit) or 2 (64-bit)", data[elf.EI_CLASS])
	}
	switch elf.Data(data[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		f.Order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.Order = binary.BigEndian
	default:
		return nil, f.errorf(elf.EI_DATA, "ELF byte order %d, want 1 (little) or 2 (big)", data[elf.EI_DATA])
	}
	f.OSABI = elf.OSABI(data[elf.EI_OSABI])
	if want := f.pick(ehdrSize32, ehdrSize64); uint64(len(data)) < want {
		return nil, f.errorf(uint64(len(data)), "ELF header cut short: %d bytes, want %d", len(data), want)
	}
	c := bin.New("", data, f.Order)
	c.Skip(elf.EI_NIDENT)
	f.Type = elf.Type(c.U16())
	f.Machine = elf.Machine(c.U16())
	c.U32() // e_version
	f.Entry = f.word(&c)
	var h header
	h.phoff, h.shoff = f.word(&c), f.word(&c)
	f.Flags = c.U32()
	c.U16() // e_ehsize
	h.phentsize, h.phnum = uint64(c.U16()), uint64(c.U16())
	h.shentsize, h.shnum = uint64(c.U16()), uint64(c.U16())
	h.shstrndx = uint32(c.U16())
	return &h, nil
}

// readTable returns the bytes of a header table, which must lie in the file.
func (f *File) readTable(what string, off, count, entsize, want uint64) ([]byte, error) {
	if count == 0 {
		return nil, nil
	}
	if entsize < want {
		return nil, f.errorf(off, "%s entries of %d bytes, want %d", what, entsize, want)
	}
	size := uint64(f.Size)
	if off > size || count > (size-off)/entsize {
		return nil, f.errorf(off, "%s of %d entries of %d bytes does not fit into the file of %d bytes (cut short?)",
			what, count, entsize, size)
	}
	data := make([]byte, count*entsize)
	return data, f.readAt(data, int64(off))
}

func (f *File) readSections(h *header) error {
	if h.shoff == 0 {
		h.shnum = 0
		if h.phnum == pnXNum {
			return f.errorf(0, "%d program headers or more, but no section header that tells their number", pnXNum)
		}
		return nil
	}
	want := f.pick(shdrSize32, shdrSize64)
	if h.shnum == 0 || h.shstrndx == uint32(elf.SHN_XINDEX) || h.phnum == pnXNum {
		if err := f.readExtended(h, want); err != nil {
			return err
		}
	}
	data, err := f.readTable("section header table", h.shoff, h.shnum, h.shentsize, want)
	if err != nil {
		return err
	}
	all := make([]Section, h.shnum)
	f.Sections = make([]*Section, h.shnum)
	for i := range all {
		c := bin.NewAt("", data[uint64(i)*h.shentsize:][:want], h.shoff+uint64(i)*h.shentsize, f.Order)
		all[i].file, all[i].Index = f, i
		all[i].decode(&c)
		f.Sections[i] = &all[i]
	}
	return nil
}

// readExtended replaces the numbers that do not fit into the ELF header by
// those of section 0 (gABI chapter 4, e_shnum and e_shstrndx).
func (f *File) readExtended(h *header, want uint64) error {
	data, err := f.readTable("section header table", h.shoff, 1, max(h.shentsize, want), want)
	if err != nil {
		return err
	}
	c := bin.New("", data, f.Order)
	first := Section{file: f}
	first.decode(&c)
	if h.shnum == 0 {
		h.shnum = first.FileSize
	}
	if h.shstrndx == uint32(elf.SHN_XINDEX) {
		h.shstrndx = first.Link
	}
	if h.phnum == pnXNum && first.Info != 0 {
		h.phnum = uint64(first.Info)
	}
	return nil
}

func (s *Section) decode(c *bin.Cursor) {
	s.nameOff = c.U32()
	s.Type = elf.SectionType(c.U32())
	s.Flags = elf.SectionFlag(s.file.word(c))
	s.Addr = s.file.word(c)
	s.Offset = s.file.word(c)
	s.FileSize = s.file.word(c)
	s.Link = c.U32()
	s.Info = c.U32()
	s.Align = s.file.word(c)
	s.Entsize = s.file.word(c)
}

func (f *File) readSegments(h *header) error {
	if h.phoff == 0 {
		return nil
	}
	want := f.pick(phdrSize32, phdrSize64)
	data, err := f.readTable("program header table", h.phoff, h.phnum, h.phentsize, want)
	if err != nil {
		return err
	}
	f.Segments = make([]Segment, h.phnum)
	for i := range f.Segments {
		c := bin.New("", data[uint64(i)*h.phentsize:][:want], f.Order)
		f.Segments[i] = f.decodeSegment(&c)
	}
	return nil
}

// decodeSegment reads a program header; p_flags is second in ELF64 and last
// but one in ELF32, for alignment.
func (f *File) decodeSegment(c *bin.Cursor) Segment {
	p := Segment{Type: elf.ProgType(c.U32())}
	if f.Class == elf.ELFCLASS64 {
		p.Flags = elf.ProgFlag(c.U32())
	}
	p.Offset = f.word(c)
	p.Addr = f.word(c)
	f.word(c) // p_paddr
	p.FileSize = f.word(c)
	p.MemSize = f.word(c)
	if f.Class == elf.ELFCLASS32 {
		p.Flags = elf.ProgFlag(c.U32())
	}
	p.Align = f.word(c)
	return p
}

// nameSections gives the sections their names. Without a name table they stay
// nameless, which is a Problem unless the file says that it has none.
func (f *File) nameSections(shstrndx uint32) {
	if len(f.Sections) == 0 || shstrndx == uint32(elf.SHN_UNDEF) {
		return
	}
	if uint64(shstrndx) >= uint64(len(f.Sections)) {
		f.problem("all section names", f.errorf(0, "section name table is section %d of %d", shstrndx, len(f.Sections)))
		return
	}
	tab := f.Sections[shstrndx]
	tab.inspect()
	data, err := tab.Data()
	if err != nil {
		f.problem("all section names", err)
		return
	}
	names := string(data) // one copy, shared by all names
	for i, s := range f.Sections {
		name, ok := cut(names, s.nameOff)
		if !ok {
			f.problem("a section's name", f.errorf(0, "section %d: name at %#x of %d bytes has no end", i, s.nameOff, len(names)))
		}
		s.Name = name
	}
}

// cut returns the string at off, which ends in a NUL.
func cut(names string, off uint32) (string, bool) {
	if uint64(off) >= uint64(len(names)) {
		return "", off == 0
	}
	rest := names[off:]
	n := strings.IndexByte(rest[:min(len(rest), maxName)], 0)
	if n < 0 {
		return "", false
	}
	return rest[:n], true
}

func (f *File) problem(lost string, err error) {
	f.Problems = append(f.Problems, bin.Problem{Lost: lost, Err: err})
}

func (f *File) indexNames() {
	f.byName = make(map[string]int32, len(f.Sections))
	for i, s := range f.Sections {
		if s.bad != nil && s.Type != elf.SHT_NULL {
			f.problem("section "+s.label(), s.bad)
		}
		old, ok := f.byName[s.Name]
		if !ok || !f.Sections[old].HasData() && s.HasData() {
			f.byName[s.Name] = int32(i)
		}
	}
}
