package elfobj

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"io"
	"math"

	"github.com/symtool/symtool/internal/bin"
)

// pnXNum in e_phnum means that the number is in sh_info of section 0 (gABI
// chapter 5, program header).
const pnXNum = 0xffff

// maxName is the maximum length of a section name. Section names are identifiers; a
// longer one means that the name table lacks its NULs, and each of the sections
// that point into it would cost a scan.
const maxName = 4096

// minNames is the number of bytes that the names of sections, and those of symbols,
// may take in any file. In a larger file, section names may take as many bytes as
// the file has: a name that is not a copy of another takes bytes in the name table,
// and copies are shorter than the sections that they name.
const minNames = 1 << 20

func (f *File) readHeaders() error {
	ident := make([]byte, min(f.Size, sniffLen))
	if err := f.in.ReadAt(ident, 0); err != nil {
		return err
	}
	if what := notBinary(ident); what != "" {
		return notBinaryError(f.Path, what)
	}
	t := tables{f: f}
	if err := t.readEhdr(ident); err != nil {
		return err
	}
	if f.Type == elf.ET_CORE && !f.in.Limits.Core {
		return notBinaryError(f.Path, "a core dump (ET_CORE)")
	}
	if file := t.standard(); file != nil {
		t.take(file)
	} else if err := t.decode(); err != nil {
		return err
	}
	f.indexNames()
	if f.Type == elf.ET_REL {
		f.place()
		f.findRelocations()
	}
	return nil
}

// pick returns a for ELF32 and b for ELF64.
func (f *File) pick(a, b uint64) uint64 {
	if f.Class == elf.ELFCLASS64 {
		return b
	}
	return a
}

// tables reads the header tables.
type tables struct {
	f            *File
	ehdr         elf.Header64
	phnum, shnum uint64 // e_phnum and e_shnum, or what they stand for
	shstrndx     uint32 // likewise; 0 if no name table can be read
	phdrs, shdrs []byte // as stored in the file
	names        []byte // contents of section shstrndx
	nameBytes    int    // bytes that section names may still take

	read elf.Section64 // by section
}

// standard reads the file with debug/elf. It returns nil if debug/elf rejects it,
// misreads it or might allocate too much for the names of its sections.
func (t *tables) standard() *elf.File {
	f, h := t.f, &t.ehdr
	extended := h.Shoff != 0 && h.Shnum == 0 || h.Phnum == pnXNum
	if f.in.Limits.Image || extended || h.Phoff == 0 && h.Phnum != 0 || !t.modestNames() {
		return nil
	}
	file, err := elf.NewFile(io.NewSectionReader(f.in.Reader, 0, f.Size))
	if err != nil {
		return nil
	}
	return file
}

// modestNames reports whether section names take little memory even if each is
// as long as the name table.
func (t *tables) modestNames() bool {
	h := &t.ehdr
	if h.Shnum == 0 || h.Shstrndx >= h.Shnum {
		return true
	}
	entsize := uint64(h.Shentsize)
	data, err := t.f.readTable("", h.Shoff+uint64(h.Shstrndx)*entsize, 1, entsize, shdrForm.size(t.f))
	if err != nil {
		return false
	}
	var names elf.Section64
	shdrForm.decode(t.f, data, &names)
	return elf.SectionFlag(names.Flags)&elf.SHF_COMPRESSED == 0 && names.Size <= t.f.maxNames()/uint64(h.Shnum)
}

// maxNames returns how many bytes the names of sections may take.
func (f *File) maxNames() uint64 { return max(uint64(f.Size), minNames) }

func (t *tables) take(file *elf.File) {
	f := t.f
	for _, p := range file.Progs {
		f.Segments = append(f.Segments, Segment{p.Type, p.Flags, p.Off, p.Vaddr, p.Filesz, p.Memsz, p.Align, p.Paddr})
	}
	for i, s := range file.Sections {
		f.Sections = append(f.Sections, newSection(f, i, s.SectionHeader))
	}
}

// decode reads the headers without debug/elf. It leaves out what is damaged,
// and reports it if the rest is usable.
func (t *tables) decode() error {
	if err := t.readSections(); err != nil {
		if !t.isCore() {
			return err
		}
		t.loseSections(err)
	}
	if err := t.readSegments(); err != nil {
		return err
	}
	t.readNames()
	f := t.f
	f.Segments = make([]Segment, t.phnum)
	for i := range f.Segments {
		f.Segments[i] = t.segment(i)
	}
	f.Sections = make([]*Section, t.shnum)
	for i := range f.Sections {
		s := t.section(uint64(i))
		f.Sections[i] = newSection(f, i, asWritten(s, t.name(i, s.Name)))
	}
	return nil
}

func (t *tables) readEhdr(data []byte) error {
	f := t.f
	if len(data) < elf.EI_NIDENT {
		return f.errorf(uint64(len(data)), "ELF header cut short: %d bytes, want %d", len(data), binary.Size(elf.Header32{}))
	}
	switch f.Class = elf.Class(data[elf.EI_CLASS]); f.Class {
	case elf.ELFCLASS32, elf.ELFCLASS64:
	default:
		return f.errorf(elf.EI_CLASS, "ELF class %d, want 1 (32-bit) or 2 (64-bit)", data[elf.EI_CLASS])
	}
	switch elf.Data(data[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		f.Order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.Order = binary.BigEndian
	default:
		return f.errorf(elf.EI_DATA, "ELF byte order %d, want 1 (little) or 2 (big)", data[elf.EI_DATA])
	}
	if want := ehdrForm.size(f); uint64(len(data)) < want {
		return f.errorf(uint64(len(data)), "ELF header cut short: %d bytes, want %d", len(data), want)
	}
	h := &t.ehdr
	ehdrForm.decode(f, data, h)
	f.OSABI, f.Type, f.Machine = elf.OSABI(h.Ident[elf.EI_OSABI]), elf.Type(h.Type), elf.Machine(h.Machine)
	f.Entry, f.Flags = h.Entry, h.Flags
	t.phnum, t.shnum, t.shstrndx = uint64(h.Phnum), uint64(h.Shnum), uint32(h.Shstrndx)
	if end := h.Shoff + uint64(h.Shnum)*uint64(h.Shentsize); h.Shoff > 0 && end > h.Shoff {
		f.TableEnd = end
	}
	return nil
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
	return data, f.in.ReadAt(data, int64(off))
}

func (t *tables) readSections() (err error) {
	h := &t.ehdr
	if t.f.in.Limits.Image {
		t.shnum = 0
		return nil
	}
	if h.Shoff == 0 {
		t.shnum = 0
		if h.Phnum == pnXNum {
			return t.f.errorf(0, "%d program headers or more, but no section header that holds their number", pnXNum)
		}
		return nil
	}
	if h.Shnum == 0 || elf.SectionIndex(h.Shstrndx) == elf.SHN_XINDEX || h.Phnum == pnXNum {
		if err := t.readExtended(); err != nil {
			return err
		}
	}
	t.shdrs, err = t.f.readTable("section header table", h.Shoff, t.shnum, uint64(h.Shentsize), shdrForm.size(t.f))
	return err
}

// readExtended replaces the numbers that do not fit into the ELF header by
// those in section 0 (gABI chapter 4, e_shnum and e_shstrndx).
func (t *tables) readExtended() error {
	h, want := &t.ehdr, shdrForm.size(t.f)
	data, err := t.f.readTable("section header table", h.Shoff, 1, max(uint64(h.Shentsize), want), want)
	if err != nil {
		return err
	}
	var first elf.Section64
	shdrForm.decode(t.f, data, &first)
	if h.Shnum == 0 {
		t.shnum = first.Size
	}
	if elf.SectionIndex(h.Shstrndx) == elf.SHN_XINDEX {
		t.shstrndx = first.Link
	}
	if h.Phnum == pnXNum && first.Info != 0 {
		t.phnum = uint64(first.Info)
	}
	return nil
}

func (t *tables) readSegments() (err error) {
	h := &t.ehdr
	if h.Phoff == 0 {
		t.phnum = 0
	}
	if t.isCore() {
		t.cutSegments()
	}
	t.phdrs, err = t.f.readTable("program header table", h.Phoff, t.phnum, uint64(h.Phentsize), phdrForm.size(t.f))
	return err
}

func (t *tables) segment(i int) Segment {
	var p elf.Prog64
	phdrForm.decode(t.f, t.phdrs[i*int(t.ehdr.Phentsize):], &p)
	return Segment{
		elf.ProgType(p.Type), elf.ProgFlag(p.Flags), min(p.Off, math.MaxInt64), p.Vaddr,
		min(p.Filesz, math.MaxInt64), p.Memsz, p.Align, p.Paddr,
	}
}

func (t *tables) section(i uint64) elf.Section64 {
	shdrForm.decode(t.f, t.shdrs[i*uint64(t.ehdr.Shentsize):], &t.read)
	return t.read
}

// asWritten returns the fields of a section header in debug/elf's form.
func asWritten(s elf.Section64, name string) elf.SectionHeader {
	return elf.SectionHeader{
		Name: name, Type: elf.SectionType(s.Type), Flags: elf.SectionFlag(s.Flags), Addr: s.Addr,
		Offset: s.Off, FileSize: s.Size, Link: s.Link, Info: s.Info, Addralign: s.Addralign, Entsize: s.Entsize,
	}
}

// readNames loads the section name table. Without it the sections have no names,
// which is a Problem unless the header says that there is no table.
func (t *tables) readNames() {
	f, ndx := t.f, t.shstrndx
	t.shstrndx = uint32(elf.SHN_UNDEF)
	if t.shnum == 0 || ndx == uint32(elf.SHN_UNDEF) {
		return
	}
	if uint64(ndx) >= t.shnum {
		f.problem("all section names", f.errorf(0, "section name table is section %d of %d", ndx, t.shnum))
		return
	}
	tab := newSection(f, int(ndx), asWritten(t.section(uint64(ndx)), ""))
	data, err := tab.Data()
	if err != nil {
		f.problem("all section names", err)
		return
	}
	tab.Release()
	t.shstrndx, t.names, t.nameBytes = ndx, data, int(f.maxNames())
}

// name returns a section's name, or "" if it is not acceptable.
func (t *tables) name(i int, off uint32) string {
	if t.shstrndx == uint32(elf.SHN_UNDEF) {
		return ""
	}
	n, ok := nameLen(t.names, off)
	switch {
	case !ok:
		t.f.problem("a section's name", t.f.errorf(0, "section %d: name at %#x of %d bytes has no end", i, off, len(t.names)))
	case n > t.nameBytes:
		t.f.problem("a section's name", t.f.errorf(0, "section %d: the names of sections take more bytes than the file", i))
	default:
		t.nameBytes -= n
		return string(t.names[off:][:n])
	}
	return ""
}

// nameLen returns the length of the NUL-terminated string at off.
func nameLen(names []byte, off uint32) (int, bool) {
	if uint64(off) >= uint64(len(names)) {
		return 0, off == 0
	}
	rest := names[off:]
	n := bytes.IndexByte(rest[:min(len(rest), maxName)], 0)
	return max(n, 0), n >= 0
}

func (f *File) problem(lost string, err error) {
	f.Damaged = append(f.Damaged, bin.Problem{Lost: lost, Err: err})
}

func (f *File) indexNames() {
	f.byName = make(map[string]int32, len(f.Sections))
	for i, s := range f.Sections {
		if err := s.piece.Damage(); err != nil {
			f.problem("section "+s.label(), err)
		}
		old, ok := f.byName[s.Name]
		if !ok || !f.Sections[old].HasData() && s.HasData() {
			f.byName[s.Name] = int32(i)
		}
	}
}
